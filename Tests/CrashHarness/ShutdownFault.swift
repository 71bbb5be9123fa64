// Cuts a real file system off under a process that dispatches, mounts it again, and looks.
// It always holds: each store lives through many such cuts, one after the other.

import CrashLedger
import Foundation

/// An ext4 that is shut down without flushing.
package struct ShutdownFault: Fault {
  package static let name = "ext4-shutdown"
  package static let summary =
    "an ext4 shut down under load (FS_IOC_SHUTDOWN), unmounted and mounted again"

  /// After so many cuts a new file system is made, as each store is looked at as a whole.
  private static let cutsPerImage = 20

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    var report = FaultReport()
    if let obstacle = try await onThread({ MountedFileSystem.obstacle(.ext4) }) {
      report.skipped = obstacle
      return report
    }
    let cutCount = context.count(quick: 20, full: 300)
    var acknowledgementCount = 0
    for first in stride(from: 0, to: cutCount, by: Self.cutsPerImage) {
      var generator = context.generator("ext4-shutdown \(first)")
      let state = try ShutdownState(seed: generator.next())
      for _ in first..<min(first + Self.cutsPerImage, cutCount) {
        var (crash, problems) = try await onThread { try state.cut() }
        if crash == nil { problems += await state.look() }
        if let crash {
          report.add(.crashed(crash))
        } else {
          report.add(problems.isEmpty ? .survived : .lost("\(problems.prefix(3))"))
        }
        context.progress("\(report.triedCount) of \(cutCount) cuts")
        if crash != nil || !problems.isEmpty { break }
      }
      acknowledgementCount += state.acknowledgementCount
    }
    report.details = ["\(acknowledgementCount) acknowledgements"]
    return report
  }
}

/// A file system and what is known of its store. Unchecked: one thread at a time uses it, and the
/// others wait for that.
private final class ShutdownState: @unchecked Sendable {
  private let fileSystem: MountedFileSystem
  private var oracle: StoreOracle
  private var generator: SeededGenerator
  private var run = 0
  private(set) var acknowledgementCount = 0

  init(seed: UInt64) throws {
    fileSystem = try MountedFileSystem(.ext4, sizeBytes: 64 << 20)
    oracle = StoreOracle(path: fileSystem.path + "/cut.hindsight")
    generator = SeededGenerator(seed: seed)
  }

  /// Cuts the file system off once, and mounts it again. Blocks.
  ///
  /// - Returns: how a process died of it, or what is wrong.
  func cut() throws -> (crash: String?, problems: [String]) {
    run += 1
    var task = ChildTask(.mixed, path: oracle.path)
    task.run = run
    task.taskCount = 1 + generator.below(16)
    task.snapshotEvery = 40
    task.forcesSnapshots = generator.below(2) == 0
    task.stubbornness = .init(sessionCount: 1)
    let child = try ChildProcess(task)
    child.patienceMilliseconds = 20_000
    var lines: [ChildLine] = []
    var remaining = generator.below(150)
    while remaining > 0, let line = try child.next() {
      lines.append(line)
      if line.isAcknowledgement { remaining -= 1 }
    }
    spin(.microseconds(generator.below(3_000)))
    let how: [MountedFileSystem.Shutdown] = [
      .flushingNothing, .flushingNothing, .flushingNothing, .flushingJournal, .flushingAll,
    ]
    try fileSystem.shutDown(how[generator.below(how.count)])
    // Half of the processes see that nothing works any more, and end.
    let isKilled = generator.below(2) == 0
    if isKilled { child.kill() }
    lines += try child.remaining()
    let ending = child.wait()
    try fileSystem.unmount()
    try fileSystem.mount()
    guard isKilled || ending == .exited(0) else {
      return ("it ended with \(ending) after \(lines.suffix(2))", [])
    }
    let said = StubbornLines(lines)
    oracle.add(said.successes)
    acknowledgementCount += said.successes.count(where: \.isAcknowledgement)
    return (nil, said.problems(isOrdered: task.taskCount == 1))
  }

  /// What is wrong with the store that was mounted again.
  func look() async -> [String] {
    // Until something was acknowledged, there needn't be a store.
    guard oracle.newestAcknowledged > 0 else { return [] }
    do {
      var problems = try oracle.check().problems
      problems += try await oracle.checkState(usingSnapshots: true)
      return try await problems + oracle.checkState(usingSnapshots: false)
    } catch {
      return ["\(error)"]
    }
  }
}
