// Records what stores' processes do to the disk, for power to be cut at every moment of it.
// It always holds: the recording is whole: followed to its end, it gives the files that are there.

import CrashLedger
import Foundation

/// What processes do while they are recorded.
package enum PowerCutScenario: String, CaseIterable, Sendable {
  case singles = "single dispatches"
  case crowd = "many dispatchers"
  case batches = "batches"
  case transactions = "transactions"
  case large = "commits of many pages"
  case snapshots = "snapshots in flight"
  case reopened = "a store closed and opened again"
  case beside = "two processes"
  case killed = "commits after a kill"

  /// The task of a process of a number.
  fileprivate func task(_ run: Int, path: String) -> ChildTask {
    let (kind, taskCount, stepCount): (ChildTask.Kind, Int, Int) =
      switch self {
      case .singles: (.single, 1, 25)
      case .crowd: (.single, 8, 8)
      case .batches: (.batch, 4, 8)
      case .transactions: (.transact, 4, 8)
      case .large: (.batch, 64, 2)
      case .snapshots: (.mixed, 4, 8)
      case .reopened: (.mixed, 3, 4)
      case .beside: (.mixed, 3, 5)
      case .killed: (.mixed, 6, 6)
      }
    var task = ChildTask(kind, path: path)
    task.run = run
    task.taskCount = taskCount
    task.stepCount = stepCount
    if self == .snapshots || self == .reopened { task.snapshotEvery = 3 }
    task.forcesSnapshots = self == .snapshots
    return task
  }
}

/// The traces of all processes that a store had, from its making on.
package struct PowerCutRecording: Sendable {
  /// The store's real path, as it stands in the traces.
  package let store: String
  /// The files with the traces.
  package private(set) var traces: [String] = []
  private let library: String
  private let swallowing: TracedRun.Swallowing
  private let directory: String

  private static let attemptCountMax = 20

  /// Records what a scenario does in an empty directory. Blocks.
  ///
  /// - Throws: where something is done to the files that the traces don't tell.
  package init(
    _ scenario: PowerCutScenario, in directory: String, swallowing: TracedRun.Swallowing = .nothing,
    library: String, using generator: inout SeededGenerator
  ) throws {
    var recording: PowerCutRecording?
    for attempt in 0..<Self.attemptCountMax where recording == nil {
      let place = "\(directory)/recording-\(attempt)"
      try FileManager.default.createDirectory(
        atPath: place + "/traced", withIntermediateDirectories: true)
      var candidate = try PowerCutRecording(
        in: place, swallowing: swallowing, library: library)
      try candidate.record(scenario, using: &generator)
      let difference = try candidate.difference()
      // A process that is killed between a call and its record leaves a gap. No other does.
      if difference == nil {
        recording = candidate
      } else if scenario != .killed {
        throw ChildProcess.Failure(description: "the traces don't tell all: \(difference ?? "")")
      }
    }
    guard let recording else {
      throw ChildProcess.Failure(description: "no recording of a kill is without a gap")
    }
    self = recording
  }

  private init(
    in directory: String, swallowing: TracedRun.Swallowing, library: String
  ) throws {
    guard let resolved = realpath(directory, nil) else {
      throw ChildProcess.Failure(description: "there is no \(directory)")
    }
    defer { free(resolved) }
    self.directory = String(cString: resolved)
    store = self.directory + "/traced/cut.hindsight"
    self.swallowing = swallowing
    self.library = library
  }

  private mutating func start(_ task: ChildTask) throws -> ChildProcess {
    let file = "\(directory)/trace-\(traces.count)"
    traces.append(file)
    return try ChildProcess(
      task,
      environment: [
        "LD_PRELOAD": library, "HINDSIGHT_TRACE_FILE": file,
        "HINDSIGHT_TRACE_CLOCK": directory + "/clock",
        "HINDSIGHT_TRACE_DIRECTORY": DiskNames.parent(of: store),
        "HINDSIGHT_TRACE_SWALLOW": swallowing.rawValue,
      ])
  }

  private mutating func record(
    _ scenario: PowerCutScenario, using generator: inout SeededGenerator
  ) throws {
    func finish(_ child: ChildProcess) throws {
      let lines = try child.remaining()
      guard child.wait() == .exited(0), lines.last == .done else {
        throw ChildProcess.Failure(description: "the traced program failed: \(lines.suffix(1))")
      }
    }
    switch scenario {
    case .reopened:
      for run in 1...3 { try finish(start(scenario.task(run, path: store))) }
    case .beside:
      let children = try (1...2).map { try start(scenario.task($0, path: store)) }
      for child in children { try finish(child) }
    case .killed:
      let child = try start(scenario.task(1, path: store))
      var remaining = 1 + generator.below(20)
      while remaining > 0, let line = try child.next() {
        if line.isAcknowledgement { remaining -= 1 }
      }
      spin(.microseconds(generator.below(2_000)))
      child.kill()
      try finish(start(scenario.task(2, path: store)))
    default: try finish(start(scenario.task(1, path: store)))
    }
  }

  /// All calls of all processes.
  package func trace() throws -> SystemCallTrace { try SystemCallTrace(merging: traces) }

  /// How the traces' end differs from what is there; nil where it doesn't.
  private func difference() throws -> String? {
    var replay = DiskReplay(try trace(), store: store)
    do {
      try replay.advance(to: replay.count)
    } catch let error as DiskModel.Unfollowable {
      return error.description
    }
    let files = replay.disk.latestFiles(of: store)
    let names = try FileManager.default.contentsOfDirectory(atPath: store)
      .filter { !$0.hasSuffix("-lock") }
    guard Set(names) == Set(files.keys) else {
      return "there are \(names), not \(files.keys.sorted())"
    }
    for (name, bytes) in files {
      let there = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(name)")))
      guard there != bytes else { continue }
      let place = zip(there, bytes).enumerated().first { $0.element.0 != $0.element.1 }?.offset
      return "\(name) has \(there.count) bytes, not \(bytes.count), and differs from byte "
        + (place.map(String.init) ?? "\(min(there.count, bytes.count))")
    }
    return nil
  }
}
