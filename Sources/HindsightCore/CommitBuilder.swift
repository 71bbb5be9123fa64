// Packs events into the body of a commit record.
// It always holds: what was appended can be written as one record within the format's limits.

/// The bytes of one event as a dispatcher prepares them, before its commit is known.
///
/// A frame is what travels from the dispatcher to the writer: type, flags and content.
package struct EventFrame: Sendable {
  package var type: EventType
  package var flags: EventFlags
  /// The occurred time, without which the recorded time counts.
  package var occurredTime: Timestamp?
  /// Where the event's content lies in the arena that belongs to the frames.
  package var content: Range<Int>

  package init(
    type: EventType, flags: EventFlags, occurredTime: Timestamp?, content: Range<Int>
  ) {
    self.type = type
    self.flags = flags
    self.occurredTime = occurredTime
    self.content = content
  }
}

/// The events of one dispatch, encoded.
package struct EventFrames: Sendable {
  package var frames: [EventFrame] = []
  /// The contents of all frames.
  package var arena: [UInt8] = []

  package init() {}

  /// What the frames take in a commit record at most, in bytes.
  package var recordSizeMax: Int {
    var size = arena.count + frames.count * CommitLayout.eventEntrySize
    var previous: EventType?
    for frame in frames where frame.type != previous {
      size += CommitLayout.typeEntryHeaderSize + frame.type.name.utf8.count
      previous = frame.type
    }
    return size
  }
}

/// Packs events into one commit record. Reused from commit to commit by the writer.
package struct CommitBuilder {
  private var eventTable: [UInt64] = []
  private var typeTable: [UInt8] = []
  private var content: [UInt8] = []
  private var typeNumbers: [EventType: UInt32] = [:]
  /// The type found last, as neighbours mostly have the same.
  private var lastType: (type: EventType, number: UInt32)?
  private var occurredTimeMax = Timestamp(rawValue: .min)
  private var someEventHasNoTime = false

  package init() {}

  /// The number of events appended.
  package var eventCount: Int { eventTable.count }

  /// Whether nothing was appended.
  package var isEmpty: Bool { eventTable.isEmpty }

  /// The size of the record that would be written now, in bytes.
  package var recordSize: Int {
    CommitLayout.headerSize + eventTable.count * CommitLayout.eventEntrySize + typeTable.count
      + content.count + CommitLayout.digestSize
  }

  /// Forgets all events and keeps the memory.
  package mutating func removeAll() {
    eventTable.removeAll(keepingCapacity: eventTable.capacity < Self.kept)
    typeTable.removeAll(keepingCapacity: typeTable.capacity < Self.kept)
    content.removeAll(keepingCapacity: content.capacity < Self.kept)
    typeNumbers.removeAll(keepingCapacity: typeNumbers.count < 1_000)
    lastType = nil
    occurredTimeMax = Timestamp(rawValue: .min)
    someEventHasNoTime = false
  }

  /// Buffers larger than this are given back after a commit.
  private static let kept = 1 << 22

  /// Whether a dispatch still fits into this commit's record.
  package func fits(_ frames: EventFrames) -> Bool {
    recordSize + frames.recordSizeMax <= CommitLayout.recordSizeMax
      && typeNumbers.count + frames.frames.count <= CommitLayout.typeCountMax
  }

  /// Appends the events of one dispatch. Amortised O(n) in the bytes.
  ///
  /// The caller has asked ``fits(_:)``.
  package mutating func append(_ dispatch: EventFrames) {
    let base = content.count
    content.append(contentsOf: dispatch.arena)
    var isFirst = true
    for frame in dispatch.frames {
      let number = number(of: frame.type)
      var flags = frame.flags
      if isFirst { flags.insert(.startsDispatch) }
      isFirst = false
      let end = UInt64(UInt32(base + frame.content.upperBound))
      eventTable.append(end | UInt64(number | UInt32(flags.rawValue) << 24) << 32)
      if let time = frame.occurredTime {
        occurredTimeMax = max(occurredTimeMax, time)
      } else {
        someEventHasNoTime = true
      }
    }
  }

  /// Where this commit goes after a head, recorded at a time that is raised to the head's if below.
  package func position(after head: LogHead, recordedTime: Timestamp) -> CommitPosition {
    let recorded = max(recordedTime, head.recordedTime)
    var latest = max(head.maximumEventTime, occurredTimeMax)
    if someEventHasNoTime { latest = max(latest, recorded) }
    return CommitPosition(
      firstIndex: head.index + 1, recordedTime: recorded, maximumEventTime: latest,
      attemptStamp: 0, predecessorDigest: head.digest)
  }

  /// Writes the record but for its digest, which takes the last 8 bytes.
  ///
  /// - Parameter target: exactly ``recordSize`` bytes; all are overwritten but the digest's.
  package func write(into target: UnsafeMutableRawBufferPointer, at position: CommitPosition) {
    typealias Layout = CommitLayout
    precondition(target.count == recordSize && !isEmpty)
    let eventTableSize = eventTable.count * Layout.eventEntrySize
    func store(_ value: some FixedWidthInteger & BitwiseCopyable, at offset: Int) {
      target.storeBytes(of: value.littleEndian, toByteOffset: offset, as: type(of: value))
    }
    store(Layout.magic, at: 0)
    store(Layout.formatVersion, at: Layout.formatVersionOffset)
    store(UInt16(0), at: Layout.flagsOffset)
    store(position.firstIndex, at: Layout.firstIndexOffset)
    store(UInt32(eventTable.count), at: Layout.eventCountOffset)
    store(UInt32(typeNumbers.count), at: Layout.typeCountOffset)
    store(position.recordedTime.rawValue, at: Layout.recordedTimeOffset)
    store(position.maximumEventTime.rawValue, at: Layout.maximumEventTimeOffset)
    store(position.attemptStamp, at: Layout.attemptStampOffset)
    store(position.predecessorDigest, at: Layout.predecessorDigestOffset)
    store(UInt32(typeTable.count), at: Layout.typeTableSizeOffset)
    store(UInt32(content.count), at: Layout.contentSizeOffset)
    store(UInt32(eventTableSize + typeTable.count + content.count), at: Layout.bodySizeOffset)
    store(UInt32(0), at: Layout.reservedOffset)
    store(UInt64(0), at: Layout.chainDigestOffset)
    var offset = Layout.headerSize
    if _isLittleEndian {
      eventTable.withUnsafeBytes { copy($0, to: target, at: &offset) }
    } else {
      for entry in eventTable {
        store(entry, at: offset)
        offset += Layout.eventEntrySize
      }
    }
    typeTable.withUnsafeBytes { copy($0, to: target, at: &offset) }
    content.withUnsafeBytes { copy($0, to: target, at: &offset) }
  }

  private func copy(
    _ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawBufferPointer, at offset: inout Int
  ) {
    let slice = UnsafeMutableRawBufferPointer(rebasing: target[offset...])
    slice.copyMemory(from: source)
    offset += source.count
  }

  private mutating func number(of type: EventType) -> UInt32 {
    if let lastType, lastType.type == type { return lastType.number }
    let number: UInt32
    if let known = typeNumbers[type] {
      number = known
    } else {
      number = UInt32(typeNumbers.count)
      typeNumbers[type] = number
      let size = UInt16(type.name.utf8.count)
      typeTable.append(UInt8(truncatingIfNeeded: size))
      typeTable.append(UInt8(size >> 8))
      typeTable.append(type.form.rawValue)
      typeTable.append(0)
      typeTable.append(contentsOf: type.name.utf8)
    }
    lastType = (type, number)
    return number
  }
}

/// Whether this machine's numbers are little-endian, as the format's are.
private let _isLittleEndian = UInt16(1).littleEndian == 1
