// Makes each system call of a store's life fail, one after the other, and looks at what is left.
// It always holds: a try is one run of a process in which at least one call really failed.

import CrashLedger
import Foundation
import Hindsight

/// System calls that fail, once and from then on, and a power cut after them.
package struct SystemCallFault: Fault {
  package static let name = "syscall"
  package static let summary =
    "each system call and allocation fails, once or from then on, followed by a power cut"

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    var report = FaultReport()
    guard TracingLibrary.compiler != nil else {
      report.skipped = "it needs Linux and a C compiler"
      return report
    }
    let directory = try TestDirectory()
    let place = directory.path
    let bench = try await onThread { try FailingBench(in: place) }
    defer { withExtendedLifetime(directory) {} }
    var jobs = FailingWorkload.allCases.flatMap { workload in
      CallFailure.Kind.allCases.map { (workload, $0) }
    }
    jobs.reverse()
    var codes: [String: Int] = [:]
    try await withThrowingTaskGroup(of: FailingTally.self) { group in
      func start() {
        guard let (workload, kind) = jobs.popLast() else { return }
        group.addTask { try await Self.tally(workload, kind, bench, context) }
      }
      for _ in 0..<2 { start() }
      for try await tally in group {
        report.add(tally.report)
        codes.merge(tally.codes) { $0 + $1 }
        context.progress("\(report.triedCount) runs")
        start()
      }
    }
    report.details = CallFailure.Kind.allCases.compactMap { kind in
      codes["tried/\(kind)"].map { "\($0) of \(kind)" }
    }
    return report
  }

  /// Lets the calls of a kind fail, the first, the second, …, until a run gets through.
  private static func tally(
    _ workload: FailingWorkload, _ kind: CallFailure.Kind, _ bench: FailingBench,
    _ context: FaultContext
  ) async throws -> FailingTally {
    var generator = context.generator("\(workload) \(kind)")
    var tally = FailingTally()
    var number = 1
    // Memory is asked for so often that a small run leaves most of it out.
    let stride = context.size == .quick && kind == .memory ? 12 : 1
    if stride > 1 { number += generator.below(stride) }
    while true {
      var isHit = false
      for failure in failures(kind, number, context, &generator) {
        let sessions = ChildTask.Stubbornness(
          sessionCount: 1 + generator.below(3).signum(), laterStepCount: 1 + generator.below(4))
        let run = try await bench.run(workload, failure, sessions)
        guard run.isHit else { continue }
        isHit = true
        tally.add(run, of: kind, "\(workload), \(failure)")
      }
      // The files differ in how often they are called.
      guard isHit else { return tally }
      number += stride
    }
  }

  private static func failures(
    _ kind: CallFailure.Kind, _ number: Int, _ context: FaultContext,
    _ generator: inout SeededGenerator
  ) -> [CallFailure] {
    let effects = CallFailure.effects(of: kind)
    guard context.size == .full else {
      let (effect, extent) = effects[generator.below(effects.count)]
      return [CallFailure(kind, number: number, effect, extent)]
    }
    var failures = effects.map { CallFailure(kind, number: number, $0, $1) }
    if kind != .memory {
      failures += effects.filter { $0.1 == .always }.map {
        CallFailure(kind, number: number, $0, $1, file: "snapshots.mdb")
      }
    }
    return failures
  }
}

/// What became of the runs of one workload and kind of call.
private struct FailingTally: Sendable {
  var report = FaultReport()
  var codes: [String: Int] = [:]

  mutating func add(_ run: FailingBench.Run, of kind: CallFailure.Kind, _ what: String) {
    codes["tried/\(kind)", default: 0] += 1
    for code in run.codes { codes[code, default: 0] += 1 }
    if let crash = run.crash {
      report.add(.crashed("\(what): \(crash)"))
    } else if !run.problems.isEmpty {
      report.add(.lost("\(what): \(run.problems.prefix(3))"))
    } else {
      report.add(.survived)
    }
  }
}
