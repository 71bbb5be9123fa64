// What a store does with an event of another process that it can't read.

import Hindsight
import HindsightTimeTravel
import Testing

@Suite struct ForeignEventTests {
  private typealias Fixture = (
    directory: TestDirectory, older: Store<OlderBank>, newer: Store<Bank>
  )

  /// Two stores of one log, the older of which doesn't know all events of the newer.
  private func open() async throws -> Fixture {
    let directory = try TestDirectory()
    let newer = try await Store(Bank(), at: directory.store)
    for step in 1...3 { try await newer.dispatch(.noted(text: "", by: 1, step: step)) }
    return (directory, try await Store(OlderBank(), at: directory.store), newer)
  }

  /// Appends a commit that the older store can read, and one that it can't.
  private func append(_ newer: Store<Bank>) async throws {
    try await newer.dispatch(.noted(text: "", by: 1, step: 4))
    try await newer.dispatch(contentsOf: [
      .noted(text: "", by: 1, step: 5), .deposited(account: "new", cents: 1),
      .noted(text: "", by: 1, step: 6),
    ])
  }

  private func close(_ fixture: Fixture) async throws {
    try await fixture.older.close()
    try await fixture.newer.close()
    try expectSound(fixture.directory.store)
  }

  @Test func `an event that it can't read makes a store read-only, naming the event`()
    async throws
  {
    let fixture = try await open()
    #expect(fixture.older.current.state == [1, 2, 3])
    try await append(fixture.newer)
    for _ in 0..<2 {
      let error = await expectError(.readOnly, index: 6) {
        try await fixture.older.dispatch(.noted(text: "", by: 2, step: 0))
      }
      #expect((error?.cause as? HindsightError)?.code == .unknownEventType)
      await expectError(.readOnly, index: 6) { try await fixture.older.transact { _ in [] } }
      await expectError(.readOnly, index: 6) { try await fixture.older.flush() }
    }
    // What it shows ends with a commit, not in the midst of one.
    let (state, index) = fixture.older.current
    #expect(state == [1, 2, 3, 4])
    #expect(index == 4)
    try await fixture.newer.dispatch(.noted(text: "", by: 1, step: 7))
    #expect(fixture.newer.current.index == 8)
    await expectError(.unknownEventType, index: 6) {
      try await Store(OlderBank(), at: fixture.directory.store)
    }
    let timeline = try Timeline(OlderBank(), at: fixture.directory.store)
    #expect(try await timeline.state(at: 5) == [1, 2, 3, 4, 5])
    await expectError(.unknownEventType, index: 6) { try await timeline.state(at: 7) }
    try timeline.close()
    try await close(fixture)
  }

  @Test func `who follows gets all that can be read, and then the reason`() async throws {
    let fixture = try await open()
    let store = fixture.older
    let events = Task {
      var indexes: [EventIndex] = []
      do {
        for try await stored in store.events() { indexes.append(stored.index) }
        return (indexes, HindsightError?.none)
      } catch {
        return (indexes, error as? HindsightError)
      }
    }
    let changes = Task {
      var last: [Int] = []
      for await change in store.changes(of: { $0 }) { last = change.value }
      return last
    }
    try await append(fixture.newer)
    let (indexes, error) = await events.value
    #expect(indexes == [1, 2, 3, 4])
    #expect(error?.code == .readOnly)
    #expect(error?.index == 6)
    #expect(await changes.value == [1, 2, 3, 4])
    try await close(fixture)
  }
}
