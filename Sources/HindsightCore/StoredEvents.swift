// The events of a log as a sequence: what is there, and then what comes.
// It always holds: every index once and in order, and memory for a few events only.

import HindsightValue

/// An event of the app as the log has it.
public struct StoredEvent<Event: Sendable>: Sendable {
  /// The event's index.
  public let index: EventIndex
  /// The event; nil for the engine's own (`hindsight.…`), which reducers don't see.
  public let event: Event?
  /// The type under which it is recorded.
  public let typeName: String
  /// When the event's commit was recorded.
  public let recordedTime: Timestamp
  /// What was recorded beside the event.
  public let metadata: EventMetadata

  /// When the event happened, as far as the log knows: the occurred, else the recorded time.
  public var time: Timestamp { metadata.occurredTime ?? recordedTime }
}

/// Who knows how far the events go, and waits for more.
package protocol EventSource: Sendable {
  /// The index of the newest event that may be seen.
  var visibleIndex: EventIndex { get throws }

  /// Waits until that is another one.
  ///
  /// - Returns: false where there will be none, as all was closed or the task cancelled.
  func waitForChange(from index: EventIndex) async -> Bool

  /// Why there will be no more events, where that isn't for having been closed.
  var reasonOfEnd: HindsightError? { get }
}

/// The events of a log from an index on: first those that are there, then each that comes, by this
/// process or another.
///
/// Nothing is read ahead but a few events, so a slow reader costs no memory; it falls behind and
/// catches up from the log. Ends when the store is closed and every event was read; throws
/// `CancellationError` when the task is cancelled, the reason where the log can't be followed any
/// further, and a ``HindsightError`` with code `closed`
/// where the store was closed before, or with the index of an event that can't be read.
public struct StoredEvents<Event: Codable & Sendable>: AsyncSequence, Sendable {
  /// What the sequence consists of.
  public typealias Element = StoredEvent<Event>

  private let log: any EventLog
  private let coder: EventCoder<Event>
  fileprivate let source: any EventSource
  fileprivate let first: EventIndex
  private let typeNames: Set<String>?
  /// Whether to wait for events that aren't there yet.
  fileprivate let isFollowing: Bool

  package init(
    log: any EventLog, coder: EventCoder<Event>, source: any EventSource, first: EventIndex,
    typeNames: Set<String>?, isFollowing: Bool
  ) {
    self.log = log
    self.coder = coder
    self.source = source
    self.first = first
    self.typeNames = typeNames
    self.isFollowing = isFollowing
  }

  /// Starts at the sequence's first index; iterators are independent of each other.
  public func makeAsyncIterator() -> Iterator { Iterator(events: self) }

  /// Reads events on behalf of one reader.
  public struct Iterator: AsyncIteratorProtocol {
    private let events: StoredEvents
    private var next: EventIndex
    /// Events that were read and not returned yet, in reverse order.
    private var buffer: [Element] = []

    init(events: StoredEvents) {
      self.events = events
      next = Swift.max(events.first, 1)
    }

    /// The next event; nil at the end.
    public mutating func next() async throws -> Element? {
      while true {
        if let element = buffer.popLast() { return element }
        try Task.checkCancellation()
        let visible = try events.source.visibleIndex
        if next <= visible {
          (buffer, next) = try events.read(from: next, through: visible)
          continue
        }
        guard events.isFollowing else { return nil }
        guard await events.source.waitForChange(from: visible) else {
          try Task.checkCancellation()
          if let reason = events.source.reasonOfEnd { throw reason }
          return nil
        }
      }
    }
  }

  /// How many events are read at a time.
  private static var readCountMax: EventIndex { 256 }

  /// Reads a few events.
  ///
  /// - Returns: those of the wanted types in reverse order, and the index to go on from.
  fileprivate func read(
    from first: EventIndex, through last: EventIndex
  ) throws -> ([Element], EventIndex) {
    let end = Swift.min(last, first + Self.readCountMax - 1)
    var elements: [Element] = []
    var scratch = CBORWriter()
    try log.forEachEvent(in: first...end) { record in
      guard typeNames?.contains(record.typeName) ?? true else { return .next }
      elements.append(try element(of: record, &scratch))
      return .next
    }
    elements.reverse()
    return (elements, end + 1)
  }

  private func element(
    of record: RecordedEvent, _ scratch: inout CBORWriter
  ) throws -> Element {
    var event: Event?
    if record.form != .control {
      do {
        event = try coder.decode(
          type: EventType(name: record.typeName, form: record.form),
          payload: record.payloadBytes.span.bytes, scratch: &scratch)
      } catch {
        throw error.hindsightError(index: record.index)
      }
    }
    return Element(
      index: record.index, event: event, typeName: record.typeName,
      recordedTime: record.recordedTime, metadata: record.metadata)
  }
}
