// What opening a store did, and how it is done: newest usable snapshot, then replay.

/// What opening a store did.
public struct Recovery: Sendable, Hashable {
  /// The index of the snapshot that the state started from; nil for the initial state.
  public let snapshotIndex: EventIndex?
  /// How many events were replayed after it.
  public let replayedEventCount: EventIndex
  /// How long reading the snapshot and replaying took.
  public let duration: Duration
  /// The snapshots that couldn't be used, and why; newest first.
  public let ignoredSnapshots: [IgnoredSnapshot]

  /// The index of the state that was recovered.
  public var index: EventIndex { (snapshotIndex ?? 0) + replayedEventCount }
}

/// Makes the state at an index from a log and its snapshots.
package struct StateRecovery<R: Reducer> {
  package let reducer: R
  package let coder: EventCoder<R.Event>
  package let log: any EventLog
  package let snapshots: SnapshotPlan<R>?

  package init(reducer: R, log: any EventLog, storage: (any SnapshotStorage)?) throws {
    self.reducer = reducer
    self.log = log
    coder = EventCoder(eventTypeName: reducer.eventTypeName)
    snapshots = try storage.map { try SnapshotPlan(reducer: reducer, log: log, storage: $0) }
  }

  /// The state at an index. O(k) in the events since the nearest snapshot before it.
  ///
  /// - Parameters:
  ///   - known: a state at or before that index, to start from where no snapshot is nearer.
  ///   - partial: gets state and index as far as they came, also where an error is thrown.
  /// - Throws: ``HindsightError`` with the index of the event that can't be read.
  package func recover(
    through index: EventIndex, from known: (state: R.State, index: EventIndex)? = nil,
    partial: (consuming R.State, EventIndex) -> Void,
    shouldStop: (EventIndex) throws -> Bool = { _ in false }
  ) throws -> Recovery {
    let clock = ContinuousClock()
    let startTime = clock.now
    let head = try log.head().index
    guard index <= head else {
      throw HindsightError(
        .indexBeyondHead, "there is no index \(index): the log ends at \(head)", index: index)
    }
    let (found, ignored) =
      snapshots?.newest(through: index, after: known?.index ?? 0, head: head) ?? (nil, [])
    let start = found ?? known
    var reached = start?.index ?? 0
    var state = start?.state ?? reducer.initialState
    let first = reached
    var replayer = Replayer(reducer: reducer, coder: coder)
    let result = Result {
      try StoreScope.$isInside.withValue(true) {
        try replayer.replay(
          log, through: index, into: &state, index: &reached, shouldStop: shouldStop)
      }
    }
    partial(state, reached)
    try result.get()
    return Recovery(
      snapshotIndex: found?.index, replayedEventCount: reached - first,
      duration: clock.now - startTime, ignoredSnapshots: ignored)
  }
}
