// Damage, as an app and who looks into its history meet it: what is before it stays readable, and
// what isn't is an error with its index, or made again by a replay.

import Foundation
import Hindsight
import HindsightLMDB
import HindsightLog
import HindsightTimeTravel
import Testing

@Suite struct DamageTests {
  /// Makes a store of twelve events, damages it, and looks at it.
  private func damaged(
    snapshotAt snapshot: Int? = nil, _ damage: (TestDirectory) async throws -> Void,
    _ body: (TestDirectory) async throws -> Void
  ) async throws {
    let directory = try TestDirectory()
    try await makeNotes(at: directory.store, count: 12, snapshotAt: snapshot)
    try await damage(directory)
    try await body(directory)
  }

  /// Expects that all states before an index can be had, and none from it on.
  private func expectUnreadable(
    _ path: String, from index: EventIndex, _ code: HindsightError.Code
  ) async throws {
    let sound = try TestDirectory()
    try await makeNotes(at: sound.store, count: 12)
    let right = try Timeline(Bank(), at: sound.store)
    let timeline = try Timeline(Bank(), at: path)
    for place in (0..<index).reversed() {
      #expect(try await timeline.state(at: place) == right.state(at: place))
    }
    for place in index...12 {
      await expectError(code, index: index) { try await timeline.state(at: place) }
    }
    var last: EventIndex = 0
    await expectError(code, index: index) {
      // Events are read a few at a time: what is before the damage needn't all come.
      for try await stored in timeline.events() { last = stored.index }
    }
    #expect(last < index)
    for try await stored in timeline.events(from: index + 1) {
      #expect(stored.index > index)
      break
    }
    try timeline.close()
    try right.close()
    for options in [StoreOptions(), .readOnly] {
      await expectError(code, index: index) { try await Store(Bank(), at: path, options: options) }
    }
    let findings = try LogVerifier(path: path).verify().findings
    #expect(findings.contains { $0.index == index })
  }

  @Test(arguments: [1, 6, 12] as [EventIndex])
  func `a flipped bit in an event is an error with its index`(index: EventIndex) async throws {
    try await damaged { directory in
      try editCommits(of: directory) { transaction, table in
        var bytes = try #require(
          try transaction.value(table, .number(index))?.withUnsafeBytes { Array($0) })
        let text = Array("note \(index)".utf8)
        let place = try #require(
          bytes.indices.first { bytes[$0...].starts(with: text) }, "the event's own text")
        bytes[place] ^= 4
        try transaction.put(table, .number(index), bytes)
      }
    } _: { directory in
      try await expectUnreadable(directory.store, from: index, .corrupt)
    }
  }

  @Test(arguments: [1, 6] as [EventIndex])
  func `a commit that is missing is an error with its index`(index: EventIndex) async throws {
    try await damaged { directory in
      try editCommits(of: directory) { transaction, table in
        let wasThere = try transaction.remove(table, .number(index))
        #expect(wasThere)
      }
    } _: { directory in
      try await expectUnreadable(directory.store, from: index, .missingCommit)
    }
  }

  @Test func `a snapshot behind the damage opens the store, and what is before it is readable`()
    async throws
  {
    try await damaged(snapshotAt: 9) { directory in
      try editCommits(of: directory) { transaction, table in
        let wasThere = try transaction.remove(table, .number(6))
        #expect(wasThere)
      }
    } _: { directory in
      let timeline = try Timeline(Bank(), at: directory.store)
      #expect(try await timeline.state(at: 5).eventCount == 5)
      for index in 6...8 as ClosedRange<EventIndex> {
        await expectError(.missingCommit, index: 6) { try await timeline.state(at: index) }
      }
      for index in 9...12 as ClosedRange<EventIndex> {
        #expect(try await timeline.state(at: index).eventCount == Int(index))
      }
      try timeline.close()
    }
  }

  @Test(arguments: ["/snapshots.mdb", "/snapshots.mdb-lock", "/log.mdb-lock"])
  func `metadata that were emptied are made anew`(name: String) async throws {
    try await damaged(snapshotAt: 9) { directory in
      #expect(truncate(directory.store + name, 0) == 0)
    } _: { directory in
      let timeline = try Timeline(Bank(), at: directory.store)
      #expect(try await timeline.state(at: 12).eventCount == 12)
      try timeline.close()
      let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
      #expect(store.current.index == 12)
      #expect(store.recovery.snapshotIndex == (name == "/snapshots.mdb" ? nil : 9))
      #expect(try await store.dispatch(.noted(text: "", by: 0, step: 13)).index == 13)
      #expect(try await store.snapshot() == 13)
      try await store.close()
      try expectSound(directory.store)
    }
  }

  @Test func `a log that was emptied is never taken for a new one`() async throws {
    try await damaged(snapshotAt: 9) { directory in
      #expect(truncate(directory.log, 0) == 0)
    } _: { directory in
      await expectError(.notAStore) { try Timeline(Bank(), at: directory.store) }
      await expectError(.notAStore) {
        try await Store(Bank(), at: directory.store, options: .readOnly)
      }
      await expectError(.notAStore) { try await Store(Bank(), at: directory.store) }
      let size = try FileManager.default.attributesOfItem(atPath: directory.log)[.size] as? Int
      #expect(size == 0, "what is left is left as it is")
    }
  }

  @Test func `snapshots of another history and ahead of the log are passed over`() async throws {
    let other = try TestDirectory()
    try await makeNotes(at: other.store, count: 20, snapshotAt: 20)
    for snapshotIndex in [5, 20] {
      let donor = try TestDirectory()
      try await makeNotes(at: donor.store, count: 20, snapshotAt: snapshotIndex)
      try await damaged { directory in
        try? FileManager.default.removeItem(atPath: directory.store + "/snapshots.mdb")
        try FileManager.default.copyItem(
          atPath: donor.store + "/snapshots.mdb", toPath: directory.store + "/snapshots.mdb")
      } _: { directory in
        let timeline = try Timeline(Bank(), at: directory.store)
        for index in [12, 5, 3] as [EventIndex] {
          #expect(try await timeline.state(at: index).eventCount == Int(index))
        }
        try timeline.close()
        let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
        #expect(store.recovery.snapshotIndex == nil)
        #expect(store.current.index == 12)
        #expect(store.recovery.ignoredSnapshots.count == 1)
        try await store.close()
      }
    }
  }

  /// Changes a closed store's commits in one transaction.
  private func editCommits(
    of directory: TestDirectory, _ edit: (inout WriteTransaction, Table) throws -> Void
  ) throws {
    let environment = try Environment.open(directory.log)
    let table = try #require(try environment.table(named: "commits"))
    var transaction = try environment.beginWrite()
    try edit(&transaction, table)
    try transaction.commit()
  }
}
