// The store: dispatches events durably, and has the state that they lead to.

/// A state that is made of events, each of them in a log before its dispatch returns.
///
/// ```swift
/// let store = try await Store(Bank(), at: "bank.hindsight")
/// let receipt = try await store.dispatch(.deposited(account: "alice", cents: 10_000))
/// let (state, index) = store.current
/// ```
///
/// **Guarantees.** When a dispatch returns, its events are durable, in the order and at the indexes
/// that the receipt names, and ``current`` includes them. A batch is in the log as a whole or not
/// at all. Nobody sees a state whose events a crash could take back. What a dispatch costs doesn't
/// depend on how long the log is or how large the state.
///
/// **Isolation.** A store may be used from any task and thread. One task's dispatches keep their
/// order; those of many tasks are grouped into common commits. Reducing, validating and deciding
/// happen on the store's own thread, one at a time.
///
/// Call ``close()`` when done: it waits for what is being committed. A store that is merely
/// released closes itself some time later.
public final class Store<R: Reducer>: Sendable {
  /// The state that the store's events change.
  public typealias State = R.State
  /// What can be dispatched.
  public typealias Event = R.Event

  /// What the events are applied with.
  public let reducer: R
  /// What opening the store did: where the state came from.
  public let recovery: Recovery
  /// What the log was made with.
  public var genesis: LogGenesis { engine.log.genesis }

  private let engine: StoreEngine<R>
  private let coder: EventCoder<R.Event>

  /// Opens a store over a log.
  ///
  /// Reads the newest usable snapshot and replays the events after it, on a thread of its own.
  ///
  /// - Parameters:
  ///   - snapshots: where snapshots are kept; nil for none.
  /// - Throws: ``HindsightError``: `reducerMismatch`, `invalidOption`, or with the index of an
  ///   event that can't be replayed. Log and snapshots are closed then.
  public init(
    _ reducer: R, log: any EventLog, snapshots: (any SnapshotStorage)? = nil,
    options: StoreOptions = StoreOptions()
  ) async throws {
    self.reducer = reducer
    coder = EventCoder(eventTypeName: reducer.eventTypeName)
    engine = try await StoreEngine.start(reducer, log: log, storage: snapshots, options: options)
    recovery = engine.recovery
  }

  deinit { engine.startClosing(nil) }

  // MARK: Reading

  /// The current state and its index, taken together.
  ///
  /// The state is a value: it stays as it is. Holding it makes the next commit copy what it
  /// changes of it, so of a large state prefer ``read(_:)`` or ``changes(of:)``. Waits for a
  /// commit that had to be reduced before its flush, but never for another dispatcher.
  ///
  /// - Precondition: not called by the store's own reducer, validation or `transact`.
  public var current: (state: R.State, index: EventIndex) {
    engine.holder.read { ($0, $1) }
  }

  /// Looks at the current state where it is; only the result is copied.
  ///
  /// The closure holds up commits, so it should be short.
  public func read<Result>(_ body: (R.State, EventIndex) throws -> Result) rethrows -> Result {
    try engine.holder.read(body)
  }

  /// The values of a part of the state: the current one at once, and then each time that it has
  /// changed, the newest only.
  ///
  /// The selector runs on the state where it is, when the sequence is asked for its next value: who
  /// doesn't read costs nothing, and a slow reader skips values but never gets an old one. Ends
  /// when the store is closed, when it can't follow the log any more, or the task is cancelled.
  public func changes<Part: Equatable & Sendable>(
    of part: @escaping @Sendable (R.State) -> Part
  ) -> StateChanges<R, Part> {
    StateChanges(holder: engine.holder, select: part)
  }

  /// The events from an index on: those that are there, and then each that comes, by this process
  /// or another one (within a tenth of a second).
  ///
  /// - Parameters:
  ///   - index: the first event's index.
  ///   - typeNames: only events recorded under these types; nil for all.
  public func events(
    from index: EventIndex = 1, ofTypes typeNames: Set<String>? = nil
  ) -> StoredEvents<R.Event> {
    StoredEvents(
      log: engine.log, coder: coder, source: engine.holder, first: index, typeNames: typeNames,
      isFollowing: true)
  }

  // MARK: Writing

  /// Appends an event.
  ///
  /// Returns once the event is durable and in ``current``. Cancelling the task counts until the
  /// event is taken into a commit, and then means that it was certainly not appended; after that,
  /// the receipt is returned.
  ///
  /// - Throws: `CancellationError`, or ``HindsightError``: `eventRefused` by the reducer's
  ///   validation, `invalidEvent`, `invalidMetadata`, `commitTooLarge`, `readOnly`, `closed`,
  ///   `reentrantCall`, `diskFull`, `mapFull`: the event wasn't appended; `commitOutcomeUnknown`:
  ///   the store must be reopened to see whether it was.
  @discardableResult
  public func dispatch(
    _ event: R.Event, metadata: EventMetadata = .none
  ) async throws -> Receipt {
    try StoreScope.checkOutside("dispatch")
    var frames = EventFrames()
    try coder.encode(event, metadata: metadata, into: &frames)
    return try await engine.submit(.event(event, metadata), frames)
  }

  /// Appends events as one commit: all of them, or none.
  ///
  /// No events are a receipt for the current head, and no commit.
  ///
  /// - Throws: as ``dispatch(_:metadata:)``. Where validation refused one, `batchPosition` tells
  ///   which.
  @discardableResult
  public func dispatch(contentsOf events: some Sequence<R.Event>) async throws -> Receipt {
    try StoreScope.checkOutside("dispatch")
    let events = Array(events)
    var frames = EventFrames()
    frames.frames.reserveCapacity(events.count)
    for event in events { try coder.encode(event, metadata: .none, into: &frames) }
    return try await engine.submit(events.isEmpty ? .barrier : .batch(events), frames)
  }

  /// Appends events with their metadata as one commit: all of them, or none.
  ///
  /// - Throws: as ``dispatch(contentsOf:)-(Sequence<R.Event>)``.
  @discardableResult
  public func dispatch(
    contentsOf events: some Sequence<AnnotatedEvent<R.Event>>
  ) async throws -> Receipt {
    try StoreScope.checkOutside("dispatch")
    let events = Array(events)
    var frames = EventFrames()
    frames.frames.reserveCapacity(events.count)
    for event in events { try coder.encode(event.event, metadata: event.metadata, into: &frames) }
    return try await engine.submit(events.isEmpty ? .barrier : .annotatedBatch(events), frames)
  }

  /// Decides with the newest state which events to append, without a race.
  ///
  /// The closure sees the state with everything that was committed before, including by other
  /// processes, and its events directly follow that. It runs on the store's thread inside of the
  /// write transaction, so it should be short; it may run again where a commit has to be tried
  /// again. Calling the store from inside of it is an error.
  ///
  /// - Parameter metadata: recorded with each of the events.
  /// - Throws: what the closure throws, and then nothing was appended; or as
  ///   ``dispatch(_:metadata:)``.
  @discardableResult
  public func transact(
    metadata: EventMetadata = .none,
    _ decide: @escaping @Sendable (R.State) throws -> [R.Event]
  ) async throws -> Receipt {
    try StoreScope.checkOutside("transact")
    return try await engine.submit(.transact(decide, metadata), EventFrames())
  }

  /// Waits until everything that was dispatched before is durable.
  public func flush() async throws {
    try StoreScope.checkOutside("flush")
    _ = try await engine.submit(.barrier, EventFrames())
  }

  /// Writes a snapshot of the current state.
  ///
  /// - Returns: the index of the snapshot; 0, without a snapshot, where the log is empty.
  /// - Throws: ``HindsightError``; the store can be used on, as a snapshot decides nothing.
  @discardableResult
  public func snapshot() async throws -> EventIndex {
    try StoreScope.checkOutside("snapshot")
    let (state, index) = current
    return index == 0 ? 0 : try await engine.snapshotter.save(state, index: index)
  }

  /// Why the last snapshot couldn't be written; nil where it could, or none was.
  public var lastSnapshotError: (any Error)? { engine.snapshotter.lastError }

  /// Ends the use of the store: waits for the commit and the snapshot that are being written.
  ///
  /// Dispatches that wait for a commit fail with code `closed`; their events weren't appended.
  /// ``current`` stays readable. Closing again does nothing.
  ///
  /// - Throws: ``HindsightError`` where log or snapshots can't be closed.
  public func close() async throws {
    try StoreScope.checkOutside("close")
    try await withCheckedThrowingContinuation { engine.startClosing($0) }
  }
}
