// Processes that are killed in the middle of their work, again and again on the same store: nothing
// that was acknowledged is ever lost, and nothing is torn.

import CrashHarness
import CrashLedger
import Foundation
import Hindsight
import Testing

extension Workload: CustomTestStringConvertible {
  package var testDescription: String { rawValue }
}

@Suite struct KillTests {
  /// How many processes are killed for each workload; `HINDSIGHT_KILLS` says how many.
  private static let killCount =
    ProcessInfo.processInfo.environment["HINDSIGHT_KILLS"].flatMap { Int($0) } ?? 25
  /// After so many kills a new store is begun, as each is looked at as a whole after each kill.
  private static let killsPerStore = 50

  @Test(arguments: Workload.allCases)
  func `whenever a process is killed, what it acknowledged is there, whole and in order`(
    workload: Workload
  ) async throws {
    try await repeatKills("kills during \(workload)", workload) { loop, head in
      try loop.killOne(openedAt: head)
    }
  }

  @Test func `a writer goes on where another one is killed beside it`() async throws {
    try await repeatKills("kills beside another writer", .snapshots) { loop, _ in
      try loop.killOneOfTwo()
    }
  }

  /// Kills as often as asked, on a store that grows from kill to kill; looks at all after each.
  private func repeatKills(
    _ name: String, _ workload: Workload,
    _ kill: @escaping @Sendable (inout KillLoop, EventIndex?) throws -> (EventIndex?, [String])
  ) async throws {
    var generator = SeededGenerator.forTest(name)
    for start in stride(from: 0, to: Self.killCount, by: Self.killsPerStore) {
      let directory = try TestDirectory()
      var loop = KillLoop(
        workload, path: directory.path + "/killed.hindsight",
        generator: SeededGenerator(seed: generator.next()))
      var head: EventIndex?
      let end = min(start + Self.killsPerStore, Self.killCount)
      for number in start..<end {
        var problems: [String]
        (loop, head, problems) = try await onThread { [loop, head] in
          var loop = loop
          let (newHead, problems) = try kill(&loop, head)
          return (loop, newHead, problems)
        }
        if head != nil { problems += try await loop.oracle.checkState(usingSnapshots: true) }
        if head != nil, number.isMultiple(of: 8) || number == end - 1 {
          problems += try await loop.oracle.checkState(usingSnapshots: false)
        }
        if !problems.isEmpty {
          directory.isKept = true
          Issue.record("\(name), store kept at \(directory.path): \(problems.prefix(5))")
          return
        }
      }
      print("\(name): \(loop.summary), head \(head ?? 0)")
      #expect(loop.acknowledgementCount > 0)
      try await goOn(loop.oracle, head: head ?? 0)
    }
  }

  /// The snapshots are removed, and the store is written to once more.
  private func goOn(_ oracle: StoreOracle, head: EventIndex) async throws {
    for name in ["snapshots.mdb", "snapshots.mdb-lock"] {
      try? FileManager.default.removeItem(atPath: oracle.path + "/" + name)
    }
    let store = try await Store(MarkedLedger(), at: oracle.path)
    #expect(store.recovery.snapshotIndex == nil)
    #expect(store.recovery.replayedEventCount == head)
    let receipt = try await store.dispatch(.moved(EventMark(run: 1_000_000, task: 0, step: 0)))
    #expect(receipt.index == head + 1)
    try await store.close()
  }
}
