// An event as one JSON object, the same in import, export, `log --json` and `show --json`.
//
//   {"type": …, "time": …?, "data": …?, "metadata": {…}?}
//
// `time` is the occurred time. `export --recorded` adds "recorded", `log` and `show` add "index".

import HindsightCore
import HindsightValue

/// An event that was read from a line of JSON.
struct ImportedEvent {
  let typeName: String
  /// The encoded payload; nil where the line has no data.
  let payload: [UInt8]?
  let metadata: EventMetadata
}

/// Why a line isn't an event.
struct EventLineError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension ImportedEvent {
  private enum Key {
    static let type = "type"
    static let time = "time"
    static let data = "data"
    static let metadata = "metadata"
    /// Where an event was in the log that it was exported from; not kept.
    static let index = "index"
    static let recorded = "recorded"
  }

  /// The event that a line holds.
  ///
  /// - Throws: ``EventLineError`` or `JSONError`.
  init(line: UnsafeRawBufferPointer) throws {
    guard case .map(let object) = try Value(json: line) else {
      throw EventLineError("the line isn't a JSON object: {\"type\": …, \"data\": …}")
    }
    var typeName: String?
    var payload: [UInt8]?
    var metadata = EventMetadata()
    for pair in object.pairs {
      guard case .string(let key) = pair.key else { continue }
      switch key {
      case Key.type: typeName = try Self.text(pair.value, key)
      case Key.data: payload = try pair.value.encoded()
      case Key.metadata: try Self.read(pair.value, into: &metadata)
      case Key.time: metadata.occurredTime = try Self.time(pair.value)
      case Key.index, Key.recorded: break
      default:
        throw EventLineError(
          "the object has a key that an event hasn't: \(key); what belongs to the app goes into "
            + "data or metadata")
      }
    }
    guard let typeName else { throw EventLineError("the object has no type") }
    self.typeName = typeName
    self.payload = payload
    self.metadata = metadata
  }

  private static func text(_ value: Value, _ key: String) throws -> String {
    guard case .string(let text) = value else { throw EventLineError("\(key) isn't a text") }
    return text
  }

  private static func time(_ value: Value) throws -> Timestamp {
    let text = try text(value, Key.time)
    guard let time = Timestamp(text) else {
      throw EventLineError(
        "time isn't a moment of at most microseconds as in RFC 3339: \(text)")
    }
    return time
  }

  private static func read(_ value: Value, into metadata: inout EventMetadata) throws {
    guard case .map(let object) = value else { throw EventLineError("metadata isn't an object") }
    for pair in object.pairs {
      guard case .string(let key) = pair.key else { continue }
      switch key {
      case EventMetadata.Name.correlationID: metadata.correlationID = try text(pair.value, key)
      case EventMetadata.Name.causationID: metadata.causationID = try text(pair.value, key)
      case EventMetadata.Name.traceparent: metadata.traceparent = try text(pair.value, key)
      case EventMetadata.Name.idempotencyKey: metadata.idempotencyKey = try text(pair.value, key)
      case EventMetadata.Name.tags:
        guard case .array(let tags) = pair.value else {
          throw EventLineError("metadata's tags aren't an array")
        }
        metadata.tags = try tags.map { try text($0, "one of metadata's tags") }
      default: metadata.custom[key] = pair.value
      }
    }
  }
}

extension RecordedEvent {
  /// The event as an object, with the parts of its place in the log that are asked for.
  ///
  /// - Throws: `CBORError` where the payload isn't well-formed.
  func json(withIndex: Bool, withRecordedTime: Bool) throws -> Value {
    var object = ValueMap()
    if withIndex { object["index"] = .unsigned(index) }
    object["type"] = .string(typeName)
    if let time = metadata.occurredTime { object["time"] = .string(time.description) }
    if withRecordedTime { object["recorded"] = .string(recordedTime.description) }
    if let payload = try payload() { object["data"] = payload }
    let metadata = metadata.json
    if !metadata.isEmpty { object["metadata"] = .map(metadata) }
    return .map(object)
  }
}

extension EventMetadata {
  /// The metadata as an object, but for the occurred time.
  var json: ValueMap {
    var object = ValueMap()
    if !tags.isEmpty { object[Name.tags] = .array(tags.map { .string($0) }) }
    if let correlationID { object[Name.correlationID] = .string(correlationID) }
    if let causationID { object[Name.causationID] = .string(causationID) }
    if let traceparent { object[Name.traceparent] = .string(traceparent) }
    if let idempotencyKey { object[Name.idempotencyKey] = .string(idempotencyKey) }
    for (key, value) in custom { object[key] = value }
    return object
  }
}
