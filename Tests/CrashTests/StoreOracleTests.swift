// The oracle of the kill tests finds what it is there to find, and accepts what is right.

import CrashHarness
import CrashLedger
import Foundation
import Hindsight
import Testing

@Suite struct StoreOracleTests {
  /// A store of batches of events, and an oracle that was told of acknowledgements.
  private func problems(
    _ batches: [[EventMark]], acknowledged: [(EventMark, EventIndex)]
  ) async throws -> [String] {
    let directory = try TestDirectory()
    let path = directory.path + "/a.hindsight"
    let store = try await Store(MarkedLedger(), at: path)
    for batch in batches { try await store.dispatch(contentsOf: batch.map { .moved($0) }) }
    try await store.close()
    var oracle = StoreOracle(path: path)
    oracle.add(acknowledged.map { .acknowledged($0, index: $1) })
    let (_, problems) = try oracle.check()
    return try await problems + oracle.checkState(usingSnapshots: false)
  }

  private func mark(_ task: Int, _ step: Int, of count: Int = 1) -> EventMark {
    EventMark(run: 1, task: task, step: step, partCount: count)
  }

  @Test func `a right history has no problems, with events in flight or without`() async throws {
    let batches = [[mark(0, 0)], mark(1, 0, of: 3).parts, [mark(0, 1)]]
    #expect(
      try await problems(
        batches, acknowledged: [(mark(0, 0), 1), (mark(1, 0, of: 3), 2), (mark(0, 1), 5)]
      ).isEmpty)
    #expect(try await problems(batches, acknowledged: [(mark(0, 0), 1)]).isEmpty)
  }

  @Test func `a lost event is found`() async throws {
    let found = try await problems(
      [[mark(0, 0)]], acknowledged: [(mark(0, 0), 1), (mark(0, 1), 2)])
    #expect(found.contains { $0.contains("the log ends at 1") })
  }

  @Test func `another event than the acknowledged one is found, in the log and in the state`()
    async throws
  {
    let found = try await problems([[mark(0, 0)]], acknowledged: [(mark(1, 0), 1)])
    #expect(found.contains { $0.contains("mark/1/1/0/0/1; was acknowledged there") })
    #expect(found.contains { $0.contains("without snapshots the state at 1") })
  }

  @Test func `a torn batch is found, at the end and before it`() async throws {
    let parts = Array(mark(0, 0, of: 3).parts.prefix(2))
    for batches in [[parts], [parts, [mark(1, 0)]]] {
      let found = try await problems(batches, acknowledged: [])
      #expect(found.contains { $0.contains("is torn") })
    }
    let tail = Array(mark(0, 0, of: 3).parts.suffix(2))
    let found = try await problems([tail], acknowledged: [])
    #expect(found.contains { $0.contains("doesn't follow the rest of its batch") })
  }

  @Test func `a missing, a doubled and an unsent dispatch of a task are found`() async throws {
    let missing = try await problems([[mark(0, 1)]], acknowledged: [])
    #expect(missing.contains { $0.contains("out of its task's order") })
    let doubled = try await problems([[mark(0, 0)], [mark(0, 0)]], acknowledged: [])
    #expect(doubled.contains { $0.contains("is there twice") })
    // Its task waits for the first before it sends the second, and was told of neither.
    let unsent = try await problems([[mark(0, 0)], [mark(0, 1)], [mark(0, 2)]], acknowledged: [])
    #expect(unsent.contains { $0.contains("was only told of -1") })
  }

  @Test func `a history that is another one than before is found`() async throws {
    let directory = try TestDirectory()
    var oracle = StoreOracle(path: directory.path + "/a.hindsight")
    for round in 0..<2 {
      let path = directory.path + "/\(round).hindsight"
      let store = try await Store(MarkedLedger(), at: path)
      try await store.dispatch(.moved(mark(round, 0)))
      try await store.close()
      try? FileManager.default.removeItem(atPath: oracle.path)
      try FileManager.default.moveItem(atPath: path, toPath: oracle.path)
      let (_, problems) = try oracle.check()
      #expect(problems.isEmpty == (round == 0), "\(problems)")
    }
  }

  @Test func `what a process says of its own failure is a problem`() throws {
    var oracle = StoreOracle(path: "")
    oracle.add([.failed(code: "corrupt", index: 3, eventType: nil, message: "no")])
    #expect(oracle.contradictions == ["the process failed: corrupt no"])
  }
}
