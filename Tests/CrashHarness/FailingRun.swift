// Runs the child with some of its system calls failing, and judges what it said meanwhile.
// It always holds: what a disk would have after a power cut is kept beside the store, by the
// preloaded library, so that it can be looked at, too.

package import CrashLedger
import Foundation
import Synchronization

/// A store that children with failing calls work on, and the disk's view of it.
package struct FailingStore: Sendable {
  /// The directory of both.
  package let directory: String
  package var path: String { directory + "/store/failing.hindsight" }
  private var durable: String { directory + "/durable" }
  private var report: String { directory + "/report" }

  /// An empty place for a store.
  package init(in directory: String) throws {
    guard let resolved = realpath(directory, nil) else {
      throw ChildProcess.Failure(description: "there is no \(directory)")
    }
    defer { free(resolved) }
    self.directory = String(cString: resolved)
    for part in ["/store", "/durable"] {
      try FileManager.default.createDirectory(
        atPath: self.directory + part, withIntermediateDirectories: true)
    }
  }

  /// The same store with the same disk's view elsewhere.
  package init(copying other: FailingStore, to directory: String) throws {
    for part in ["/store", "/durable"] {
      try FileManager.default.copyItem(
        atPath: other.directory + part, toPath: directory + part)
    }
    try self.init(in: directory)
    try FileManager.default.linkItem(atPath: path + "/snapshots.mdb", toPath: keptSnapshots)
  }

  /// What a child needs so that a failure happens to it, or none.
  package func environment(library: String, _ failure: CallFailure?) -> [String: String] {
    var variables = [
      "LD_PRELOAD": library, "HINDSIGHT_FAIL_DIRECTORY": directory + "/store",
      "HINDSIGHT_FAIL_DURABLE": durable, "HINDSIGHT_FAIL_REPORT": report,
    ]
    if let failure {
      variables["HINDSIGHT_FAIL_CALL"] = failure.variable
      variables["HINDSIGHT_FAIL_FILE"] = failure.file ?? ""
    }
    return variables
  }

  /// The calls that failed.
  package func failedCalls() -> [String] {
    let text = (try? String(contentsOfFile: report, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").map(String.init)
  }

  /// Whether pages were lost, of which the system tells all that have the file open.
  package var hasLosses: Bool { hasLosses(of: "log.mdb") || hasSnapshotLosses }

  /// Whether pages of the snapshots' file were lost.
  package var hasSnapshotLosses: Bool { hasLosses(of: "snapshots.mdb") }

  private func hasLosses(of name: String) -> Bool {
    let losses = try? Data(contentsOf: URL(fileURLWithPath: "\(durable)/\(name).losses"))
    return losses?.isEmpty == false
  }

  /// Whether the snapshots' file isn't the one any more that was copied from another place.
  package func hasOtherSnapshots() throws -> Bool {
    func inode(_ path: String) throws -> Int? {
      try FileManager.default.attributesOfItem(atPath: path)[.systemFileNumber] as? Int
    }
    return try inode(path + "/snapshots.mdb") != inode(keptSnapshots)
  }

  /// Another name of the file, so that no other one gets its number.
  private var keptSnapshots: String { directory + "/kept" }

  /// Makes a store of what the disk has, as after a power cut that took all that wasn't flushed.
  ///
  /// - Returns: its path; nil where the disk has no log.
  package func powerCut() throws -> String? {
    let image = directory + "/cut.hindsight"
    try FileManager.default.createDirectory(atPath: image, withIntermediateDirectories: true)
    for name in ["log.mdb", "snapshots.mdb"] {
      guard FileManager.default.fileExists(atPath: "\(durable)/\(name)") else { continue }
      try FileManager.default.copyItem(atPath: "\(durable)/\(name)", toPath: "\(image)/\(name)")
    }
    return FileManager.default.fileExists(atPath: image + "/log.mdb") ? image : nil
  }
}

/// What a stubborn child said, by the times that it opened the store.
package struct StubbornLines {
  package let sessions: [[ChildLine]]
  /// All but what failed.
  package let successes: [ChildLine]

  package init(_ lines: [ChildLine]) {
    sessions = lines.split(separator: .starting).map(Array.init)
    successes = lines.filter { if case .failed = $0 { false } else { true } }
  }

  /// The codes of what failed in a session: of dispatches alone, or with their call before them.
  package static func codes(_ session: [ChildLine]) -> [String] {
    session.compactMap { if case .failed(let code, _, _, _) = $0 { code } else { nil } }
  }

  package static let unknown = "commitOutcomeUnknown"

  /// What contradicts the promises, whatever it was that failed.
  ///
  /// - Parameter isOrdered: whether the child had one task, so that its lines are in order.
  package func problems(isOrdered: Bool) -> [String] {
    var problems: [String] = []
    for session in sessions {
      let codes = Self.codes(session)
      if codes.contains(where: { $0.hasSuffix("other") }) {
        problems.append("an error has no type: \(session)")
      }
      guard isOrdered,
        let latch = session.firstIndex(where: {
          if case .failed(Self.unknown, _, _, _) = $0 { true } else { false }
        })
      else { continue }
      let later = session[latch...]
      if later.contains(where: \.isAcknowledgement) {
        problems.append("after an unknown outcome something was acknowledged: \(session)")
      }
      let others = Self.codes(Array(later)).filter { !$0.contains("/") && $0 != Self.unknown }
      if !others.isEmpty { problems.append("after an unknown outcome there is \(others)") }
    }
    return problems
  }
}
