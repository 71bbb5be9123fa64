// An example app: a ledger that many clients write to at once, and that survives being killed.
//
//   ledger run STORE [EVENTS]   dispatches until that many events are in the store (default: on and
//                               on), and prints an index only after its event is durable
//   ledger VERB STORE …         every verb of the command line, for the ledger's own types

import Foundation
import Hindsight
import HindsightTool

@main struct Ledger {
  private static let accounts = ["alice", "bob", "carol", "dave"]
  private static let clientCount = 64

  static func main() async {
    let words = CommandLine.arguments
    guard words.count > 1, words[1] == "run" else { await HindsightTool.main(Bank()) }
    guard words.count > 2, let limit = words.count > 3 ? EventIndex(words[3]) : .max else {
      fail("usage: ledger run STORE [EVENTS]")
    }
    do { try await run(at: words[2], until: limit) } catch { fail("ledger: \(error)") }
  }

  private static func run(at path: String, until limit: EventIndex) async throws {
    let store = try await Store(Bank(), at: path)
    let recovery = store.recovery
    say(
      "opened \(path) at index \(recovery.index): \(recovery.replayedEventCount) events replayed "
        + "after \(recovery.snapshotIndex.map { "the snapshot at \($0)" } ?? "no snapshot"), in "
        + "\(recovery.duration)")
    try await withThrowingTaskGroup(of: Void.self) { clients in
      for _ in 0..<clientCount {
        clients.addTask { try await serve(store, until: limit) }
      }
      try await clients.waitForAll()
    }
    let (state, index) = store.current
    say("index \(index), \(state.balances.values.reduce(0, +)) cents in all")
    try await store.close()
  }

  /// One client: deposits and transfers, each awaited.
  private static func serve(_ store: Store<Bank>, until limit: EventIndex) async throws {
    while store.read({ _, index in index < limit }) {
      let account = accounts.randomElement() ?? ""
      let cents = Int.random(in: 1...1_000)
      do {
        let receipt: Receipt
        if Bool.random() {
          receipt = try await store.dispatch(.deposited(account: account, cents: cents))
        } else {
          let other = accounts.randomElement() ?? ""
          receipt = try await store.dispatch(
            .transferred(from: account, to: other, cents: cents))
        }
        say("acknowledged \(receipt.index)")
      } catch let error as HindsightError where error.code == .eventRefused {
        // Not enough money: the bank's rule, and nothing was appended.
      }
    }
  }

  /// Writes a line at once, so that it stands even if we are killed now.
  private static func say(_ line: String) {
    FileHandle.standardOutput.write(Data("\(line)\n".utf8))
  }

  private static func fail(_ message: String) -> Never {
    FileHandle.standardError.write(Data("\(message)\n".utf8))
    exit(1)
  }
}
