// Events that an app can't read any more, or must not append: typed errors with the place, and
// nothing is lost or appended.

import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

/// The ledger as a later app might define it, under the same name; its events are its own.
private struct LaterLedger<Event: Codable & Sendable>: Reducer {
  var name: String { "Ledger" }
  var initialState: Int { 0 }
  func reduce(into state: inout Int, _ event: Event) { state += 1 }
}

/// The withdrawals are gone.
private enum DepositsOnly: Codable, Sendable { case deposited(account: String, cents: Int) }

/// Withdrawals have something more, which old ones haven't.
private enum WithReason: Codable, Sendable {
  case deposited(account: String, cents: Int)
  case withdrawn(account: String, cents: Int, reason: String)
}

/// Cents have become text.
private enum WithText: Codable, Sendable {
  case deposited(account: String, cents: Int)
  case withdrawn(account: String, cents: String)
}

/// Something more is optional, and a case is new: old events still decode.
private enum WithMore: Codable, Sendable {
  case deposited(account: String, cents: Int, note: String?)
  case withdrawn(account: String, cents: Int)
  case closed(account: String)
}

/// A ledger that refuses what isn't there, and one name altogether.
private struct StrictLedger: Reducer {
  struct Overdraft: Error, Equatable { let missing: Int }

  var name: String { "Ledger" }
  var initialState: Ledger.State { Ledger.State() }

  func reduce(into state: inout Ledger.State, _ event: Ledger.Event) {
    Ledger().reduce(into: &state, event)
  }

  func validate(_ event: Ledger.Event, in state: Ledger.State) throws {
    if case .withdrawn(let account, let cents) = event {
      let balance = state.balances[account, default: 0]
      if balance < cents { throw Overdraft(missing: cents - balance) }
    }
  }
}

@Suite struct EventErrorTests {
  /// Three deposits, a withdrawal, a deposit.
  private func makeHistory(at path: String) async throws {
    let store = try await Store(Ledger(), at: path, options: .withoutSnapshots)
    for cents in 1...3 { try await store.dispatch(.deposited(account: "a", cents: cents)) }
    try await store.dispatch(contentsOf: [
      .withdrawn(account: "a", cents: 4), .deposited(account: "a", cents: 5),
    ])
    try await store.close()
  }

  private func expectUnreadable<Event: Codable & Sendable>(
    _ code: HindsightError.Code, as type: Event.Type, type name: String = "withdrawn"
  ) async throws {
    try await withStoreDirectory { path in
      try await makeHistory(at: path)
      for options in [StoreOptions(), .readOnly] {
        let error = await expectError(code) {
          try await Store(LaterLedger<Event>(), at: path, options: options)
        }
        #expect(error?.index == 4)
        #expect(error?.eventType == name)
        #expect(error?.cause is DecodingError)
        #expect(error?.message.contains("4") == true && error?.message.contains(name) == true)
      }
      // Travelling reaches what is before it, and says the same of what isn't.
      let timeline = try Timeline(LaterLedger<Event>(), at: path)
      #expect(try await timeline.state(at: 3) == 3)
      let error = await expectError(code) { try await timeline.state(at: 5) }
      #expect(error?.index == 4)
      try timeline.close()
      // Nothing is lost: the app that wrote it goes on.
      let store = try await Store(Ledger(), at: path)
      #expect(store.current.state == Ledger.State(balances: ["a": 7], eventCount: 5))
      #expect(try await store.dispatch(.deposited(account: "a", cents: 1)).index == 6)
      try await store.close()
    }
  }

  @Test func `a type that the app no longer knows is named, with its index`() async throws {
    try await expectUnreadable(.unknownEventType, as: DepositsOnly.self)
  }

  @Test func `an event that lacks what the app needs is named, with its index and cause`()
    async throws
  {
    try await expectUnreadable(.undecodableEvent, as: WithReason.self)
  }

  @Test func `an event of another form is named, with its index and cause`() async throws {
    try await expectUnreadable(.undecodableEvent, as: WithText.self)
  }

  @Test func `an app that knows more reads what is there`() async throws {
    try await withStoreDirectory { path in
      try await makeHistory(at: path)
      let store = try await Store(LaterLedger<WithMore>(), at: path)
      #expect(store.current.state == 5)
      try await store.dispatch(.closed(account: "a"))
      try await store.close()
      let error = await expectError(.unknownEventType) { try await Store(Ledger(), at: path) }
      #expect(error?.index == 6)
      #expect(error?.eventType == "closed")
    }
  }

  @Test func `an event that validation refuses is answered with its reason and isn't appended`()
    async throws
  {
    try await withStoreDirectory { path in
      let store = try await Store(StrictLedger(), at: path)
      try await store.dispatch(.deposited(account: "a", cents: 10))
      let error = await expectError(.eventRefused) {
        try await store.dispatch(.withdrawn(account: "a", cents: 11))
      }
      #expect(error?.cause as? StrictLedger.Overdraft == StrictLedger.Overdraft(missing: 1))
      #expect(error?.eventType == "withdrawn")
      let batchError = await expectError(.eventRefused) {
        try await store.dispatch(contentsOf: [
          .withdrawn(account: "a", cents: 6), .withdrawn(account: "a", cents: 6),
        ])
      }
      #expect(batchError?.batchPosition == 1)
      #expect(batchError?.cause as? StrictLedger.Overdraft == StrictLedger.Overdraft(missing: 2))
      await expectError(.eventRefused) {
        try await store.transact { _ in [.withdrawn(account: "b", cents: 1)] }
      }
      await #expect(throws: StrictLedger.Overdraft(missing: 9)) {
        try await store.transact { _ in throw StrictLedger.Overdraft(missing: 9) }
      }
      #expect(store.current.state == Ledger.State(balances: ["a": 10], eventCount: 1))
      #expect(try await store.dispatch(.withdrawn(account: "a", cents: 10)).index == 2)
      try await store.close()

      // The log has nothing of what was refused, and replaying doesn't ask validation.
      let report = try LogVerifier(path: path).verify()
      #expect(report.eventCount == 2)
      let again = try await Store(Ledger(), at: path)
      try await again.dispatch(.withdrawn(account: "a", cents: 100))
      try await again.close()
      let strict = try await Store(StrictLedger(), at: path)
      #expect(strict.current.state.balances == ["a": -100])
      try await strict.close()
    }
  }

  @Test func `refused events among accepted ones leave no gap`() async throws {
    try await withStoreDirectory { path in
      let store = try await Store(StrictLedger(), at: path)
      let outcomes = try await withThrowingTaskGroup(of: EventIndex?.self) { group in
        for number in 0..<300 {
          group.addTask {
            do {
              let event: Ledger.Event =
                number % 3 == 0
                ? .withdrawn(account: "none", cents: 1) : .deposited(account: "a", cents: 1)
              return try await store.dispatch(event).index
            } catch let error as HindsightError where error.code == .eventRefused {
              return nil
            }
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(outcomes.count { $0 == nil } == 100)
      #expect(outcomes.compactMap(\.self).sorted() == Array(1...200))
      #expect(store.current.state.balances == ["a": 200])
      try await store.close()
    }
  }
}
