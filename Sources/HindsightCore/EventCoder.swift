// Between an app's events and what a commit record holds of them: type, form and payload.

package import HindsightValue

/// An event that says itself under which type it is recorded, whatever its encoding looks like.
///
/// The built-in reducers' events are such: they come from outside with any type and payload.
package protocol SelfDescribingEvent {
  /// The type under which the event is recorded.
  var recordedTypeName: String { get }

  /// Appends the payload's encoding.
  func encodePayload(into writer: inout CBORWriter) throws

  /// The event of a recorded type and payload.
  init(recordedTypeName: String, payload: UnsafeRawBufferPointer) throws
}

/// Encodes and decodes the events of one event type.
package struct EventCoder<Event: Codable & Sendable>: Sendable {
  /// The type of events whose encoding doesn't name one.
  let eventTypeName: String
  private let selfDescribing: (any (SelfDescribingEvent & Codable & Sendable).Type)?

  package init(eventTypeName: String) {
    self.eventTypeName = eventTypeName
    selfDescribing = Event.self as? any (SelfDescribingEvent & Codable & Sendable).Type
  }

  /// Whether the events say their types themselves.
  var isSelfDescribing: Bool { selfDescribing != nil }

  // MARK: Encoding

  /// Appends an event to the frames of a dispatch. O(n) in its encoding.
  ///
  /// - Throws: ``HindsightError`` with code `invalidEvent` or `invalidMetadata`.
  package func encode(
    _ event: Event, metadata: EventMetadata, into frames: inout EventFrames
  ) throws {
    let start = frames.arena.count
    var flags: EventFlags = []
    if let time = metadata.occurredTime {
      flags.insert(.hasOccurredTime)
      withUnsafeBytes(of: time.rawValue.littleEndian) { frames.arena.append(contentsOf: $0) }
    }
    if metadata.needsMap {
      flags.insert(.hasMetadata)
      try append(metadata, to: &frames.arena)
    }
    let type = try appendPayload(of: event, to: &frames.arena)
    try check(type)
    frames.frames.append(
      EventFrame(
        type: type, flags: flags, occurredTime: metadata.occurredTime,
        content: start..<frames.arena.count))
  }

  private func append(_ metadata: EventMetadata, to arena: inout [UInt8]) throws {
    for name in EventMetadata.Name.all where metadata.custom[name] != nil {
      throw HindsightError(
        .invalidMetadata,
        "the custom metadata have the name \(name), which is that of a part of its own: rename it")
    }
    let bytes: [UInt8]
    do { bytes = try metadata.recordValue.encoded() } catch {
      throw HindsightError(
        .invalidMetadata, "the event's metadata can't be encoded: \(error)", cause: error)
    }
    withUnsafeBytes(of: UInt32(bytes.count).littleEndian) { arena.append(contentsOf: $0) }
    arena.append(contentsOf: bytes)
  }

  private func appendPayload(of event: Event, to arena: inout [UInt8]) throws -> EventType {
    var writer = CBORWriter()
    do {
      if selfDescribing != nil, let event = event as? any SelfDescribingEvent {
        try event.encodePayload(into: &writer)
        writer.withBytes { arena.append(contentsOf: $0) }
        return EventType(name: event.recordedTypeName, form: .whole)
      }
      try CBOREncoder().encode(event, into: &writer)
    } catch {
      throw HindsightError(
        .invalidEvent, "an event of type \(Event.self) can't be encoded: \(error)", cause: error)
    }
    var name: [UInt8] = []
    return writer.withBytes { bytes in
      let envelope = EventEnvelope.probe(bytes, name: &name)
      arena.append(contentsOf: bytes[envelope.payload])
      return EventType(
        name: envelope.form == .whole ? eventTypeName : String(decoding: name, as: UTF8.self),
        form: EventForm(envelope.form))
    }
  }

  private func check(_ type: EventType) throws {
    let size = type.name.utf8.count
    if type.name.utf8.starts(with: "hindsight.".utf8) {
      throw HindsightError(
        .invalidEvent,
        "the event type \(type.name) is reserved: names that begin with hindsight. are the "
          + "engine's own; choose another name", eventType: type.name)
    }
    if size > CommitLayout.typeNameSizeMax || size == 0 {
      throw HindsightError(
        .invalidEvent,
        "an event type's name has \(size) bytes: give it 1 to \(CommitLayout.typeNameSizeMax)",
        eventType: String(type.name.prefix(100)))
    }
  }

  // MARK: Decoding

  /// The event of a recorded type and payload.
  ///
  /// - Parameter scratch: memory for putting the encoding together again, reused between calls.
  /// - Throws: ``EventDecodingError``.
  package func decode(
    type: EventType, payload: RawSpan, scratch: inout CBORWriter
  ) throws(EventDecodingError) -> Event {
    guard type.form != .control else {
      throw EventDecodingError(kind: .unknownControlEvent, type: type, cause: nil)
    }
    do {
      return try payload.withUnsafeBytes { bytes in
        if let selfDescribing {
          let event = try selfDescribing.init(recordedTypeName: type.name, payload: bytes)
          // The conformance was found on Event itself.
          return event as! Event
        }
        if type.form == .whole { return try CBORDecoder().decode(Event.self, from: bytes) }
        scratch.truncate(to: 0)
        var name = type.name
        name.withUTF8 {
          EventEnvelope.append(
            type.form.envelopeForm, name: UnsafeRawBufferPointer($0), payload: bytes, to: &scratch)
        }
        return try scratch.withBytes { try CBORDecoder().decode(Event.self, from: $0) }
      }
    } catch {
      throw EventDecodingError(
        kind: isUnknownType(error, type) ? .unknownType : .undecodable, type: type, cause: error)
    }
  }

  /// Whether a decoding error means that the app's type has no case of the recorded name.
  ///
  /// Swift's derived enums say so by a mismatch at the level of the case's key.
  private func isUnknownType(_ error: any Error, _ type: EventType) -> Bool {
    guard let error = error as? DecodingError else { return false }
    switch (error, type.form) {
    case (.typeMismatch(_, let context), .enveloped), (.dataCorrupted(let context), .bare):
      return context.codingPath.isEmpty
    case (.typeMismatch(_, let context), .nested):
      let names = type.name.split(separator: ".", omittingEmptySubsequences: false)
      let path = context.codingPath.map(\.stringValue)
      let outer = names.flatMap { [String($0), "_0"] }
      return path.count < 2 * names.count - 1 && path.count % 2 == 0
        && Array(outer.prefix(path.count)) == path
    default:
      return false
    }
  }
}

extension EventForm {
  init(_ form: EventEnvelope.Form) {
    switch form {
    case .whole: self = .whole
    case .enveloped: self = .enveloped
    case .nested: self = .nested
    case .bare: self = .bare
    }
  }

  /// The form for putting an encoding together again; a control event's payload is whole.
  package var envelopeForm: EventEnvelope.Form {
    switch self {
    case .whole, .control: .whole
    case .enveloped: .enveloped
    case .nested: .nested
    case .bare: .bare
    }
  }
}

/// Why a recorded event isn't one of the app's; who knows the index makes a ``HindsightError`` of
/// it.
package struct EventDecodingError: Error {
  package enum Kind: Sendable {
    case unknownType
    case undecodable
    case unknownControlEvent
  }

  package let kind: Kind
  package let type: EventType
  package let cause: (any Error)?

  package func hindsightError(index: EventIndex) -> HindsightError {
    switch kind {
    case .unknownType:
      HindsightError(
        .unknownEventType,
        "event \(index) has type \(type.name), which the app's event type doesn't know: keep "
          + "decoding old types, or open the store with the app that wrote it",
        index: index, eventType: type.name, cause: cause)
    case .undecodable:
      HindsightError(
        .undecodableEvent,
        "event \(index) of type \(type.name) doesn't decode: old payloads must stay decodable",
        index: index, eventType: type.name, cause: cause)
    case .unknownControlEvent:
      HindsightError(
        .unknownControlEvent,
        "event \(index) is a control event of the unknown kind \(type.name): the store needs a "
          + "newer version of Hindsight", index: index, eventType: type.name)
    }
  }
}

extension EventMetadata {
  /// The metadata of a commit record's event.
  ///
  /// - Throws: ``CommitRecordError`` where they aren't what an event's metadata can be.
  package init(record: RawSpan, occurredTime: Timestamp?) throws(CommitRecordError) {
    let metadata: EventMetadata?
    do {
      metadata = try record.withUnsafeBytes { bytes in
        EventMetadata(recordValue: try Value(encoded: bytes), occurredTime: occurredTime)
      }
    } catch {
      throw CommitRecordError("an event's metadata don't decode: \(error)")
    }
    guard let metadata else {
      throw CommitRecordError("an event's metadata are of a newer version", isNewerFormat: true)
    }
    self = metadata
  }
}
