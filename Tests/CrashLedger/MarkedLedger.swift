// The app that the crash tests run: a ledger whose state depends on every event and their order.
// It always holds: an event's content follows from its mark, so that a wrong one is recognised.

package import HindsightCore

/// A ledger whose events are marked.
package struct MarkedLedger: Reducer {
  package struct State: Codable, Sendable, Equatable {
    package var eventCount = 0
    package var balances: [String: Int] = [:]
    /// Folds all marks and indexes in their order.
    package var history: UInt64 = 0
  }

  package enum Event: Codable, Sendable, Equatable {
    case moved(mark: String, account: String, cents: Int, note: String)
    /// Decided with the state: how many events it had seen.
    case decided(mark: String, seenCount: Int)
  }

  package init() {}

  package var initialState: State { State() }

  package func reduce(into state: inout State, _ event: Event, context: EventContext) {
    state.eventCount += 1
    switch event {
    case .moved(_, let account, let cents, _): state.balances[account, default: 0] += cents
    case .decided(_, let seenCount): state.balances["decided", default: 0] += seenCount
    }
    state.history = (state.history ^ (event.mark?.hash ?? 0)) &* 0x9e37_79b9_7f4a_7c15
    state.history = (state.history ^ context.index) &* 0xff51_afd7_ed55_8ccd
  }
}

extension MarkedLedger.Event {
  /// The event of a mark that isn't decided with the state.
  package static func moved(_ mark: EventMark) -> Self {
    let hash = mark.hash
    // Mostly small; some have pages of their own.
    let noteSize = hash % 16 == 0 ? Int(hash >> 8 % 6_000) : Int(hash >> 8 % 60)
    let letter = String(UnicodeScalar(UInt8(ascii: "a") + UInt8(hash >> 32 % 26)))
    return .moved(
      mark: mark.text, account: "account \(hash >> 40 % 40)",
      cents: Int(hash >> 48 % 2_000) - 1_000,
      note: String(repeating: letter, count: noteSize))
  }

  /// Where the event says it comes from, nil where that isn't a mark.
  package var mark: EventMark? {
    switch self {
    case .moved(let mark, _, _, _), .decided(let mark, _): EventMark(mark)
    }
  }
}
