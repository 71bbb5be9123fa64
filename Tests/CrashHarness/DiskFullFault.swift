// Fills the disk under a process that commits, writes snapshots or opens, and frees it again.
// It always holds: the process that met the full disk is the one that has to go on.

import CrashLedger
import Foundation
import Hindsight
import HindsightLog

/// A small file system without room.
package struct DiskFullFault: Fault {
  package static let name = "disk-full"
  package static let summary =
    "a full tmpfs or ext4 while committing, writing snapshots, opening or making a store"

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    var report = FaultReport()
    var refusals = (dispatches: 0, snapshots: 0, openings: 0)
    for kind in MountedFileSystem.Kind.allCases {
      if let obstacle = try await onThread({ MountedFileSystem.obstacle(kind) }) {
        report.skipped = [report.skipped, obstacle].compactMap(\.self).joined(separator: "; ")
        continue
      }
      for number in 0..<context.count(quick: 40, full: 400) {
        var generator = context.generator("disk-full \(kind) \(number)")
        let round = DiskFullRound(
          kind: kind, situation: DiskFullSituation.allCases[number % 4],
          remainingBytes: generator.below([1, 50, 1_000][generator.below(3)]) << 12,
          delay: .microseconds(generator.below(5_000)))
        let outcome = try await round.run()
        report.add(outcome.outcome)
        for code in outcome.codes {
          if code.hasPrefix("snapshot/") {
            refusals.snapshots += 1
          } else if code.hasPrefix("open/") {
            refusals.openings += 1
          } else {
            refusals.dispatches += 1
          }
        }
        context.progress("\(report.triedCount) rounds")
      }
    }
    report.details = [
      "\(refusals.dispatches) dispatches", "\(refusals.snapshots) snapshots",
      "\(refusals.openings) openings refused",
    ]
    return report
  }
}

/// What there is when the disk becomes full.
enum DiskFullSituation: String, CaseIterable, Sendable {
  case existing = "an existing store"
  case snapshots = "an existing store with many snapshots"
  /// Whoever cleaned up took the lock files, too.
  case unlocked = "a store without lock files"
  case nothing = "no store yet"
}

/// One full disk.
private struct DiskFullRound: Sendable {
  let kind: MountedFileSystem.Kind
  let situation: DiskFullSituation
  let remainingBytes: Int
  let delay: Duration

  private static let sizeBytes = 24 << 20
  private static let taskCount = 2
  private static let stepCount = 60

  func run() async throws -> (outcome: FaultOutcome, codes: [String]) {
    let what = "\(kind.rawValue), \(situation.rawValue), \(remainingBytes) bytes left"
    let disk = try FullDisk(kind, sizeBytes: Self.sizeBytes)
    var (lines, problems, oracle) = try await onThread { try dispatch(on: disk) }
    if case .some(.failed("crash", _, _, let message)) = lines.last {
      return (.crashed("\(what): \(message)"), [])
    }
    let said = StubbornLines(lines)
    let codes = said.sessions.flatMap(StubbornLines.codes)
    problems += said.problems(isOrdered: false)
    let wrong = codes.filter { code in
      // A store that was opened without its snapshots' file has no place for any.
      !["diskFull", "open/diskFull"].contains(code) && !code.hasPrefix("snapshot/")
    }
    if !wrong.isEmpty { problems.append("it was refused with \(wrong)") }
    let count = said.successes.count(where: \.isAcknowledgement)
    if count != Self.taskCount * Self.stepCount {
      problems.append("\(count) dispatches came through in the end")
    }
    // A cache that couldn't be made is made anew by whoever opens the store next for writing. The
    // log must be sound before that.
    problems += try LogVerifier(path: oracle.path).verify().findings
      .filter { $0.part == .log }.map(\.description)
    try await Store(MarkedLedger(), at: oracle.path).close()
    problems += try oracle.check().problems
    for usingSnapshots in [true, false] {
      problems += try await oracle.checkState(usingSnapshots: usingSnapshots)
    }
    withExtendedLifetime(disk) {}
    return (problems.isEmpty ? .survived : .lost("\(what): \(problems.prefix(3))"), codes)
  }

  /// Blocks.
  private func dispatch(
    on disk: FullDisk
  ) throws -> (lines: [ChildLine], problems: [String], oracle: StoreOracle) {
    let path = disk.path + "/full.hindsight"
    var oracle = StoreOracle(path: path)
    if situation != .nothing {
      var task = ChildTask(.mixed, path: path)
      task.taskCount = 4
      task.stepCount = 5
      task.snapshotEvery = situation == .snapshots ? 2 : nil
      let lines = try ChildProcess(task).remaining()
      guard lines.last == .done else { return (lines, ["no store: \(lines.suffix(1))"], oracle) }
      oracle.add(lines)
    }
    if situation == .unlocked {
      for name in ["log.mdb-lock", "snapshots.mdb-lock"] { unlink(path + "/" + name) }
    }
    let ballast = try disk.fill(leaving: remainingBytes)
    let goFile = disk.outside + "/go"
    var task = ChildTask(.mixed, path: path)
    task.run = 1
    task.taskCount = Self.taskCount
    task.stepCount = Self.stepCount
    task.snapshotEvery = situation == .snapshots ? 5 : nil
    task.forcesSnapshots = situation != .existing
    task.stubbornness = .init(sessionCount: 1, goFile: goFile)
    let child = try ChildProcess(task)
    child.patienceMilliseconds = 20_000
    var lines: [ChildLine] = []
    while let line = try child.next() {
      lines.append(line)
      // A refused snapshot stops nothing: only another refusal waits for room.
      guard case .failed(let code, _, _, _) = line, !code.hasPrefix("snapshot/") else { continue }
      spin(delay)
      unlink(ballast)
      try Data().write(to: URL(fileURLWithPath: goFile))
    }
    let ending = child.wait()
    if ending != .exited(0) {
      lines.append(
        .failed(
          code: "crash", index: nil, eventType: nil,
          message: "it ended with \(ending) after \(lines.suffix(2))"))
    }
    oracle.add(StubbornLines(lines).successes)
    return (lines, [], oracle)
  }
}

/// A file system that is used by one thread at a time. Unchecked: that one waits for the other.
private final class FullDisk: @unchecked Sendable {
  private let fileSystem: MountedFileSystem
  private let directory: TestDirectory

  init(_ kind: MountedFileSystem.Kind, sizeBytes: Int) throws {
    fileSystem = try MountedFileSystem(kind, sizeBytes: sizeBytes)
    directory = try TestDirectory()
  }

  var path: String { fileSystem.path }
  /// A directory on another file system.
  var outside: String { directory.path }

  func fill(leaving remainingBytes: Int) throws -> String {
    try fileSystem.fill(leaving: remainingBytes)
  }
}
