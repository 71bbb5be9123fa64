// A commit record as it lies in the log: read in place, never copied.
// It always holds: what `init(validating:)` accepted is inside of its bounds, event by event.

/// A commit record in somebody else's memory, which it must not outlive.
///
/// The layout is described in `CommitLayout.swift` and, with an example, in `docs/file-format.md`.
public struct CommitRecord: ~Escapable {
  /// The whole record with header and digest.
  package let bytes: RawSpan
  private let eventTableSize: Int
  private let typeTableSize: Int

  /// Reads the header of a record and checks that all of its sizes fit together.
  ///
  /// Events are checked when they are read, the digest by whoever can compute it. O(1).
  ///
  /// - Throws: ``CommitRecordError`` with what is wrong.
  @_lifetime(copy bytes)
  package init(validating bytes: RawSpan) throws(CommitRecordError) {
    typealias Layout = CommitLayout
    guard bytes.byteCount >= Layout.headerSize + Layout.digestSize else {
      throw CommitRecordError("the record has \(bytes.byteCount) bytes, too few for a header")
    }
    guard bytes.load(0, as: UInt32.self) == Layout.magic else {
      throw CommitRecordError("the record doesn't begin as one")
    }
    let version = bytes.load(Layout.formatVersionOffset, as: UInt16.self)
    guard version == Layout.formatVersion else {
      throw CommitRecordError("the record has format version \(version)", isNewerFormat: true)
    }
    guard bytes.load(Layout.flagsOffset, as: UInt16.self) == 0,
      bytes.load(Layout.reservedOffset, as: UInt32.self) == 0,
      bytes.load(Layout.chainDigestOffset, as: UInt64.self) == 0
    else {
      throw CommitRecordError("the record has flags of a newer version", isNewerFormat: true)
    }
    let eventCount = Int(bytes.load(Layout.eventCountOffset, as: UInt32.self))
    let typeTableSize = Int(bytes.load(Layout.typeTableSizeOffset, as: UInt32.self))
    let contentSize = Int(bytes.load(Layout.contentSizeOffset, as: UInt32.self))
    let bodySize = Int(bytes.load(Layout.bodySizeOffset, as: UInt32.self))
    let eventTableSize = eventCount * Layout.eventEntrySize
    guard bodySize == eventTableSize + typeTableSize + contentSize,
      bytes.byteCount == Layout.headerSize + bodySize + Layout.digestSize
    else {
      throw CommitRecordError("the record's sizes don't add up to its \(bytes.byteCount) bytes")
    }
    let firstIndex = bytes.load(Layout.firstIndexOffset, as: UInt64.self)
    guard eventCount >= 1, firstIndex >= 1,
      !firstIndex.addingReportingOverflow(UInt64(eventCount)).overflow
    else {
      throw CommitRecordError("the record holds no events, or none with a valid index")
    }
    self.bytes = bytes
    self.eventTableSize = eventTableSize
    self.typeTableSize = typeTableSize
  }

  @inline(__always)
  private func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    bytes.load(offset, as: type)
  }

  /// The index of the first event.
  public var firstIndex: EventIndex { load(CommitLayout.firstIndexOffset, as: UInt64.self) }
  /// The index of the last event.
  public var lastIndex: EventIndex { firstIndex + UInt64(eventCount) - 1 }
  /// The number of events, at least one.
  public var eventCount: Int { Int(load(CommitLayout.eventCountOffset, as: UInt32.self)) }
  /// When the commit was recorded.
  public var recordedTime: Timestamp {
    Timestamp(rawValue: load(CommitLayout.recordedTimeOffset, as: Int64.self))
  }
  /// The latest event time (occurred, else recorded) of this commit and all before it.
  public var maximumEventTime: Timestamp {
    Timestamp(rawValue: load(CommitLayout.maximumEventTimeOffset, as: Int64.self))
  }
  /// The number that orders attempts at the same place in the log.
  package var attemptStamp: UInt64 { load(CommitLayout.attemptStampOffset, as: UInt64.self) }
  /// The digest of the record before this one.
  package var predecessorDigest: UInt64 {
    load(CommitLayout.predecessorDigestOffset, as: UInt64.self)
  }
  /// The digest that the record ends with.
  package var digest: UInt64 {
    load(bytes.byteCount - CommitLayout.digestSize, as: UInt64.self)
  }
  /// What the digest is computed of: all bytes before it.
  package var digestedBytes: RawSpan {
    @_lifetime(copy self) get {
      bytes.extracting(0..<(bytes.byteCount - CommitLayout.digestSize))
    }
  }
  /// The type table's bytes; equal bytes mean equal types.
  package var typeTableBytes: RawSpan {
    @_lifetime(copy self) get {
      let start = CommitLayout.headerSize + eventTableSize
      return bytes.extracting(start..<(start + typeTableSize))
    }
  }

  /// The event at a position in this commit (0-based), checked to lie within it. O(1).
  ///
  /// - Throws: ``CommitRecordError`` where the event's entry contradicts the record.
  @_lifetime(copy self)
  package func event(at position: Int) throws(CommitRecordError) -> CommitEvent {
    precondition(position >= 0 && position < eventCount, "no event at position \(position)")
    let contentStart = CommitLayout.headerSize + eventTableSize + typeTableSize
    let contentEnd = bytes.byteCount - CommitLayout.digestSize
    let entryOffset = CommitLayout.headerSize + position * CommitLayout.eventEntrySize
    let start =
      position == 0
      ? 0 : Int(load(entryOffset - CommitLayout.eventEntrySize, as: UInt32.self))
    let end = Int(load(entryOffset, as: UInt32.self))
    let word = load(entryOffset + 4, as: UInt32.self)
    guard start <= end, end <= contentEnd - contentStart,
      position < eventCount - 1 || end == contentEnd - contentStart
    else {
      throw CommitRecordError("the content of event \(position) lies outside of the record")
    }
    let content = bytes.extracting((contentStart + start)..<(contentStart + end))
    return try CommitEvent(
      content: content, typeNumber: Int(word & 0xff_ffff),
      flags: EventFlags(rawValue: UInt8(word >> 24)))
  }

  /// The types used in this commit, by their numbers. O(n) in the types.
  ///
  /// - Throws: ``CommitRecordError`` where the table contradicts its size.
  package func eventTypes() throws(CommitRecordError) -> [EventType] {
    let table = typeTableBytes
    let count = Int(load(CommitLayout.typeCountOffset, as: UInt32.self))
    guard count <= table.byteCount / CommitLayout.typeEntryHeaderSize else {
      throw CommitRecordError("the type table is too small for its \(count) types")
    }
    var types: [EventType] = []
    types.reserveCapacity(count)
    var offset = 0
    for _ in 0..<count {
      guard offset + CommitLayout.typeEntryHeaderSize <= table.byteCount else {
        throw CommitRecordError("the type table ends too early")
      }
      let size = Int(table.load(offset, as: UInt16.self))
      let form = table.load(offset + 2, as: UInt8.self)
      let zero = table.load(offset + 3, as: UInt8.self)
      offset += CommitLayout.typeEntryHeaderSize
      guard offset + size <= table.byteCount else {
        throw CommitRecordError("the type table ends too early")
      }
      guard let form = EventForm(rawValue: form), zero == 0 else {
        throw CommitRecordError("an event type has a form of a newer version", isNewerFormat: true)
      }
      let name = table.extracting(offset..<(offset + size)).withUnsafeBytes {
        String(validating: $0, as: UTF8.self)
      }
      guard let name else { throw CommitRecordError("an event type's name isn't UTF-8") }
      types.append(EventType(name: name, form: form))
      offset += size
    }
    guard offset == table.byteCount else {
      throw CommitRecordError("the type table has \(table.byteCount - offset) bytes too many")
    }
    return types
  }
}

extension RawSpan {
  /// The little-endian number at an offset, aligned or not; out of bounds is a precondition
  /// failure.
  @inline(__always)
  package func load<T: FixedWidthInteger & BitwiseCopyable>(_ offset: Int, as type: T.Type) -> T {
    T(littleEndian: unsafeLoadUnaligned(fromByteOffset: offset, as: T.self))
  }
}

/// The type of a recorded event.
package struct EventType: Sendable, Hashable {
  package let name: String
  package let form: EventForm

  package init(name: String, form: EventForm) {
    self.name = name
    self.form = form
  }
}

/// One event within a commit record, in the record's memory.
package struct CommitEvent: ~Escapable {
  /// The number of the event's type in the record's type table.
  package let typeNumber: Int
  package let flags: EventFlags
  /// When the event happened, where that was given.
  package let occurredTime: Timestamp?
  /// Metadata and payload.
  private let rest: RawSpan
  private let metadataSize: Int

  @_lifetime(copy content)
  fileprivate init(
    content: RawSpan, typeNumber: Int, flags: EventFlags
  ) throws(CommitRecordError) {
    guard flags.isSubset(of: .known) else {
      throw CommitRecordError("an event has flags of a newer version", isNewerFormat: true)
    }
    self.typeNumber = typeNumber
    self.flags = flags
    var offset = 0
    if flags.contains(.hasOccurredTime) {
      guard content.byteCount >= 8 else {
        throw CommitRecordError("an event is too short for its time")
      }
      occurredTime = Timestamp(rawValue: content.load(0, as: Int64.self))
      offset = 8
    } else {
      occurredTime = nil
    }
    if flags.contains(.hasMetadata) {
      guard content.byteCount >= offset + 4 else {
        throw CommitRecordError("an event is too short for its metadata")
      }
      metadataSize = Int(content.load(offset, as: UInt32.self))
      offset += 4
      guard metadataSize <= content.byteCount - offset else {
        throw CommitRecordError("an event is too short for its metadata")
      }
    } else {
      metadataSize = 0
    }
    rest = content.extracting(offset..<content.byteCount)
  }

  /// The encoded metadata; empty where there are none.
  package var metadata: RawSpan {
    @_lifetime(copy self) get { rest.extracting(0..<metadataSize) }
  }

  /// The encoded payload.
  package var payload: RawSpan {
    @_lifetime(copy self) get { rest.extracting(metadataSize..<rest.byteCount) }
  }
}

/// What is wrong with a commit record's bytes; who knows the index makes a ``HindsightError`` of
/// it.
package struct CommitRecordError: Error, Sendable {
  package let message: String
  /// Whether the record is one that a newer version may well be able to read.
  package let isNewerFormat: Bool

  package init(_ message: String, isNewerFormat: Bool = false) {
    self.message = message
    self.isNewerFormat = isNewerFormat
  }
}
