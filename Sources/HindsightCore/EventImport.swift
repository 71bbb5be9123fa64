// Makes an app's event of a type and a payload that come from outside of the log.

import HindsightValue

extension EventCoder {
  /// The event that would be recorded with exactly this type and payload.
  ///
  /// The forms that an event can be recorded in are tried one after the other; the first whose
  /// event is recorded as it came is the one.
  ///
  /// - Parameters:
  ///   - payload: the payload's encoding, as ``CBOREncoder`` would make it; nil for none.
  /// - Throws: ``HindsightError`` with code `unknownEventType` or `undecodableEvent`.
  package func importedEvent(typeName: String, payload: [UInt8]?) throws -> Event {
    if isSelfDescribing, payload == nil {
      throw HindsightError(
        .undecodableEvent, "an event of type \(typeName) must have data", eventType: typeName)
    }
    var firstError: EventDecodingError?
    for form in forms(typeName: typeName, hasPayload: payload != nil) {
      let type = EventType(name: typeName, form: form)
      let bytes = payload ?? []
      var scratch = CBORWriter()
      do {
        let event = try decode(type: type, payload: bytes.span.bytes, scratch: &scratch)
        var frames = EventFrames()
        try encode(event, metadata: .none, into: &frames)
        if frames.arena == bytes, frames.frames[0].type.name == typeName { return event }
        throw EventDecodingError(
          kind: .undecodable, type: type,
          cause: LossyImportError(typeName: typeName))
      } catch let error as EventDecodingError {
        firstError = firstError ?? error
      }
    }
    let error =
      firstError
      ?? EventDecodingError(
        kind: .unknownType, type: EventType(name: typeName, form: .whole), cause: nil)
    throw error.importError
  }

  private func forms(typeName: String, hasPayload: Bool) -> [EventForm] {
    if isSelfDescribing { return hasPayload ? [.whole] : [] }
    guard hasPayload else { return [.bare] }
    var forms: [EventForm] = typeName == self.eventTypeName ? [.whole] : []
    if typeName.utf8.contains(UInt8(ascii: ".")) { forms.append(.nested) }
    forms.append(.enveloped)
    return forms
  }
}

/// The payload has parts that the app's event type leaves out, so they would be lost.
private struct LossyImportError: Error, CustomStringConvertible {
  let typeName: String

  var description: String {
    "the app's event \(typeName) would be recorded with another type or payload than it came with"
  }
}

extension EventDecodingError {
  /// The error of an event that isn't in the log yet.
  fileprivate var importError: HindsightError {
    switch kind {
    case .unknownType:
      HindsightError(
        .unknownEventType, "the reducer's event type doesn't know the type \(type.name)",
        eventType: type.name, cause: cause)
    case .undecodable, .unknownControlEvent:
      HindsightError(
        .undecodableEvent, "the data isn't that of an event of type \(type.name)",
        eventType: type.name, cause: cause)
    }
  }
}
