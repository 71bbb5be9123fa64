// The ledger's types: accounts, what happens to them, and the rule that none goes below zero.

import Hindsight

/// A ledger of accounts.
struct Bank: Reducer {
  struct State: Codable, Sendable {
    var balances: [String: Int] = [:]
  }

  enum Event: Codable, Sendable {
    case deposited(account: String, cents: Int)
    case transferred(from: String, to: String, cents: Int)
  }

  struct Overdraft: Error, CustomStringConvertible {
    let account: String
    var description: String { "\(account) hasn't got that much" }
  }

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: Event) {
    switch event {
    case .deposited(let account, let cents):
      state.balances[account, default: 0] += cents
    case .transferred(let from, let to, let cents):
      state.balances[from, default: 0] -= cents
      state.balances[to, default: 0] += cents
    }
  }

  func validate(_ event: Event, in state: State) throws {
    if case .transferred(let from, _, let cents) = event,
      state.balances[from, default: 0] < cents
    {
      throw Overdraft(account: from)
    }
  }
}
