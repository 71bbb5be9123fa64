// Simulates power cuts: records what a process does to a store's files, and makes them as they
// could be after a cut at each moment.
// It always holds: nothing here knows how commits are flushed. And where flushes are left out, the
// simulation must find loss, or it is no proof.

import CrashLedger
import Foundation

/// Power cuts, simulated.
package struct PowerCutFault: Fault {
  package static let name = "powercut"
  package static let summary =
    "the files as they could be after a power cut: any unflushed pages, whole or torn"

  package init() {}

  /// A run that is traced.
  private struct Run: Sendable {
    let kind: ChildTask.Kind
    /// Whether a store was there before.
    let isReopened: Bool
    let number: Int
  }

  package func run(_ context: FaultContext) async throws -> FaultReport {
    var report = FaultReport()
    guard TracingLibrary.compiler != nil else {
      report.skipped = "needs Linux and a C compiler"
      return report
    }
    let directory = try TestDirectory(inMemory: true)
    let path = directory.path
    let library = try await onThread { try TracingLibrary.compile(into: path) }
    let runs = Self.runs(context)
    let limits = PowerCutLimits(
      total: context.count(quick: 3_000, full: 100_000) / runs.count,
      ofOneCut: context.count(quick: 16, full: 2_048))
    var (cutCount, exhaustiveCutCount) = (0, 0)
    for run in runs {
      let folder = "\(path)/run-\(run.number)"
      try await onThread { try Self.trace(run, into: folder, swallowing: .nothing, library) }
      let scenario = try PowerCutScenario(folder: folder)
      let states = PowerCutStates(scenario, limits, seed: context.seed)
      cutCount += states.cuts.count
      exhaustiveCutCount += states.exhaustiveCutCount
      report.add(try await Self.tryStates(states.count, of: folder, limits, context))
      context.progress("\(report.triedCount) states")
    }
    report.details = [
      "\(runs.count) runs", "\(cutCount) cuts", "\(exhaustiveCutCount) of them in all states",
    ]
    try await Self.showThatItFindsLoss(in: path, library, context, &report)
    return report
  }

  private static func runs(_ context: FaultContext) -> [Run] {
    let kinds: [ChildTask.Kind] = [.single, .batch, .transact, .mixed]
    return (0..<context.count(quick: 8, full: 40)).map {
      Run(kind: kinds[$0 % 4], isReopened: $0 / 4 % 2 == 1, number: $0)
    }
  }

  /// Runs a process, and keeps what it did in a folder. Blocks.
  private static func trace(
    _ run: Run, into folder: String, swallowing: TracedRun.Swallowing, _ library: String
  ) throws {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let place = folder + "/place"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    var task = ChildTask(run.kind, path: "")
    task.taskCount = 6
    task.stepCount = 8
    task.snapshotEvery = 40
    var earlier: [ChildLine] = []
    if run.isReopened {
      task.run = 1
      let first = try TracedRun(task, in: place, swallowing: .nothing, library: library)
      earlier = first.lines
      for name in PowerCutScenario.fileNames {
        try FileManager.default.copyItem(
          atPath: "\(first.store)/\(name)", toPath: "\(folder)/\(name)")
      }
    }
    task.run = 2
    let traced = try TracedRun(
      task, in: place, swallowing: swallowing, library: library,
      keptAt: "\(folder)/\(PowerCutScenario.traceFile)")
    try PowerCutScenario.write(to: folder, store: traced.store, earlier: earlier)
  }

  private static func tryStates(
    _ count: Int, of folder: String, _ limits: PowerCutLimits, _ context: FaultContext
  ) async throws -> FaultReport {
    try await Jobs.inTwo(count: count, atATime: max(50, count / 8)) { number, jobs in
      let worker = WorkerProcess(
        arguments: [
          PowerCutWorker.name, folder, "\(folder)/cut-\(number).hindsight", "\(limits.total)",
          "\(limits.ofOneCut)", "\(context.seed)",
        ],
        describe: { "\(folder) state \($0)" })
      var report = FaultReport()
      while let range = jobs.next() { report.add(try worker.run(range)) }
      return report
    }
  }

  /// Leaves flushes out, and expects that the simulation notices.
  private static func showThatItFindsLoss(
    in path: String, _ library: String, _ context: FaultContext, _ report: inout FaultReport
  ) async throws {
    for (number, swallowing) in [TracedRun.Swallowing.syncs, .all].enumerated() {
      let folder = "\(path)/broken-\(number)"
      let run = Run(kind: .mixed, isReopened: number == 0, number: number)
      try await onThread { try trace(run, into: folder, swallowing: swallowing, library) }
      let limits = PowerCutLimits(total: 100, ofOneCut: 2)
      let broken = try await tryStates(100, of: folder, limits, context)
      let foundCount = broken.lostCount + broken.crashedCount
      report.details.append(
        "\(foundCount) of \(broken.triedCount) lost without \(swallowing.rawValue)")
      if broken.lostCount == 0 {
        report.add(.crashed("without flushes (\(swallowing)) the simulation finds no loss"))
      }
    }
  }
}
