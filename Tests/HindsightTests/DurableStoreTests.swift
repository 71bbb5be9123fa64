// The store on the real log: what it gives back when it is opened again.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

struct Ledger: Reducer {
  struct State: Codable, Sendable, Equatable {
    var balances: [String: Int] = [:]
    var eventCount = 0
  }

  enum Event: Codable, Sendable, Equatable {
    case deposited(account: String, cents: Int)
    case withdrawn(account: String, cents: Int)
  }

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: Event) {
    state.eventCount += 1
    switch event {
    case .deposited(let account, let cents): state.balances[account, default: 0] += cents
    case .withdrawn(let account, let cents): state.balances[account, default: 0] -= cents
    }
  }
}

/// A directory that is removed with whatever a test put there, after its store was verified.
func withStoreDirectory(_ body: (String) async throws -> Void) async throws {
  let parent = FileManager.default.temporaryDirectory.appendingPathComponent(
    "hindsight-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: parent) }
  let path = parent.appendingPathComponent("test.hindsight").path
  try await body(path)
  let report = try LogVerifier(path: path).verify()
  #expect(report.findings.isEmpty)
}

@Suite struct DurableStoreTests {
  @Test func `a store comes back as it was closed`() async throws {
    try await withStoreDirectory { path in
      let store = try await Store(Ledger(), at: path)
      #expect(store.recovery.index == 0)
      try await store.dispatch(.deposited(account: "alice", cents: 100))
      try await store.dispatch(contentsOf: [
        .withdrawn(account: "alice", cents: 30), .deposited(account: "bob", cents: 30),
      ])
      let state = store.current.state
      try await store.close()

      let again = try await Store(Ledger(), at: path)
      #expect(again.current.state == state)
      #expect(again.current.index == 3)
      #expect(again.recovery.replayedEventCount == 3)
      #expect(again.genesis.storeID == store.genesis.storeID)
      try await again.close()
    }
  }

  @Test func `a snapshot shortens the recovery, and deleting all of them changes nothing`()
    async throws
  {
    try await withStoreDirectory { path in
      let store = try await Store(
        Ledger(), at: path, options: StoreOptions(snapshotPolicy: .never))
      for cents in 1...10 { try await store.dispatch(.deposited(account: "a", cents: cents)) }
      #expect(try await store.snapshot() == 10)
      for cents in 1...5 { try await store.dispatch(.withdrawn(account: "a", cents: cents)) }
      let state = store.current.state
      try await store.close()

      let fromSnapshot = try await Store(Ledger(), at: path)
      #expect(fromSnapshot.recovery.snapshotIndex == 10)
      #expect(fromSnapshot.recovery.replayedEventCount == 5)
      #expect(fromSnapshot.current.state == state)
      try await fromSnapshot.close()

      for name in ["snapshots.mdb", "snapshots.mdb-lock"] {
        try? FileManager.default.removeItem(atPath: path + "/" + name)
      }
      let fromLog = try await Store(Ledger(), at: path)
      #expect(fromLog.recovery.snapshotIndex == nil)
      #expect(fromLog.recovery.replayedEventCount == 15)
      #expect(fromLog.current.state == state)
      try await fromLog.close()
    }
  }

  @Test func `snapshots come by themselves and any index is reached with and without them`()
    async throws
  {
    try await withStoreDirectory { path in
      let store = try await Store(
        Ledger(), at: path, options: StoreOptions(snapshotPolicy: .every(7)))
      var states = [store.current.state]
      for cents in 1...100 {
        try await store.dispatch(.deposited(account: "\(cents % 9)", cents: cents))
        states.append(store.current.state)
      }
      #expect(store.lastSnapshotError == nil)
      try await store.close()
      let timeline = try Timeline(Ledger(), at: path)
      for index in [100, 3, 99, 3, 2, 4, 50, 0, 49, 51, 100, 1] {
        #expect(try await timeline.state(at: EventIndex(index)) == states[index])
      }
      let error = await #expect(throws: HindsightError.self) { try await timeline.state(at: 101) }
      #expect(error?.code == .indexBeyondHead)
      #expect(error?.index == 101)
      try timeline.close()
    }
  }
}
