// The reducers that the core's tests use.

import HindsightCore

/// A ledger with a rule: nothing can be withdrawn that isn't there.
struct Bank: Reducer {
  struct State: Codable, Sendable, Equatable {
    var balances: [String: Int] = [:]
    var eventCount = 0
  }

  enum Event: Codable, Sendable, Equatable {
    case deposited(account: String, cents: Int)
    case withdrawn(account: String, cents: Int)
  }

  struct Overdraft: Error, Equatable {}

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: Event) {
    state.eventCount += 1
    switch event {
    case .deposited(let account, let cents): state.balances[account, default: 0] += cents
    case .withdrawn(let account, let cents): state.balances[account, default: 0] -= cents
    }
  }

  func validate(_ event: Event, in state: State) throws {
    if case .withdrawn(let account, let cents) = event,
      state.balances[account, default: 0] < cents
    {
      throw Overdraft()
    }
  }
}

/// Keeps what it was given, in order, with the context.
struct Journal: Reducer {
  struct Entry: Codable, Sendable, Equatable {
    var index: EventIndex
    var text: String
    var recordedTime: Timestamp
    var occurredTime: Timestamp?
    var tags: [String]
  }

  enum Event: Codable, Sendable, Equatable { case noted(text: String) }

  var initialState: [Entry] { [] }

  func reduce(into state: inout [Entry], _ event: Event, context: EventContext) {
    switch event {
    case .noted(let text):
      state.append(
        Entry(
          index: context.index, text: text, recordedTime: context.recordedTime,
          occurredTime: context.occurredTime, tags: context.metadata.tags))
    }
  }
}
