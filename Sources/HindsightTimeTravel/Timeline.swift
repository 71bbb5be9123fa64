// The states of a log at any index, read-only and beside a live writer.
// It always holds: what is returned depends on the log and the index only, not on what was asked.

public import HindsightCore

/// The history of a store: its events, and the state at any index.
///
/// A timeline only reads. It works beside a store that is open for writing, in this process or in
/// another one, and sees what was durable when it was opened or last refreshed.
///
/// **Isolation.** May be used from any task; replaying runs on threads of its own.
public final class Timeline<R: Reducer>: Sendable {
  /// What the events are applied with.
  public let reducer: R
  private let log: any EventLog
  private let storage: (any SnapshotStorage)?
  private let recovery: StateRecovery<R>
  private let contents: TimelineContents<R.State>

  /// A timeline of a log and its snapshots.
  ///
  /// - Throws: ``HindsightError``: `reducerMismatch`, `closed`.
  public init(
    _ reducer: R, log: any EventLog, snapshots: (any SnapshotStorage)? = nil
  ) throws {
    guard log.genesis.reducerName == reducer.name else {
      throw HindsightError(
        .reducerMismatch,
        "the store belongs to the reducer \(log.genesis.reducerName), not to \(reducer.name): "
          + "open it with that one, or give this one its name")
    }
    self.reducer = reducer
    self.log = log
    storage = snapshots
    recovery = try StateRecovery(reducer: reducer, log: log, storage: snapshots)
    contents = TimelineContents(log: log, head: try log.head().index)
  }

  /// The newest index that the timeline knows.
  public var head: EventIndex { contents.head }

  /// Looks for newer events.
  ///
  /// - Returns: the newest index.
  @discardableResult
  public func refresh() throws -> EventIndex {
    let head = try log.head().index
    contents.raise(head: head)
    return head
  }

  /// The events from an index on, up to the head; with `isFollowing`, then each that comes (within
  /// a tenth of a second), whatever process appends it.
  ///
  /// - Parameters:
  ///   - index: the first event's index.
  ///   - typeNames: only events recorded under these types; nil for all.
  public func events(
    from index: EventIndex = 1, ofTypes typeNames: Set<String>? = nil, isFollowing: Bool = false
  ) -> StoredEvents<R.Event> {
    StoredEvents(
      log: log, coder: recovery.coder, source: contents, first: index, typeNames: typeNames,
      isFollowing: isFollowing)
  }

  /// The last index up to which no event is later than a time; 0 where the first one is later.
  ///
  /// An event's time is when it occurred, else when it was recorded. O(log n) in the events.
  public func index(at time: Timestamp) throws -> EventIndex {
    try min(log.index(at: time), head)
  }

  /// The state at an index: after that event, or the initial state for 0.
  ///
  /// Starts from the nearest snapshot or the nearest state that was asked for recently. O(k) in the
  /// events after that.
  ///
  /// - Parameter progress: told after each commit, on another thread, how far the replay has come.
  /// - Throws: `CancellationError`, or ``HindsightError``: `indexBeyondHead`, or with the index of
  ///   an event that can't be replayed.
  public func state(
    at index: EventIndex, progress: (@Sendable (EventIndex) -> Void)? = nil
  ) async throws -> R.State {
    guard index <= head else {
      throw HindsightError(
        .indexBeyondHead, "there is no index \(index): the timeline ends at \(head)",
        index: index)
    }
    let known = contents.nearest(through: index)
    let state = try await WorkerThread.run { [recovery] cancellation in
      var reached: R.State?
      _ = try recovery.recover(
        through: index, from: known, partial: { state, _ in reached = state },
        shouldStop: { reached in
          progress?(reached)
          try cancellation.check()
          return false
        })
      guard let reached else {
        throw HindsightError(
          .missingCommit, "the replay ended before index \(index)", index: index)
      }
      return reached
    }
    contents.remember(state, index)
    return state
  }

  /// Ends the use of the timeline's log and snapshots.
  public func close() throws {
    try storage?.close()
    try log.close()
  }
}

/// What a timeline knows besides the log. Unchecked: everything mutable is used under the lock.
private final class TimelineContents<State: Sendable>: EventSource, @unchecked Sendable {
  /// How many states are kept: enough to step to and fro between a few places.
  private static var stateCountMax: Int { 8 }

  /// How long to wait before looking for new commits.
  private static var pollInterval: Duration { .milliseconds(50) }

  private let log: any EventLog
  private let lock = Lock()
  private var newest: EventIndex
  private var failure: HindsightError?
  /// States asked for recently, the latest last.
  private var states: [(state: State, index: EventIndex)] = []

  init(log: any EventLog, head: EventIndex) {
    self.log = log
    newest = head
  }

  var head: EventIndex { lock.withLock { newest } }

  func raise(head: EventIndex) {
    lock.withLock { newest = max(newest, head) }
  }

  var visibleIndex: EventIndex { head }

  func waitForChange(from seen: EventIndex) async -> Bool {
    while true {
      do {
        let index = try log.head().index
        raise(head: index)
        if index != seen { return true }
      } catch {
        end(because: error)
        return false
      }
      guard (try? await Task.sleep(for: Self.pollInterval)) != nil else { return false }
    }
  }

  var reasonOfEnd: HindsightError? { lock.withLock { failure } }

  private func end(because error: any Error) {
    // Of a log that was closed, that there will be no more is all there is to say.
    guard let error = error as? HindsightError, error.code != .closed else { return }
    lock.withLock { failure = error }
  }

  func nearest(through index: EventIndex) -> (state: State, index: EventIndex)? {
    lock.withLock {
      states.filter { $0.index <= index }.max { $0.index < $1.index }
    }
  }

  func remember(_ state: State, _ index: EventIndex) {
    lock.withLock {
      states.removeAll { $0.index == index }
      states.append((state, index))
      if states.count > Self.stateCountMax { states.removeFirst() }
    }
  }
}
