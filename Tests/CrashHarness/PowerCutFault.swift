// Cuts the power, in a model of the disk, at every moment of what stores' processes do.
// It always holds: it says nothing of the engine unless it also finds the losses of processes whose
// flushes are left out.

import Foundation

/// Simulated power cuts.
package struct PowerCutFault: Fault {
  package static let name = "powercut"
  package static let summary =
    "the power cut, in a model of the disk: what was flushed, and any part of what was not"

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    var report = FaultReport()
    guard TracingLibrary.compiler != nil else {
      report.skipped = "tracing needs Linux and a C compiler"
      return report
    }
    let tools = try TestDirectory()
    defer { withExtendedLifetime(tools) {} }
    let place = tools.path
    let library = try await onThread { try TracingLibrary.compile(into: place) }
    let roundCount = context.count(quick: 1, full: 12)
    let scenarios = (0..<roundCount).flatMap { round in
      PowerCutScenario.allCases.map { (round, $0) }
    }
    var totals = Totals()
    let proofs = try await Self.proveAbleToFail(context, library: library)
    try await withThrowingTaskGroup(of: Totals.self) { group in
      var rest = scenarios[...]
      func start() {
        guard let (round, scenario) = rest.popFirst() else { return }
        group.addTask {
          try await Self.cut(scenario, round: round, context, library: library)
        }
      }
      // One for each of two processors: a worker is a process that never waits for a disk.
      for _ in 0..<2 { start() }
      for try await some in group {
        totals.add(some)
        context.progress("\(totals.report.triedCount) states")
        start()
      }
    }
    report = totals.report
    report.details =
      [
        "\(totals.pointCount) moments of \(scenarios.count) recordings",
        "\(totals.exhaustiveCount) with all choices of whole pages",
        "\(totals.tornCount) states with torn pages",
      ] + proofs
    return report
  }

  /// What was looked at.
  private struct Totals: Sendable {
    var report = FaultReport()
    var pointCount = 0
    var exhaustiveCount = 0
    var tornCount = 0

    mutating func add(_ other: Totals) {
      report.add(other.report)
      pointCount += other.pointCount
      exhaustiveCount += other.exhaustiveCount
      tornCount += other.tornCount
    }
  }

  private static func cut(
    _ scenario: PowerCutScenario, round: Int, _ context: FaultContext, library: String
  ) async throws -> Totals {
    var generator = context.generator("powercut \(scenario) \(round)")
    let seed = generator.next()
    let bench = try PowerCutBench(library: library)
    let countMax = context.count(quick: 300, full: 750)
    return try await onThread { [generator] in
      var generator = generator
      let recording = try bench.record(scenario, using: &generator)
      let job = bench.job(recording, seed: seed, countMax: countMax)
      let plan = try job.plan()
      var totals = Totals()
      totals.report = try job.process.run(0..<plan.count)
      totals.pointCount = plan.points.count
      totals.exhaustiveCount = plan.points.count(where: \.isExhaustive)
      totals.tornCount = plan.points.reduce(0) { $0 + $1.tornCount }
      if !totals.report.isGood { bench.keep() }
      return totals
    }
  }

  /// Leaves flushes out of the processes that are recorded, which must lose what they acknowledge.
  private static func proveAbleToFail(
    _ context: FaultContext, library: String
  ) async throws -> [String] {
    var proofs: [String] = []
    for swallowing in [TracedRun.Swallowing.syncs, .writeThrough, .all] {
      let generator = context.generator("powercut without \(swallowing.rawValue)")
      let bench = try PowerCutBench(library: library)
      let report = try await onThread { [generator] in
        var generator = generator
        return try bench.look(
          .crowd, swallowing: swallowing, countMax: 300, using: &generator, isEndedByLoss: true)
      }
      guard report.lostCount > 0 else {
        throw ChildProcess.Failure(
          description: "it finds no loss without \(swallowing.rawValue) in "
            + "\(report.triedCount) states, and so would find none at all")
      }
      proofs.append(
        "without \(swallowing.rawValue): lost in \(report.lostCount + report.crashedCount) of "
          + "\(report.triedCount)")
    }
    return proofs
  }
}

/// Where recordings are made, and their states put. Unchecked: one thread at a time uses it, and
/// the others wait for that.
package final class PowerCutBench: @unchecked Sendable {
  /// On a disk, whose flushes take as long as they do.
  private let recordings: TestDirectory
  private let states: TestDirectory
  private let library: String

  /// - Parameter library: the tracing library.
  package init(library: String) throws {
    recordings = try TestDirectory()
    states = try TestDirectory(inMemory: true)
    self.library = library
  }

  /// Blocks.
  package func record(
    _ scenario: PowerCutScenario, swallowing: TracedRun.Swallowing = .nothing,
    using generator: inout SeededGenerator
  ) throws -> PowerCutRecording {
    try PowerCutRecording(
      scenario, in: recordings.path, swallowing: swallowing, library: library, using: &generator)
  }

  package func job(_ recording: PowerCutRecording, seed: UInt64, countMax: Int) -> PowerCutJob {
    PowerCutJob(
      recording, copy: states.path + "/after.hindsight", seed: seed, countMax: countMax)
  }

  /// Records and looks. Blocks.
  ///
  /// - Parameter isEndedByLoss: whether some losses are enough.
  package func look(
    _ scenario: PowerCutScenario, swallowing: TracedRun.Swallowing = .nothing, countMax: Int,
    using generator: inout SeededGenerator, isEndedByLoss: Bool = false
  ) throws -> FaultReport {
    let recording = try record(scenario, swallowing: swallowing, using: &generator)
    let job = job(recording, seed: generator.next(), countMax: countMax)
    let count = try job.plan().count
    var report = FaultReport()
    for first in stride(from: 0, to: count, by: 50) where !isEndedByLoss || report.lostCount < 10 {
      report.add(try job.process.run(first..<min(first + 50, count)))
    }
    return report
  }

  /// Keeps everything, for a person to look at.
  package func keep() { recordings.isKept = true }
}
