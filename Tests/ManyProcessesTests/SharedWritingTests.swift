// Several processes that decide on one state at the same time, one of which dies while it decides.

import Foundation
import Hindsight
import HindsightTimeTravel
import Testing

extension InteractingTests {
  @Suite struct SharedWritingTests {
    private static let startCents = 2_000
    private static let stepCents = 7

    @Test func `two processes decide together, one dies deciding, and nothing is overdrawn`()
      async throws
    {
      let directory = try TestDirectory()
      let path = directory.store
      let store = try await Store(Bank(), at: path)
      try await store.dispatch(.opened(cents: Self.startCents))
      try await store.close()
      // The children wait for each other only: waiting for one takes a thread of the few there are.
      async let first = #expect(processExitsWith: .success) { [path = path as String] in
        try await Self.withdrawAll(path, by: 1, after: 2)
      }
      async let second = #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        try await Self.withdrawAll(path, by: 2, after: 1, dyingAfter: 15)
      }
      _ = await (first, second)
      let (state, events) = try await replayed(path)
      let withdrawals = events.enumerated().compactMap { position, event -> Int? in
        guard case .withdrawn(_, let by, let seenCount) = event else { return nil }
        // Whoever decided had seen everything that is before it in the log.
        #expect(seenCount == position)
        return by
      }
      #expect(withdrawals.count == Self.startCents / Self.stepCents)
      // Up to four are decided together, and those before the last one may have died with it.
      #expect((11...15).contains(withdrawals.count { $0 == 2 }))
      // Who lived went on after the one that died.
      let lastOfTheDead = withdrawals.lastIndex(of: 2) ?? 0
      #expect(lastOfTheDead < withdrawals.count - 1)
      #expect(state.total == Self.startCents)
      #expect(state.balances["common"] == Self.startCents % Self.stepCents)
      let other = try JSONDecoder().decode(
        Bank.State.self, from: Data(contentsOf: URL(fileURLWithPath: path + ".1.state")))
      #expect(other == state)
      try expectSound(path)
    }

    private static func withdrawAll(
      _ path: String, by: Int, after other: Int, dyingAfter count: Int = 1 << 30
    ) async throws {
      let store = try await Store(Bank(), at: path)
      try announce("\(path).\(by)")
      try await wait { isThere("\(path).\(other)") }
      async let watching: Void = watch(path)
      try await withdrawAll(store, by: by, dyingAfter: count)
      try await watching
      try await store.flush()
      let data = try JSONEncoder().encode(store.current.state)
      try data.write(to: URL(fileURLWithPath: "\(path).\(by).state"))
      try await store.close()
    }

    private struct Overdraft: Error {}

    /// Takes from the common account until nothing can be taken. Dies inside of a write
    /// transaction.
    private static func withdrawAll(_ store: Store<Bank>, by: Int, dyingAfter count: Int = 1 << 30)
      async throws
    {
      try await withThrowingTaskGroup { group in
        for task in 0..<4 {
          group.addTask {
            do {
              while true {
                try await store.transact { state in
                  if state.balances["by \(by)", default: 0] >= count * (stepCents - 2) {
                    kill(getpid(), SIGKILL)
                  }
                  guard state.balances["common", default: 0] >= stepCents else { throw Overdraft() }
                  return [
                    .withdrawn(cents: stepCents, by: by, seenCount: state.eventCount),
                    .deposited(account: "by \(by)", cents: stepCents - 2),
                    .deposited(account: "task \(task)", cents: 2),
                    .deposited(account: "by \(by)", cents: 0),
                  ]
                }
              }
            } catch is Overdraft {}
          }
        }
        try await group.waitForAll()
      }
    }

    /// Sees the state of whole commits only, and ends when nothing is left to take.
    private static func watch(_ path: String) async throws {
      let store = try await Store(Bank(), at: path, options: .readOnly)
      var last: EventIndex = 0
      var count = 0
      for await change in store.changes(of: { $0 }) {
        #expect(change.value.total == startCents)
        #expect(change.index % 4 == 1, "a transaction has four events")
        #expect(change.index == EventIndex(change.value.eventCount))
        #expect(change.index > last)
        last = change.index
        count += 1
        if change.value.balances["common", default: 0] < stepCents { break }
      }
      #expect(count > 0)
      let timeline = try Timeline(Bank(), at: path)
      #expect(timeline.head == last)
      try timeline.close()
      try await store.close()
    }
  }
}
