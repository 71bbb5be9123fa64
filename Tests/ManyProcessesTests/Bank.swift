// The app of these tests: a bank in which money is neither made nor lost, and whose withdrawals say
// what they were decided with.

import Hindsight

struct Bank: Reducer {
  struct State: Codable, Sendable, Equatable {
    var balances: [String: Int] = [:]
    var eventCount = 0
    /// Folds all events and indexes in their order.
    var history: UInt64 = 0

    var total: Int { balances.values.reduce(0, +) }
  }

  enum Event: Codable, Sendable, Equatable {
    case opened(cents: Int)
    /// Taken out of `common`; decided with a state that had seen so many events.
    case withdrawn(cents: Int, by: Int, seenCount: Int)
    case deposited(account: String, cents: Int)
    case noted(text: String, by: Int, step: Int)
  }

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: Event, context: EventContext) {
    state.eventCount += 1
    state.history = (state.history ^ context.index) &* 0xff51_afd7_ed55_8ccd
    switch event {
    case .opened(let cents): state.balances["common", default: 0] += cents
    case .withdrawn(let cents, let by, let seenCount):
      state.balances["common", default: 0] -= cents
      state.history ^= UInt64(by) << 32 ^ UInt64(seenCount)
    case .deposited(let account, let cents): state.balances[account, default: 0] += cents
    case .noted(let text, let by, let step):
      state.history ^= UInt64(text.utf8.count) << 48 ^ UInt64(by) << 32 ^ UInt64(step)
    }
  }
}

/// The same store's reducer as an older version of the app has it, which knows notes alone.
struct OlderBank: Reducer {
  enum Event: Codable, Sendable, Equatable {
    case noted(text: String, by: Int, step: Int)
  }

  var name: String { Bank().name }
  var eventTypeName: String { Bank().eventTypeName }
  var initialState: [Int] { [] }

  func reduce(into state: inout [Int], _ event: Event) {
    if case .noted(_, _, let step) = event { state.append(step) }
  }
}
