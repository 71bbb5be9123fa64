// What is recorded beside an event's payload: time, tags, and where the event came from.

public import HindsightValue

/// What is recorded of an event beside its payload.
public struct EventMetadata: Sendable, Hashable {
  /// When the event happened, where that isn't when it was recorded.
  public var occurredTime: Timestamp?
  /// Names by which events are found, such as `"course:c1"`.
  public var tags: [String]
  /// What this event belongs to, such as a request: the same for all events of one origin.
  public var correlationID: String?
  /// The event or command that caused this one.
  public var causationID: String?
  /// The trace that the event was recorded in (W3C Trace Context, `traceparent`).
  public var traceparent: String?
  /// Identifies the dispatch, so that repeating it can be recognised.
  public var idempotencyKey: String?
  /// Whatever else the app wants to know of the event, by names that aren't those of the other
  /// parts in JSON: `tags`, `correlationId`, `causationId`, `traceparent`, `idempotencyKey`.
  public var custom: [String: Value]

  /// Metadata of the given parts.
  public init(
    occurredTime: Timestamp? = nil, tags: [String] = [], correlationID: String? = nil,
    causationID: String? = nil, traceparent: String? = nil, idempotencyKey: String? = nil,
    custom: [String: Value] = [:]
  ) {
    self.occurredTime = occurredTime
    self.tags = tags
    self.correlationID = correlationID
    self.causationID = causationID
    self.traceparent = traceparent
    self.idempotencyKey = idempotencyKey
    self.custom = custom
  }

  /// The names of the parts in JSON; those besides are the custom ones.
  package enum Name {
    package static let tags = "tags"
    package static let correlationID = "correlationId"
    package static let causationID = "causationId"
    package static let traceparent = "traceparent"
    package static let idempotencyKey = "idempotencyKey"

    package static let all = [tags, correlationID, causationID, traceparent, idempotencyKey]
  }

  /// No metadata.
  public static let none = EventMetadata()

  /// Whether there is anything besides the occurred time, which has its own place in a record.
  package var needsMap: Bool {
    !tags.isEmpty || correlationID != nil || causationID != nil || traceparent != nil
      || idempotencyKey != nil || !custom.isEmpty
  }
}

/// The keys of the CBOR map that holds an event's metadata in a commit record.
private enum MetadataKey: UInt64 {
  case tags = 1
  case correlationID = 2
  case causationID = 3
  case traceparent = 4
  case idempotencyKey = 5
  case custom = 6
}

extension EventMetadata {
  /// The map of all but the occurred time, as a commit record holds it.
  package var recordValue: Value {
    var map = ValueMap()
    func set(_ key: MetadataKey, _ text: String?) {
      if let text { map[.unsigned(key.rawValue)] = .string(text) }
    }
    if !tags.isEmpty {
      map[.unsigned(MetadataKey.tags.rawValue)] = .array(tags.map { .string($0) })
    }
    set(.correlationID, correlationID)
    set(.causationID, causationID)
    set(.traceparent, traceparent)
    set(.idempotencyKey, idempotencyKey)
    if !custom.isEmpty {
      var inner = ValueMap()
      for (key, value) in custom { inner[key] = value }
      map[.unsigned(MetadataKey.custom.rawValue)] = .map(inner)
    }
    return .map(map)
  }

  /// The metadata that a commit record's map holds, or nil where it isn't such a map.
  ///
  /// Unknown keys make it nil, too: a newer version that adds one raises the format.
  package init?(recordValue: Value, occurredTime: Timestamp?) {
    guard case .map(let map) = recordValue else { return nil }
    self.init(occurredTime: occurredTime)
    for pair in map.pairs {
      guard case .unsigned(let number) = pair.key, let key = MetadataKey(rawValue: number) else {
        return nil
      }
      switch (key, pair.value) {
      case (.correlationID, .string(let text)): correlationID = text
      case (.causationID, .string(let text)): causationID = text
      case (.traceparent, .string(let text)): traceparent = text
      case (.idempotencyKey, .string(let text)): idempotencyKey = text
      case (.tags, .array(let values)):
        for value in values {
          guard case .string(let tag) = value else { return nil }
          tags.append(tag)
        }
      case (.custom, .map(let inner)):
        for pair in inner.pairs {
          guard case .string(let key) = pair.key else { return nil }
          custom[key] = pair.value
        }
      default: return nil
      }
    }
  }
}
