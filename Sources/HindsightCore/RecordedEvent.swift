// An event as the log has it, taken out of its record: for looking at, without the app's types.

public import HindsightValue

/// An event as it was recorded: everything but the app's own type.
public struct RecordedEvent: Sendable, Hashable {
  /// The event's index.
  public let index: EventIndex
  /// The event's type.
  public let typeName: String
  /// How type and payload form the event's encoding.
  public let form: EventForm
  /// When the event's commit was recorded.
  public let recordedTime: Timestamp
  /// What was recorded beside the payload, the occurred time included.
  public let metadata: EventMetadata
  /// Whether it is the first of its dispatch.
  public let startsDispatch: Bool
  /// The payload's encoding; empty where there is none (a bare type).
  public let payloadBytes: [UInt8]

  /// The payload, or nil where there is none.
  ///
  /// - Throws: `CBORError` where it isn't well-formed.
  public func payload() throws -> Value? {
    form == .bare ? nil : try Value(encoded: payloadBytes)
  }
}

extension EventLog {
  /// Visits the events of a range one by one, in order or in reverse order.
  ///
  /// - Throws: as ``scan(_:reversed:_:)``, and where an event contradicts its record.
  public func forEachEvent(
    in range: ClosedRange<EventIndex>, reversed: Bool = false,
    _ body: (RecordedEvent) throws -> ScanStep
  ) throws {
    try scan(range, reversed: reversed) { commit in
      let first = max(range.lowerBound, commit.firstIndex)
      let last = min(range.upperBound, commit.lastIndex)
      var index = reversed ? last : first
      do {
        let types = try commit.eventTypes()
        for offset in 0...Int(last - first) {
          index = reversed ? last - EventIndex(offset) : first + EventIndex(offset)
          if case .stop = try body(recordedEvent(index, of: commit, types)) { return .stop }
        }
        return .next
      } catch let error as CommitRecordError {
        throw error.hindsightError(index: index)
      }
    }
  }

  /// The event at an index.
  ///
  /// - Throws: ``HindsightError``, with code `indexBeyondHead` where there is none.
  public func event(at index: EventIndex) throws -> RecordedEvent {
    var found: RecordedEvent?
    if index > 0 {
      try forEachEvent(in: index...index) {
        found = $0
        return .stop
      }
    }
    guard let found else {
      throw HindsightError(
        .indexBeyondHead, "there is no event \(index): the first has index 1", index: index)
    }
    return found
  }

  private func recordedEvent(
    _ index: EventIndex, of commit: borrowing CommitRecord, _ types: [EventType]
  ) throws(CommitRecordError) -> RecordedEvent {
    let event = try commit.event(at: Int(index - commit.firstIndex))
    guard event.typeNumber < types.count else {
      throw CommitRecordError("an event has type \(event.typeNumber) of \(types.count)")
    }
    let metadata: EventMetadata
    if event.flags.contains(.hasMetadata) {
      metadata = try EventMetadata(record: event.metadata, occurredTime: event.occurredTime)
    } else {
      metadata = EventMetadata(occurredTime: event.occurredTime)
    }
    return RecordedEvent(
      index: index, typeName: types[event.typeNumber].name, form: types[event.typeNumber].form,
      recordedTime: commit.recordedTime, metadata: metadata,
      startsDispatch: event.flags.contains(.startsDispatch),
      payloadBytes: event.payload.withUnsafeBytes { Array($0) })
  }
}

extension CommitRecordError {
  package func hindsightError(index: EventIndex) -> HindsightError {
    HindsightError(
      isNewerFormat ? .unsupportedFormat : .corrupt,
      "the commit of index \(index) can't be read: \(message)", index: index, cause: self)
  }
}
