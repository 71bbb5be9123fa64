// What every event log does, whatever keeps it: the suite runs on each kind of log.

import HindsightCore
import Testing

/// A kind of log that the contract is checked on.
struct LogKind: Sendable, CustomTestStringConvertible {
  let testDescription: String
  /// Calls a closure with a new, empty log, and closes it.
  let withLog: @Sendable (_ body: (any EventLog) throws -> Void) throws -> Void
}

@Suite struct EventLogContract {
  @Test(arguments: LogKind.all)
  func `a new log is empty`(_ kind: LogKind) throws {
    try kind.withLog { log in
      let head = try log.head()
      #expect(head.index == 0)
      #expect(try log.digest(at: 0) == head.digest)
      #expect(try log.digest(at: 1) == nil)
      #expect(!log.isReadOnly)
      #expect(log.genesis.storeID.count == 32)
    }
  }

  @Test(arguments: LogKind.all)
  func `what is appended is scanned, in order and in reverse`(_ kind: LogKind) throws {
    try kind.withLog { log in
      let written = try fill(log, commitSizes: [1, 3, 1, 7, 2])
      #expect(try log.head().index == 14)
      #expect(try log.payloads(1...14) == written)
      #expect(try log.payloads(1...14, reversed: true) == written.reversed())
    }
  }

  @Test(arguments: LogKind.all)
  func `a scan visits just the commits that hold the range's events`(_ kind: LogKind) throws {
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [2, 3, 4])
      let starts: [(EventIndex, EventIndex)] = [(1, 2), (3, 5), (6, 9)]
      for lower in EventIndex(1)...9 {
        for upper in lower...9 {
          let expected = starts.filter { $0.0 <= upper && $0.1 >= lower }.map(\.0)
          #expect(try log.firstIndexes(lower...upper) == expected)
          #expect(try log.firstIndexes(lower...upper, reversed: true) == expected.reversed())
        }
      }
    }
  }

  @Test(arguments: LogKind.all)
  func `a scan stops where its body says so`(_ kind: LogKind) throws {
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [1, 1, 1])
      var visited: [EventIndex] = []
      try log.scan(1...3, reversed: false) { record in
        visited.append(record.firstIndex)
        return visited.count == 2 ? .stop : .next
      }
      #expect(visited == [1, 2])
    }
  }

  @Test(arguments: LogKind.all)
  func `a scan beyond the head is an error`(_ kind: LogKind) throws {
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [2])
      expect(.indexBeyondHead) { try log.firstIndexes(1...3) }
      expect(.indexBeyondHead) { try log.firstIndexes(3...3, reversed: true) }
    }
  }

  @Test(arguments: LogKind.all)
  func `scans nest, and an error of the body ends both`(_ kind: LogKind) throws {
    struct Found: Error {}
    try kind.withLog { log in
      let written = try fill(log, commitSizes: [1, 2, 3])
      var pairs = 0
      try log.scan(1...6, reversed: false) { _ in
        pairs += try log.payloads(1...6, reversed: true) == written.reversed() ? 1 : 0
        return .next
      }
      #expect(pairs == 3)
      #expect(throws: Found.self) {
        try log.scan(1...6, reversed: false) { _ in
          try log.scan(1...6, reversed: false) { _ in throw Found() }
          return .next
        }
      }
    }
  }

  @Test(arguments: LogKind.all)
  func `a closure that throws or returns nothing appends nothing`(_ kind: LogKind) throws {
    struct Refused: Error {}
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [1])
      let before = try log.head()
      #expect(throws: Refused.self) { try log.append { _ in throw Refused() } }
      #expect(try log.append { _ in nil } == nil)
      #expect(try log.head() == before)
      _ = try fill(log, commitSizes: [1])
      #expect(try log.head().index == 2)
    }
  }

  @Test(arguments: LogKind.all)
  func `append returns the head that it made`(_ kind: LogKind) throws {
    try kind.withLog { log in
      for size in [1, 4, 2] {
        let previous = try log.head()
        var seen: LogHead?
        let made = try log.append { head in
          seen = head
          return PendingCommit.of(payloads(from: head.index + 1, count: size), after: head)
        }
        #expect(seen == previous)
        #expect(try log.head() == made)
        #expect(made?.index == previous.index + UInt64(size))
      }
    }
  }

  @Test(arguments: LogKind.all)
  func `each commit names its predecessor's digest, and its stamp is above`(
    _ kind: LogKind
  ) throws {
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [1, 2, 3, 4])
      var expected = try log.digest(at: 0)
      var stamp: UInt64 = 0
      try log.scan(1...10, reversed: false) { record in
        #expect(record.predecessorDigest == expected)
        #expect(record.digestedBytes.withUnsafeBytes { log.digest(of: $0) } == record.digest)
        #expect(record.attemptStamp > stamp)
        stamp = record.attemptStamp
        expected = record.digest
        for index in record.firstIndex...record.lastIndex {
          let digest = try log.digest(at: index)
          #expect(digest == record.digest)
        }
        return .next
      }
      #expect(try log.head().digest == expected)
    }
  }

  @Test(arguments: LogKind.all)
  func `recorded times never fall, and the largest event time is kept`(_ kind: LogKind) throws {
    try kind.withLog { log in
      let times: [Int64] = [100, 50, 200]
      var head = try log.head()
      for time in times {
        head = try #require(
          try log.append { head in
            .of([[1]], after: head, recordedTime: Timestamp(rawValue: time), occurredTime: nil)
          })
      }
      #expect(head.recordedTime.rawValue == 200)
      let occurred = Timestamp(rawValue: 1_000)
      head = try #require(
        try log.append { head in
          .of([[1]], after: head, recordedTime: Timestamp(rawValue: 300), occurredTime: occurred)
        })
      #expect(head.recordedTime.rawValue == 300)
      #expect(head.maximumEventTime == occurred)
      #expect(try log.head() == head)
    }
  }

  @Test(arguments: LogKind.all)
  func `records of every size come back byte for byte`(_ kind: LogKind) throws {
    try kind.withLog { log in
      let sizes = [0, 1, 1_900, 1_901, 1_902, 1_910, 1_911, 2_030, 4_000, 4_096, 70_000, 3_000_000]
      var written: [[UInt8]] = []
      for (position, size) in sizes.enumerated() {
        let payload = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ position) }
        written.append(payload)
        _ = try log.append { .of([payload], after: $0) }
      }
      #expect(try log.payloads(1...EventIndex(sizes.count)) == written)
    }
  }

  @Test(arguments: LogKind.all)
  func `a long scan renews itself and misses nothing`(_ kind: LogKind) throws {
    try kind.withLog { log in
      let count = 10_000
      let written = try fill(log, commitSizes: Array(repeating: 1, count: count))
      #expect(try log.payloads(1...EventIndex(count)) == written)
      #expect(try log.payloads(1...EventIndex(count), reversed: true) == written.reversed())
    }
  }

  @Test(arguments: LogKind.all)
  func `a closed log is of no use, and closing it again is nothing`(_ kind: LogKind) throws {
    try kind.withLog { log in
      _ = try fill(log, commitSizes: [1])
      try log.close()
      try log.close()
      expect(.closed) { try log.head() }
      expect(.closed) { try log.append { _ in nil } }
      expect(.closed) { try log.firstIndexes(1...1) }
      expect(.closed) { try log.digest(at: 1) }
    }
  }
}
