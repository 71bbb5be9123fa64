// The worked examples of docs/file-format.md: the document's own bytes are decoded, checked, and
// made again.

import Foundation
import HindsightCore
import HindsightLog
import HindsightValue
import Testing

@Suite struct FileFormatTests {
  @Test func `the document's genesis record is what it says`() throws {
    let bytes = try documentBytes("genesis")
    #expect(withDigest(bytes.dropLast(8)) == bytes)
    let store = try storeWithRecord(0, bytes)
    let log = try LMDBLog.open(path: store.path, options: .init(access: .readOnly))
    #expect(log.genesis.storeID == "00112233445566778899aabbccddeeff")
    #expect(log.genesis.creationTime == Timestamp("2026-11-30T12:00:00Z"))
    #expect(log.genesis.reducerName == "bank")
    #expect(
      try log.head().digest == bytes.suffix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    )
    log.close()
  }

  @Test func `the document's commit record is what it says`() throws {
    let bytes = try documentBytes("commit")
    #expect(withDigest(bytes.dropLast(8)) == bytes)
    let record = try CommitRecord(validating: bytes.span.bytes)
    #expect(record.firstIndex == 1 && record.lastIndex == 2)
    #expect(record.recordedTime == Timestamp("2026-11-30T12:00:01Z"))
    #expect(record.maximumEventTime == Timestamp("2026-11-30T12:00:01Z"))
    #expect(record.attemptStamp == UInt64(record.recordedTime.rawValue))
    let genesis = try documentBytes("genesis")
    #expect(record.predecessorDigest == withDigest(genesis.dropLast(8)).digest)
    #expect(
      try record.eventTypes() == [
        EventType(name: "deposited", form: .enveloped), EventType(name: "audited", form: .bare),
      ])

    let first = try record.event(at: 0)
    #expect(first.typeNumber == 0)
    #expect(first.flags == [.startsDispatch, .hasOccurredTime, .hasMetadata])
    #expect(first.occurredTime == Timestamp("2026-11-30T11:59:00Z"))
    let metadata = first.metadata.withUnsafeBytes { Array($0) }
    #expect(
      EventMetadata(recordValue: try Value(encoded: metadata), occurredTime: first.occurredTime)
        == exampleMetadata)
    let payload = first.payload.withUnsafeBytes { Array($0) }
    #expect(try Value(encoded: payload) == examplePayload)

    let second = try record.event(at: 1)
    #expect(second.typeNumber == 1 && second.flags == [] && second.occurredTime == nil)
    #expect(second.metadata.byteCount == 0 && second.payload.byteCount == 0)
  }

  @Test func `the document's commit record is made again, byte for byte`() throws {
    var dispatch = EventFrames()
    let occurred = try #require(Timestamp("2026-11-30T11:59:00Z"))
    let metadata = try exampleMetadata.recordValue.encoded()
    dispatch.arena += littleEndian(occurred.rawValue) + littleEndian(UInt32(metadata.count))
    dispatch.arena += metadata + (try examplePayload.encoded())
    dispatch.frames = [
      EventFrame(
        type: EventType(name: "deposited", form: .enveloped),
        flags: [.hasOccurredTime, .hasMetadata], occurredTime: occurred,
        content: 0..<dispatch.arena.count),
      EventFrame(
        type: EventType(name: "audited", form: .bare), flags: [], occurredTime: nil,
        content: dispatch.arena.count..<dispatch.arena.count),
    ]
    var builder = CommitBuilder()
    builder.append(dispatch)
    let recorded = try #require(Timestamp("2026-11-30T12:00:01Z"))
    let genesis = try documentBytes("genesis")
    var position = builder.position(
      after: LogHead(
        index: 0, digest: genesis.digest, recordedTime: Timestamp(rawValue: .min),
        maximumEventTime: Timestamp(rawValue: .min)),
      recordedTime: recorded)
    position.attemptStamp = UInt64(recorded.rawValue)
    var bytes = [UInt8](repeating: 0, count: builder.recordSize)
    bytes.withUnsafeMutableBytes { builder.write(into: $0, at: position) }
    #expect(withDigest(bytes.dropLast(8)) == (try documentBytes("commit")))
  }

  @Test func `the document's snapshot is what it says`() throws {
    let header = SnapshotHeader(
      reducerName: "bank", reducerVersion: 3, index: 2,
      commitDigest: try documentBytes("commit").digest, initialStateDigest: Self.emptyMapDigest,
      schemaVersion: 1, redactionEpoch: 0,
      stateDigest: try documentBytes("chunk").withUnsafeBytes { LMDBLog.digest(of: $0) },
      stateSize: UInt64(try documentBytes("chunk").count))
    let directory = try TemporaryStore()
    try LMDBLog.open(path: directory.path, options: .test).close()
    let storage = LMDBSnapshotStorage.open(path: directory.path, options: .test)
    try storage.save(header, state: try documentBytes("chunk"))
    storage.close()
    let key = try documentBytes("snapshot key")
    #expect(try entries(directory.path, "snapshots") == [key: try documentBytes("snapshot")])
    #expect(
      try entries(directory.path, "chunks") == [key + [0, 0, 0, 0]: try documentBytes("chunk")])
  }

  @Test func `the document names every key of the metadata`() throws {
    let metadata = EventMetadata(
      tags: ["a"], correlationID: "b", causationID: "c", traceparent: "d", idempotencyKey: "e",
      custom: ["f": .null])
    guard case .map(let map) = metadata.recordValue else {
      Issue.record("metadata are a map")
      return
    }
    let document = try documentText()
    for pair in map.pairs {
      guard case .unsigned(let number) = pair.key else {
        Issue.record("a key is a number")
        continue
      }
      #expect(document.contains("\n| \(number) | "))
    }
  }

  private static let emptyMapDigest = ([0xa0] as [UInt8]).withUnsafeBytes {
    LMDBLog.digest(of: $0)
  }
}

private let exampleMetadata = EventMetadata(
  occurredTime: Timestamp("2026-11-30T11:59:00Z"), tags: ["account:alice"],
  idempotencyKey: "k1")

private var examplePayload: Value {
  var map = ValueMap()
  map["cents"] = .unsigned(10_000)
  map["account"] = .string("alice")
  return .map(map)
}

private func littleEndian(_ number: some FixedWidthInteger) -> [UInt8] {
  withUnsafeBytes(of: number.littleEndian) { Array($0) }
}

extension [UInt8] {
  /// The digest that a record ends with.
  fileprivate var digest: UInt64 { suffix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) } }
}
