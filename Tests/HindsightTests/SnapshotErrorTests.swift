// Snapshots that can't be used: the state is the same without them, and the recovery says why.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

/// The ledger with another version or another beginning.
private struct OtherLedger: Reducer {
  var version: UInt64 = 1
  var firstBalance = 0

  var name: String { "Ledger" }
  var initialState: Ledger.State {
    Ledger.State(balances: firstBalance == 0 ? [:] : ["alice": firstBalance])
  }

  func reduce(into state: inout Ledger.State, _ event: Ledger.Event) {
    Ledger().reduce(into: &state, event)
  }
}

@Suite struct SnapshotErrorTests {
  private let sum = (1...10).reduce(0, +)

  private func snapshotsFile(_ path: String) -> URL {
    URL(fileURLWithPath: path + "/snapshots.mdb")
  }

  /// Expects that a store has the state of ten deposits, replayed from its beginning.
  private func expectReplayed(
    _ reducer: OtherLedger = OtherLedger(), at path: String, isReadOnly: Bool
  ) async throws -> [IgnoredSnapshot] {
    let store = try await Store(
      reducer, at: path, options: StoreOptions(snapshotPolicy: .never, isReadOnly: isReadOnly))
    #expect(store.recovery.snapshotIndex == nil)
    #expect(store.recovery.replayedEventCount == 10)
    #expect(store.current.state.eventCount == 10)
    #expect(store.current.state.balances == ["alice": sum + reducer.firstBalance])
    try await store.close()
    return store.recovery.ignoredSnapshots
  }

  @Test func `a snapshot of another initial state is ignored, and the recovery says why`()
    async throws
  {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 10, snapshotAt: 7)
      let ignored = try await expectReplayed(
        OtherLedger(firstBalance: 5), at: path, isReadOnly: true)
      #expect(ignored.map(\.index) == [7])
      #expect(ignored.first?.reason.contains("initial state") == true)
      let timeline = try Timeline(OtherLedger(firstBalance: 5), at: path)
      #expect(try await timeline.state(at: 8).balances == ["alice": 5 + 36])
      try timeline.close()
    }
  }

  @Test func `a snapshot of another version of the reducer isn't used`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 10, snapshotAt: 7)
      for version: UInt64 in [0, 2, .max] {
        _ = try await expectReplayed(OtherLedger(version: version), at: path, isReadOnly: true)
      }
      // It stays for those of its own version.
      let store = try await Store(OtherLedger(), at: path)
      #expect(store.recovery.snapshotIndex == 7)
      try await store.close()
    }
  }

  @Test func `a damaged snapshot is ignored, and an older one is used`() async throws {
    try await withDirectory { directory in
      let path = directory + "/a.hindsight"
      let store = try await Store(Ledger(), at: path, options: .withoutSnapshots)
      for cents in 1...10 {
        try await store.dispatch(.deposited(account: "alice", cents: cents))
        if cents == 4 || cents == 7 { try await store.snapshot() }
      }
      try await store.close()
      // The newer state, but not its header: small states are stored as they are.
      var bytes = try Data(contentsOf: snapshotsFile(path))
      let newer = try CBOREncoder().encode(Ledger.State(balances: ["alice": 28], eventCount: 7))
      let older = Data(newer).replacing(Data([0x18, 28]), with: Data([0x18, 29]))
      var places = 0
      while let range = bytes.range(of: Data(newer)) {
        bytes.replaceSubrange(range, with: older)
        places += 1
      }
      #expect(places > 0)
      try bytes.write(to: snapshotsFile(path))
      let again = try await Store(Ledger(), at: path)
      #expect(again.recovery.snapshotIndex == 4)
      #expect(again.recovery.ignoredSnapshots.map(\.index) == [7])
      #expect(again.current.state.balances == ["alice": sum])
      try await again.close()
    }
  }

  @Test func `snapshots that are garbage cost a replay, are reported, and are made anew`()
    async throws
  {
    let noise = Data((0..<40_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) })
    let kinds: [(String, @Sendable (Data) -> Data)] = [
      ("text", { _ in Data("not snapshots".utf8) }), ("noise", { _ in noise }),
      ("zeros", { Data(count: $0.count) }), ("cut to a page", { $0.prefix(4_096) }),
      ("cut behind the meta pages", { $0.prefix(8_192) }),
      ("noise behind the meta pages", { $0.prefix(8_192) + noise.prefix($0.count - 8_192) }),
    ]
    for (name, damage) in kinds {
      try await withStoreDirectory { path in
        try await makeLedger(at: path, count: 10, snapshotAt: 7)
        let damaged = damage(try Data(contentsOf: snapshotsFile(path)))
        try damaged.write(to: snapshotsFile(path))
        let seen = try await expectReplayed(at: path, isReadOnly: true)
        #expect(seen.first?.reason.isEmpty == false, "\(name)")
        #expect(try Data(contentsOf: snapshotsFile(path)) == damaged, "\(name)")
        let healed = try await expectReplayed(at: path, isReadOnly: false)
        #expect(healed.first?.reason.isEmpty == false, "\(name)")

        let store = try await Store(Ledger(), at: path)
        #expect(store.recovery.ignoredSnapshots.isEmpty, "\(name)")
        #expect(try await store.snapshot() == 10)
        try await store.close()
        let again = try await Store(Ledger(), at: path)
        #expect(again.recovery.snapshotIndex == 10, "\(name)")
        try await again.close()
      }
    }
  }

  @Test func `a snapshot ahead of its log is never used`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 10)
      try await withDirectory { directory in
        // The log of one store beside the snapshots of one that went on further.
        let longer = directory + "/longer.hindsight"
        try FileManager.default.copyItem(atPath: path, toPath: longer)
        let store = try await Store(Ledger(), at: longer)
        try await store.dispatch(.deposited(account: "alice", cents: 1_000))
        #expect(try await store.snapshot() == 11)
        try await store.close()
        for suffix in ["", "-lock"] {
          let target = path + "/snapshots.mdb" + suffix
          try? FileManager.default.removeItem(atPath: target)
          if suffix.isEmpty {
            try FileManager.default.copyItem(atPath: longer + "/snapshots.mdb", toPath: target)
          }
        }
      }
      let ignored = try await expectReplayed(at: path, isReadOnly: false)
      #expect(ignored.map(\.index) == [11])
      #expect(ignored.first?.reason.contains("ahead of log") == true)
      // The same index with another event: the snapshot is of another history then.
      let store = try await Store(Ledger(), at: path, options: .withoutSnapshots)
      try await store.dispatch(.deposited(account: "alice", cents: 1))
      try await store.close()
      let again = try await Store(Ledger(), at: path, options: .withoutSnapshots)
      #expect(again.recovery.ignoredSnapshots.map(\.index) == [11])
      #expect(again.recovery.ignoredSnapshots.first?.reason.contains("another history") == true)
      #expect(again.current.state.balances == ["alice": sum + 1])
      #expect(try await again.snapshot() == 11)
      try await again.close()
    }
  }
}
