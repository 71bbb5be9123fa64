// What a reducer is told of an event besides the event itself.

/// The recorded circumstances of an event: the same in every replay.
public struct EventContext: Sendable {
  /// The event's index; the state after it is the state at this index.
  public let index: EventIndex
  /// When the event's commit was recorded.
  public let recordedTime: Timestamp
  /// When the event happened, where that was given.
  public let occurredTime: Timestamp?
  private let box: MetadataBox?

  /// Everything recorded beside the payload.
  public var metadata: EventMetadata {
    box?.metadata ?? EventMetadata(occurredTime: occurredTime)
  }

  /// When the event happened, as far as the log knows: the occurred, else the recorded time.
  public var time: Timestamp { occurredTime ?? recordedTime }

  /// A context with these parts, as for calling a reducer in a test.
  public init(index: EventIndex, recordedTime: Timestamp, metadata: EventMetadata = .none) {
    self.index = index
    self.recordedTime = recordedTime
    occurredTime = metadata.occurredTime
    box = metadata.needsMap ? MetadataBox(metadata) : nil
  }

  /// A context whose metadata are at most an occurred time: nothing is allocated.
  package init(index: EventIndex, recordedTime: Timestamp, occurredTime: Timestamp?) {
    self.index = index
    self.recordedTime = recordedTime
    self.occurredTime = occurredTime
    box = nil
  }
}

/// Keeps a context small: most events have no metadata.
private final class MetadataBox: Sendable {
  let metadata: EventMetadata

  init(_ metadata: EventMetadata) { self.metadata = metadata }
}
