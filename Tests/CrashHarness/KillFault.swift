// Kills processes at random moments of all they do, and looks at everything after each.
// It always holds: a kill that left anything wrong keeps its store, and says where.

import CrashLedger
import Foundation
import Hindsight

/// SIGKILL at random moments under load.
package struct KillFault: Fault {
  package static let name = "kill"
  package static let summary =
    "SIGKILL while dispatching, opening, recovering, beside another writer or reader"

  /// After so many kills a new store is begun, as each is looked at as a whole after each kill.
  private static let killsPerStore = 50

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    let killCount = context.count(quick: 150, full: 10_000)
    let roundCount = (killCount + Self.killsPerStore - 1) / Self.killsPerStore
    var report = FaultReport()
    var whileOpeningCount = 0
    var acknowledgementCount = 0
    try await withThrowingTaskGroup(of: Round.self) { group in
      // One for each of two processors: a round mostly waits for its process.
      var next = 0
      func start() {
        guard next < roundCount else { return }
        let number = next
        next += 1
        let count = min(Self.killsPerStore, killCount - number * Self.killsPerStore)
        group.addTask { try await Self.round(number, killCount: count, context) }
      }
      for _ in 0..<2 { start() }
      for try await round in group {
        report.add(round.report)
        whileOpeningCount += round.whileOpeningCount
        acknowledgementCount += round.acknowledgementCount
        context.progress("\(report.triedCount) of \(killCount) kills")
        start()
      }
    }
    report.details = [
      "\(whileOpeningCount) before the store was open",
      "\(acknowledgementCount) acknowledgements",
    ]
    return report
  }

  /// What became of one store.
  private struct Round: Sendable {
    var report = FaultReport()
    var whileOpeningCount = 0
    var acknowledgementCount = 0
  }

  private static func round(
    _ number: Int, killCount: Int, _ context: FaultContext
  ) async throws -> Round {
    var generator = context.generator("kill \(number)")
    let directory = try TestDirectory()
    let workload = Workload.allCases[number % Workload.allCases.count]
    var loop = KillLoop(
      workload, path: directory.path + "/killed.hindsight",
      generator: SeededGenerator(seed: generator.next()))
    var round = Round()
    var head: EventIndex?
    for kill in 0..<killCount {
      let isBesideAnother = generator.below(5) == 0
      var problems: [String]
      (loop, head, problems) = try await onThread { [loop, head] in
        var loop = loop
        let (newHead, problems) =
          try isBesideAnother ? loop.killOneOfTwo() : loop.killOne(openedAt: head)
        return (loop, newHead, problems)
      }
      if head != nil {
        problems += try await loop.oracle.checkState(usingSnapshots: true)
        if kill.isMultiple(of: 8) || kill == killCount - 1 {
          problems += try await loop.oracle.checkState(usingSnapshots: false)
        }
      }
      guard problems.isEmpty else {
        directory.isKept = true
        round.report.add(
          .lost("\(workload), store kept at \(directory.path): \(problems.prefix(3))"))
        break
      }
      round.report.add(.survived)
    }
    round.whileOpeningCount = loop.killsWhileOpening
    round.acknowledgementCount = loop.acknowledgementCount
    return round
  }
}
