// The state isn't copied by dispatching, however large it is: counted, not timed.

import HindsightCore
import Synchronization
import Testing

/// A value that counts how often it had to be copied before a change.
struct CountedValue: Codable, Sendable, Equatable {
  static let copyCount = Atomic<Int>(0)

  private final class Storage: @unchecked Sendable {
    // Changed only where it is uniquely referenced.
    var sum: Int
    init(_ sum: Int) { self.sum = sum }
  }

  private var storage = Storage(0)

  var sum: Int { storage.sum }

  mutating func add(_ amount: Int) {
    if !isKnownUniquelyReferenced(&storage) {
      Self.copyCount.add(1, ordering: .relaxed)
      storage = Storage(storage.sum)
    }
    storage.sum += amount
  }

  init() {}

  init(from decoder: any Decoder) throws {
    storage = Storage(try decoder.singleValueContainer().decode(Int.self))
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(sum)
  }

  static func == (left: Self, right: Self) -> Bool { left.sum == right.sum }
}

struct CountedSum: Reducer {
  struct State: Codable, Sendable {
    var value = CountedValue()
    var eventCount = 0
  }

  enum Event: Codable, Sendable { case added(amount: Int) }

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: Event) {
    switch event {
    case .added(let amount):
      state.value.add(amount)
      state.eventCount += 1
    }
  }
}

// One after the other, as the count is shared.
@Suite(.serialized) struct StateCopyTests {
  private func copies(of body: () async throws -> Void) async rethrows -> Int {
    let before = CountedValue.copyCount.load(ordering: .relaxed)
    try await body()
    return CountedValue.copyCount.load(ordering: .relaxed) - before
  }

  @Test func `dispatching copies nothing of the state`() async throws {
    let store = try await Store(CountedSum(), log: MemoryLog(reducerName: "CountedSum"))
    let count = try await copies {
      for amount in 1...500 { try await store.dispatch(.added(amount: amount)) }
      try await store.dispatch(contentsOf: (1...500).map { .added(amount: $0) })
      for amount in 1...100 { try await store.transact { _ in [.added(amount: amount)] } }
    }
    #expect(count == 0)
    #expect(store.read { state, _ in state.value.sum } == 2 * 125_250 + 5_050)
    try await store.close()
  }

  @Test func `a subscriber to a part of the state makes no copies`() async throws {
    let store = try await Store(CountedSum(), log: MemoryLog(reducerName: "CountedSum"))
    let reader = Task {
      var last = 0
      for await change in store.changes(of: { $0.eventCount }) { last = change.value }
      return last
    }
    let count = try await copies {
      for amount in 1...500 { try await store.dispatch(.added(amount: amount)) }
    }
    #expect(count == 0)
    try await store.close()
    #expect(await reader.value <= 500)
  }

  @Test func `a snapshot costs one copy at most, also while it is being written`() async throws {
    let storage = SlowSnapshots()
    let store = try await Store(
      CountedSum(), log: MemoryLog(reducerName: "CountedSum"), snapshots: storage,
      options: StoreOptions(snapshotPolicy: .every(50)))
    let count = try await copies {
      for amount in 1...500 { try await store.dispatch(.added(amount: amount)) }
      storage.release()
    }
    try await store.close()
    #expect(storage.savedCount >= 1)
    #expect(count <= storage.savedCount)
    #expect(count >= 1, "the count must be able to see a copy")
  }

  @Test func `whoever holds the current state costs one copy`() async throws {
    let store = try await Store(CountedSum(), log: MemoryLog(reducerName: "CountedSum"))
    let held = store.current.state
    let count = try await copies {
      for amount in 1...100 { try await store.dispatch(.added(amount: amount)) }
    }
    #expect(held.value.sum == 0)
    #expect(count == 1)
    try await store.close()
  }
}

/// Holds each snapshot up until it is released.
private final class SlowSnapshots: SnapshotStorage, @unchecked Sendable {
  // Protected by the lock.
  private let lock = Lock()
  private var isReleased = false
  private var saved: [EventIndex] = []

  var savedCount: Int { lock.withLock { saved.count } }

  func release() {
    lock.lock()
    isReleased = true
    lock.broadcast()
    lock.unlock()
  }

  func save(_ header: SnapshotHeader, state: [UInt8]) throws {
    lock.lock()
    while !isReleased { lock.wait() }
    saved.append(header.index)
    lock.unlock()
  }

  func summaries(reducerName: String, reducerVersion: UInt64) throws -> [SnapshotSummary] { [] }
  func header(
    reducerName: String, reducerVersion: UInt64, index: EventIndex
  ) throws -> SnapshotHeader? { nil }
  func state(of header: SnapshotHeader) throws -> [UInt8] { [] }
  func remove(reducerName: String, reducerVersion: UInt64, index: EventIndex) throws {}
  func close() throws {}
}
