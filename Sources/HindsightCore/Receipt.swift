// What a dispatcher gets back, and an event with its metadata.

/// What a dispatch returns once its events are durable.
public struct Receipt: Sendable, Hashable {
  /// The index of the last event; where there was none, the head that was seen.
  public let index: EventIndex
  /// The number of events.
  public let count: Int
  /// When the commit was recorded.
  public let recordedTime: Timestamp

  package init(index: EventIndex, count: Int, recordedTime: Timestamp) {
    self.index = index
    self.count = count
    self.recordedTime = recordedTime
  }

  /// The indexes of the events, in the order in which they were dispatched.
  public var indexes: Range<EventIndex> { (index + 1 - EventIndex(count))..<(index + 1) }
}

/// An event to dispatch, with what is to be recorded beside it.
public struct AnnotatedEvent<Event: Sendable>: Sendable {
  /// The event.
  public var event: Event
  /// What is to be recorded beside it.
  public var metadata: EventMetadata

  /// An event with its metadata.
  public init(_ event: Event, metadata: EventMetadata) {
    self.event = event
    self.metadata = metadata
  }
}
