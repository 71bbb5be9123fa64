// Verifies the snapshots of a store by themselves; their history is compared with the log's later.

import HindsightCore
import HindsightLMDB

/// The look at `snapshots.mdb`.
struct SnapshotVerifier {
  let directory: StoreDirectory
  let options: LMDBLog.Options

  struct Result {
    var headers: [SnapshotHeader] = []
    var findings: [VerifyFinding] = []

    mutating func add(_ message: String, at index: EventIndex? = nil) {
      findings.append(VerifyFinding(part: .snapshots, index: index, message: message))
    }
  }

  func verify() -> Result {
    var result = Result()
    guard StoreDirectory.isThere(directory.snapshotsPath) else { return result }
    let storage = LMDBSnapshotStorage.open(path: directory.path, options: options)
    defer { storage.close() }
    for problem in storage.problems { result.add(problem) }
    do {
      let keys = try storage.keys()
      for key in keys { visit(key, storage, &result) }
    } catch {
      result.add("\(error)")
    }
    return result
  }

  private func visit(
    _ key: SnapshotKey, _ storage: LMDBSnapshotStorage, _ result: inout Result
  ) {
    do {
      let header = try storage.header(
        reducerName: key.reducerName, reducerVersion: key.reducerVersion, index: key.index)
      // A live store may have removed it meanwhile.
      guard let header else { return }
      result.headers.append(header)
      _ = try storage.state(of: header)
    } catch let error as HindsightError {
      let isThere =
        (try? storage.summaries(reducerName: key.reducerName, reducerVersion: key.reducerVersion))?
        .contains { $0.index == key.index } ?? true
      if isThere { result.add(error.message, at: key.index) }
    } catch {
      result.add("\(error)", at: key.index)
    }
  }
}
