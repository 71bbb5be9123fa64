// Puts a store's files as they are after a power cut, and looks at everything.
// It always holds: each state has files of its own, which nothing in this process has open.

import CrashLedger
import Foundation
import Hindsight
import HindsightCore

/// A place where stores are put as power cuts leave them.
struct PowerCutCheck {
  /// Where the store is put.
  let path: String

  /// Puts a state's files.
  ///
  /// - Parameter files: nil for not even a directory.
  func put(_ files: [String: [UInt8]]?) throws {
    try? FileManager.default.removeItem(atPath: path)
    guard let files else { return }
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
    for (name, bytes) in files {
      try Data(bytes).write(to: URL(fileURLWithPath: "\(path)/\(name)"))
    }
  }

  /// Whether the store that was put has all that it must have.
  ///
  /// - Parameters:
  ///   - isCreated: whether a process had said that it is open. Before, there needn't be a store,
  ///     but opening it must make one.
  func look(_ oracle: StoreOracle, isCreated: Bool) async -> FaultOutcome {
    var oracle = oracle
    oracle.path = path
    do {
      var problems: [String] = []
      if isCreated {
        problems += try oracle.check().problems
        problems += try await oracle.checkState(usingSnapshots: false)
        problems += try await oracle.checkState(usingSnapshots: true)
      }
      if problems.isEmpty { problems += try await goOn(&oracle, isCreated: isCreated) }
      return problems.isEmpty ? .survived : .lost("\(problems.prefix(3))")
    } catch let error as HindsightError {
      // Also where nobody had opened it: an app whose first start was cut off must start again.
      return .lost("it is refused: \(error)")
    } catch {
      return .crashed("\(type(of: error)): \(error)")
    }
  }

  /// Opens the store for writing, dispatches to it, and looks at all once more.
  private func goOn(_ oracle: inout StoreOracle, isCreated: Bool) async throws -> [String] {
    let store = try await Store(
      MarkedLedger(), at: path, options: StoreOptions(snapshotPolicy: .never))
    var problems: [String] = []
    let head = store.recovery.index
    if !isCreated, head != 0 { problems.append("it begins at \(head), though nobody opened it") }
    let mark = EventMark(run: 1_000_000, task: 0, step: 0)
    do {
      let receipt = try await store.dispatch(.moved(mark))
      if receipt.index != head + 1 {
        problems.append("after \(head) an event got the index \(receipt.index)")
      }
      oracle.add([.acknowledged(mark, index: receipt.index)])
      try await store.close()
    } catch {
      try? await store.close()
      return problems + ["dispatching doesn't go on: \(error)"]
    }
    return problems + (try oracle.check().problems)
  }
}
