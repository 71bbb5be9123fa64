// Payloads, commits and temporary stores for the tests of logs.

import Foundation
import HindsightCore
import HindsightLMDB
import HindsightLog
import Testing

extension LogKind {
  static let all: [LogKind] = [
    LogKind(testDescription: "LMDB") { body in
      try withStore { path in
        let log = try LMDBLog.open(path: path, options: .test)
        defer { log.close() }
        try body(log)
      }
    },
    LogKind(testDescription: "in memory") { body in
      try body(MemoryLog(reducerName: "test", creationTime: Timestamp(rawValue: 0)))
    },
  ]
}

extension LMDBLog.Options {
  /// As the default, with a map that many of fit into an address space.
  static var test: LMDBLog.Options {
    var options = LMDBLog.Options(reducerName: "test")
    options.mapSizeBytes = 1 << 30
    return options
  }
}

/// A directory with a place for a store, removed with its last reference.
final class TemporaryStore: Sendable {
  let parent: URL
  var path: String { parent.appending(path: "bank.hindsight").path }

  init() throws {
    parent = FileManager.default.temporaryDirectory.appending(path: "hs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: parent, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: parent) }
}

/// Changes a record of a closed store where it lies in the table of commits.
func editRecord(
  _ path: String, _ index: EventIndex, fixesDigest: Bool = true,
  _ edit: (inout [UInt8]) throws -> Void
) throws {
  let environment = try Environment.open(path + "/log.mdb")
  let table = try #require(try environment.table(named: "commits"))
  var transaction = try environment.beginWrite()
  var bytes: [UInt8] = []
  if let value = try transaction.value(table, .number(index)) {
    bytes = value.withUnsafeBytes { Array($0) }
  }
  try edit(&bytes)
  if fixesDigest { bytes = withDigest(bytes.dropLast(8)) }
  try transaction.put(table, .number(index), bytes)
  try transaction.commit()
}

/// Removes a record of a closed store.
func removeRecord(_ path: String, _ index: EventIndex) throws {
  let environment = try Environment.open(path + "/log.mdb")
  let table = try #require(try environment.table(named: "commits"))
  var transaction = try environment.beginWrite()
  let wasThere = try transaction.remove(table, .number(index))
  #expect(wasThere)
  try transaction.commit()
}

/// Calls a closure with the path of a store that isn't there yet, verifies what is there after it
/// unless it is meant to be damaged, and removes it.
func withStore<Result>(
  isDamaged: Bool = false, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (String) throws -> Result
) throws -> Result {
  let directory = try TemporaryStore()
  defer { withExtendedLifetime(directory) {} }
  let path = directory.path
  let result = try body(path)
  if !isDamaged, FileManager.default.fileExists(atPath: path + "/log.mdb") {
    let findings = try LogVerifier(path: path).verify().findings
    #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
  }
  return result
}

/// Expects a ``HindsightError`` with a code.
func expect<Result>(
  _ code: HindsightError.Code, index: EventIndex? = nil,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () throws -> Result
) {
  let error = #expect(throws: HindsightError.self, sourceLocation: sourceLocation) {
    _ = try body()
  }
  #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
  if let index { #expect(error?.index == index, sourceLocation: sourceLocation) }
}

/// Payloads that differ from index to index.
func payloads(from index: EventIndex, count: Int) -> [[UInt8]] {
  (0..<UInt64(count)).map { offset in
    withUnsafeBytes(of: (index + offset) &* 0x9e37_79b9_7f4a_7c15) { Array($0) }
  }
}

/// Appends commits of so many events each; returns the payloads.
func fill(_ log: any EventLog, commitSizes: [Int]) throws -> [[UInt8]] {
  var written: [[UInt8]] = []
  for size in commitSizes {
    _ = try log.append { head in
      let events = payloads(from: head.index + 1, count: size)
      written += events
      return .of(events, after: head)
    }
  }
  return written
}

extension PendingCommit {
  /// A commit of payloads without a form.
  static func of(
    _ payloads: [[UInt8]], after head: LogHead, recordedTime: Timestamp = Timestamp(rawValue: 1),
    occurredTime: Timestamp? = nil
  ) -> PendingCommit {
    var dispatch = EventFrames()
    for payload in payloads {
      let start = dispatch.arena.count
      var flags: EventFlags = []
      if let occurredTime {
        flags.insert(.hasOccurredTime)
        withUnsafeBytes(of: occurredTime.rawValue.littleEndian) {
          dispatch.arena.append(contentsOf: $0)
        }
      }
      dispatch.arena += payload
      dispatch.frames.append(
        EventFrame(
          type: EventType(name: "test", form: .whole), flags: flags, occurredTime: occurredTime,
          content: start..<dispatch.arena.count))
    }
    var builder = CommitBuilder()
    builder.append(dispatch)
    return PendingCommit(
      builder: builder, position: builder.position(after: head, recordedTime: recordedTime))
  }
}

extension EventLog {
  /// The payloads of all events in the commits that a scan visits, in the scan's order.
  func payloads(
    _ range: ClosedRange<EventIndex>, reversed: Bool = false
  ) throws -> [[UInt8]] {
    var found: [[UInt8]] = []
    try scan(range, reversed: reversed) { record in
      let positions = Array(0..<record.eventCount)
      for position in reversed ? positions.reversed() : positions {
        let payload = try record.event(at: position).payload
        found.append(payload.withUnsafeBytes { Array($0) })
      }
      return .next
    }
    return found
  }

  /// The first indexes of the commits that a scan visits.
  func firstIndexes(
    _ range: ClosedRange<EventIndex>, reversed: Bool = false
  ) throws -> [EventIndex] {
    var found: [EventIndex] = []
    try scan(range, reversed: reversed) { record in
      found.append(record.firstIndex)
      return .next
    }
    return found
  }
}
