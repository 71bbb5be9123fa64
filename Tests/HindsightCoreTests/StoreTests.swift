// The store's contract, on the in-memory log.

import HindsightCore
import Testing

@Suite struct StoreTests {
  private func bank(_ log: MemoryLog = MemoryLog(reducerName: "Bank")) async throws -> Store<Bank> {
    try await Store(Bank(), log: log)
  }

  @Test func `a dispatched event is in the current state and has the next index`() async throws {
    let store = try await bank()
    let first = try await store.dispatch(.deposited(account: "alice", cents: 100))
    let second = try await store.dispatch(.deposited(account: "bob", cents: 5))
    #expect(first.index == 1)
    #expect(second.index == 2)
    #expect(store.current.index == 2)
    #expect(store.current.state.balances == ["alice": 100, "bob": 5])
    try await store.close()
  }

  @Test func `a batch is one commit with consecutive indexes`() async throws {
    let log = MemoryLog(reducerName: "Bank")
    let store = try await bank(log)
    let receipt = try await store.dispatch(
      contentsOf: (1...1000).map { .deposited(account: "alice", cents: $0) })
    #expect(receipt.indexes == 1..<1001)
    var commits = 0
    try log.scan(1...1000, reversed: false) { commit in
      commits += 1
      #expect(commit.eventCount == 1000)
      return .next
    }
    #expect(commits == 1)
    #expect(store.current.state.balances["alice"] == 500_500)
    try await store.close()
  }

  @Test func `an empty batch is a receipt for the head and no commit`() async throws {
    let store = try await bank()
    try await store.dispatch(.deposited(account: "alice", cents: 1))
    let receipt = try await store.dispatch(contentsOf: [Bank.Event]())
    #expect(receipt.count == 0)
    #expect(receipt.index == 1)
    #expect(receipt.indexes.isEmpty)
    try await store.close()
  }

  @Test func `thousands of tasks get each its own index and keep their own order`() async throws {
    let log = MemoryLog(reducerName: "Journal")
    let store = try await Store(Journal(), log: log)
    let indexes = try await withThrowingTaskGroup(of: [EventIndex].self) { group in
      for task in 0..<500 {
        group.addTask {
          var own: [EventIndex] = []
          for step in 0..<8 {
            own.append(try await store.dispatch(.noted(text: "\(task) \(step)")).index)
          }
          return own
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    for own in indexes { #expect(own == own.sorted()) }
    #expect(Set(indexes.joined()).count == 4_000)
    #expect(indexes.joined().max() == 4_000)
    let state = store.current.state
    #expect(state.map(\.index) == Array(1...4_000))
    var next: [Substring: Int] = [:]
    for entry in state {
      let parts = entry.text.split(separator: " ")
      #expect(Int(parts[1]) == next[parts[0], default: 0])
      next[parts[0], default: 0] += 1
    }
    var commits = 0
    try log.scan(1...4_000, reversed: false) { _ in
      commits += 1
      return .next
    }
    #expect(commits < 4_000)
    try await store.close()
  }

  @Test func `transact sees the newest state and can't race`() async throws {
    let store = try await bank()
    try await store.dispatch(.deposited(account: "alice", cents: 100))
    let successes = await withTaskGroup(of: Bool.self) { group in
      for _ in 0..<50 {
        group.addTask {
          do {
            try await store.transact { state in
              guard state.balances["alice", default: 0] >= 30 else { throw Bank.Overdraft() }
              return [.withdrawn(account: "alice", cents: 30)]
            }
            return true
          } catch { return false }
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(successes == 3)
    #expect(store.current.state.balances["alice"] == 10)
    #expect(store.current.index == 4)
    try await store.close()
  }

  @Test func `what transact throws reaches its caller and appends nothing`() async throws {
    let store = try await bank()
    await #expect(throws: Bank.Overdraft()) {
      try await store.transact { _ in throw Bank.Overdraft() }
    }
    let receipt = try await store.transact { _ in [] }
    #expect(receipt.index == 0)
    #expect(receipt.count == 0)
    #expect(store.current.index == 0)
    try await store.close()
  }

  @Test func `a refused event leaves log and state as they were`() async throws {
    let store = try await bank()
    try await store.dispatch(.deposited(account: "alice", cents: 10))
    let error = await #expect(throws: HindsightError.self) {
      try await store.dispatch(.withdrawn(account: "alice", cents: 11))
    }
    #expect(error?.code == .eventRefused)
    #expect(error?.cause is Bank.Overdraft)
    #expect(store.current.index == 1)
    #expect(store.current.state.balances["alice"] == 10)
    try await store.close()
  }

  @Test func `a batch with a refused event leaves nothing and names its position`() async throws {
    let store = try await bank()
    let error = await #expect(throws: HindsightError.self) {
      try await store.dispatch(contentsOf: [
        .deposited(account: "alice", cents: 10), .withdrawn(account: "alice", cents: 4),
        .withdrawn(account: "alice", cents: 7), .deposited(account: "bob", cents: 1),
      ])
    }
    #expect(error?.code == .eventRefused)
    #expect(error?.batchPosition == 2)
    #expect(store.current.index == 0)
    #expect(store.current.state == Bank.State())
    try await store.close()
  }

  @Test func `refused and accepted events of one group are kept apart`() async throws {
    let store = try await bank()
    await withTaskGroup(of: Void.self) { group in
      for account in 0..<200 {
        group.addTask {
          _ = try? await store.dispatch(.deposited(account: "\(account)", cents: 3))
          for _ in 0..<5 {
            _ = try? await store.dispatch(.withdrawn(account: "\(account)", cents: 2))
          }
        }
      }
    }
    #expect(store.current.state.balances.values.allSatisfy { $0 == 1 })
    #expect(store.current.index == 400)
    try await store.close()
  }

  @Test func `time, tags and index reach the reducer, and again in a replay`() async throws {
    let log = MemoryLog(reducerName: "Journal")
    let clock: @Sendable () -> Timestamp = { Timestamp(rawValue: 5_000_000) }
    let store = try await Store(
      Journal(), log: log, options: StoreOptions(clock: clock))
    let occurred = Timestamp(rawValue: 77)
    try await store.dispatch(
      .noted(text: "a"), metadata: EventMetadata(occurredTime: occurred, tags: ["x", "y"]))
    try await store.dispatch(contentsOf: [
      AnnotatedEvent(.noted(text: "b"), metadata: EventMetadata(tags: ["z"])),
      AnnotatedEvent(.noted(text: "c"), metadata: .none),
    ])
    let state = store.current.state
    #expect(state.map(\.index) == [1, 2, 3])
    #expect(state.map(\.tags) == [["x", "y"], ["z"], []])
    #expect(state.map(\.occurredTime) == [occurred, nil, nil])
    #expect(state[1].recordedTime == state[2].recordedTime)

    let replayed = try await Store(Journal(), log: log)
    #expect(replayed.current.state == state)
    #expect(replayed.recovery.replayedEventCount == 3)
    #expect(replayed.recovery.snapshotIndex == nil)
    try await store.close()
  }

  @Test func `recorded times never go backwards`() async throws {
    let times = TestClock([9, 3, 12, 1])
    let log = MemoryLog(reducerName: "Journal", creationTime: Timestamp(rawValue: 0))
    let store = try await Store(
      Journal(), log: log, options: StoreOptions(clock: { times.next() }))
    for text in ["a", "b", "c", "d"] { try await store.dispatch(.noted(text: text)) }
    #expect(store.current.state.map(\.recordedTime.rawValue) == [9, 9, 12, 12])
    try await store.close()
  }

  @Test func `a cancelled task's event isn't appended when its receipt didn't come`() async throws {
    let store = try await bank()
    let task = Task {
      withUnsafeCurrentTask { $0?.cancel() }
      return try await store.dispatch(.deposited(account: "alice", cents: 1))
    }
    await #expect(throws: CancellationError.self) { try await task.value }
    try await store.flush()
    #expect(store.current.index == 0)
    try await store.close()
  }

  @Test func `a queue of one byte still takes every event and batch`() async throws {
    let store = try await Store(
      Bank(), log: MemoryLog(reducerName: "Bank"), options: StoreOptions(queueSizeMax: 1))
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<200 {
        group.addTask {
          try await store.dispatch(
            contentsOf: (0..<5).map { .deposited(account: "a", cents: $0) })
        }
      }
      try await group.waitForAll()
    }
    #expect(store.current.index == 1_000)
    #expect(store.current.state.balances["a"] == 2_000)
    try await store.close()
  }

  @Test func `a closed store refuses dispatches and stays readable`() async throws {
    let store = try await bank()
    try await store.dispatch(.deposited(account: "alice", cents: 1))
    try await store.close()
    try await store.close()
    let error = await #expect(throws: HindsightError.self) {
      try await store.dispatch(.deposited(account: "alice", cents: 1))
    }
    #expect(error?.code == .closed)
    #expect(store.current.index == 1)
  }

  @Test func `a reserved event type is refused`() async throws {
    struct Reserved: Reducer {
      enum Event: String, Codable, Sendable { case bad = "hindsight.rewind" }
      var initialState: Int { 0 }
      func reduce(into state: inout Int, _ event: Event) { state += 1 }
    }
    let store = try await Store(Reserved(), log: MemoryLog(reducerName: "Reserved"))
    let error = await #expect(throws: HindsightError.self) { try await store.dispatch(.bad) }
    #expect(error?.code == .invalidEvent)
    #expect(store.current.index == 0)
    try await store.close()
  }

  @Test func `a store of another reducer's name is refused`() async throws {
    let log = MemoryLog(reducerName: "Other")
    let error = await #expect(throws: HindsightError.self) { try await bank(log) }
    #expect(error?.code == .reducerMismatch)
  }

  @Test func `a part of the state is seen when it changed, newest first of all`() async throws {
    let store = try await bank()
    var changes = store.changes { $0.balances["alice"] }.makeAsyncIterator()
    #expect(await changes.next()?.value == .some(nil))
    try await store.dispatch(.deposited(account: "bob", cents: 1))
    try await store.dispatch(.deposited(account: "alice", cents: 1))
    try await store.dispatch(.deposited(account: "alice", cents: 1))
    let next = await changes.next()
    #expect(next?.value == 2)
    #expect(next?.index == 3)
    async let last = changes.next()
    try await store.dispatch(.deposited(account: "alice", cents: 1))
    #expect(await last?.value == 3)
    try await store.close()
    #expect(await changes.next() == nil)
  }
}

/// Gives out the times of a list.
final class TestClock: @unchecked Sendable {
  private let lock = Lock()
  private var times: [Int64]

  init(_ times: [Int64]) { self.times = times }

  func next() -> Timestamp {
    lock.withLock { Timestamp(rawValue: times.count > 1 ? times.removeFirst() : times[0]) }
  }
}
