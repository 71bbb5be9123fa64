// The writer: takes what dispatchers queued, appends it as one commit, and reduces it.
// It always holds: a dispatcher is resumed after its events are durable and in the state.

/// Takes groups of dispatches from the queue and commits them. Used by one thread.
final class CommitWriter<R: Reducer> {
  private let recovery: StateRecovery<R>
  private let log: any EventLog
  private let reducer: R
  private let coder: EventCoder<R.Event>
  private let holder: StateHolder<R.State>
  private let queue: CommitQueue<R>
  private let clock: @Sendable () -> Timestamp
  private let snapshotter: Snapshotter<R>

  private var builder = CommitBuilder()
  /// The newest head that the state includes.
  private var applied: LogHead
  /// Whether the reducer has its own `validate`; known from the first event on.
  private var isValidating: Bool?

  /// As many bytes of waiting dispatches become one commit at most; a larger one is one alone.
  private let groupSizeMax = 64 << 20

  init(
    recovery: StateRecovery<R>, holder: StateHolder<R.State>, queue: CommitQueue<R>,
    snapshotter: Snapshotter<R>, applied: LogHead, clock: @escaping @Sendable () -> Timestamp
  ) {
    self.recovery = recovery
    log = recovery.log
    reducer = recovery.reducer
    coder = recovery.coder
    self.holder = holder
    self.queue = queue
    self.snapshotter = snapshotter
    self.applied = applied
    self.clock = clock
  }

  /// How long the writer waits for dispatches before it looks for commits of other processes.
  private static var patience: Duration { .milliseconds(50) }

  /// Commits and follows other processes' commits until the queue is finished.
  func run() {
    // Whatever user code this thread runs is a reducer, a validation or a decision.
    StoreScope.$isInside.withValue(true) {
      while let group = queue.take(sizeMax: groupSizeMax, patience: Self.patience) {
        if let reason = follow() {
          for entry in group { entry.continuation.resume(throwing: reason) }
          return
        }
        if !group.isEmpty { commit(group) }
      }
    }
  }

  /// Where a dispatch of the group stands.
  private enum Outcome {
    /// Its events are in the commit, from this position on.
    case appended(position: Int, count: Int)
    case refused(any Error)
  }

  /// One commit on its way: what it holds and how far the state has followed.
  private struct Attempt {
    var outcomes: [Outcome] = []
    /// Whether the state is reduced before the flush, and locked until after it.
    var isSpeculative = false
    var first: EventIndex = 0
    var recordedTime = Timestamp(rawValue: 0)
  }

  private func commit(_ group: [PendingDispatch<R>]) {
    builder.removeAll()
    var attempt = Attempt()
    attempt.outcomes.reserveCapacity(group.count)
    do {
      let head = try log.append { head in
        try catchUp(to: head)
        attempt.first = head.index + 1
        attempt.recordedTime = max(clock(), head.recordedTime)
        for position in group.indices { try prepare(group, position, &attempt) }
        guard !builder.isEmpty else { return nil }
        return PendingCommit(
          builder: builder,
          position: builder.position(after: head, recordedTime: attempt.recordedTime))
      }
      publish(group, attempt, head)
    } catch {
      abandon(group, attempt, error)
    }
  }

  // MARK: Preparing

  private func prepare(
    _ group: [PendingDispatch<R>], _ position: Int, _ attempt: inout Attempt
  ) throws {
    let entry = group[position]
    if !attempt.isSpeculative, needsState(entry) {
      holder.lockForWriting()
      attempt.isSpeculative = true
      for earlier in group.indices[..<position] { reduce(group[earlier], attempt, earlier) }
    }
    let start = builder.eventCount
    guard attempt.isSpeculative else {
      builder.append(entry.frames)
      attempt.outcomes.append(.appended(position: start, count: entry.frames.frames.count))
      return
    }
    do {
      let count = try prepareWithState(entry, attempt, start)
      attempt.outcomes.append(.appended(position: start, count: count))
    } catch {
      attempt.outcomes.append(.refused(error))
    }
  }

  private func needsState(_ entry: PendingDispatch<R>) -> Bool {
    switch entry.work {
    case .transact: true
    case .barrier: false
    case .event(let event, _): validates(event)
    case .batch(let events): events.first.map(validates) ?? false
    case .annotatedBatch(let events): (events.first?.event).map(validates) ?? false
    }
  }

  private func validates(_ event: R.Event) -> Bool {
    if let isValidating { return isValidating }
    let answer = holder.read { state, _ in ValidationProbe.isValidating(reducer, event, state) }
    isValidating = answer
    return answer
  }

  /// Decides, validates and reduces one dispatch with the state before it, all or nothing.
  ///
  /// - Returns: the number of its events.
  private func prepareWithState(
    _ entry: PendingDispatch<R>, _ attempt: Attempt, _ start: Int
  ) throws -> Int {
    switch entry.work {
    case .barrier: return 0
    case .event(let event, let metadata):
      return try apply(1, entry.frames, attempt, start) { _ in (event, metadata) }
    case .batch(let events):
      return try apply(events.count, entry.frames, attempt, start) { (events[$0], .none) }
    case .annotatedBatch(let events):
      return try apply(events.count, entry.frames, attempt, start) {
        (events[$0].event, events[$0].metadata)
      }
    case .transact(let decide, let metadata):
      var events: [R.Event] = []
      try holder.change { state, _ in events = try decide(state) }
      var frames = EventFrames()
      for event in events { try coder.encode(event, metadata: metadata, into: &frames) }
      guard builder.fits(frames) else { throw CommitLimit.error(size: frames.recordSizeMax) }
      return try apply(events.count, frames, attempt, start) { (events[$0], metadata) }
    }
  }

  /// Validates and reduces events one after the other; if one is refused, the state is as before.
  private func apply(
    _ count: Int, _ frames: EventFrames, _ attempt: Attempt, _ start: Int,
    _ event: (Int) -> (R.Event, EventMetadata)
  ) throws -> Int {
    if count == 0 { return 0 }
    let isValidating = validatesWhileLocked(event(0).0)
    try holder.change { state, _ in
      // Only a batch of a reducer that validates can fail half-way, and costs a copy.
      let saved = isValidating && count > 1 ? state : nil
      for position in 0..<count {
        let (event, metadata) = event(position)
        if isValidating {
          do { try reducer.validate(event, in: state) } catch {
            if let saved { state = saved }
            throw refusal(error, frames.frames[position].type, position, count)
          }
        }
        reducer.reduce(into: &state, event, context: context(attempt, start + position, metadata))
      }
    }
    builder.append(frames)
    return count
  }

  private func validatesWhileLocked(_ event: R.Event) -> Bool {
    if let isValidating { return isValidating }
    var answer = false
    holder.change { state, _ in
      answer = ValidationProbe.isValidating(reducer, event, state)
    }
    isValidating = answer
    return answer
  }

  private func refusal(
    _ error: any Error, _ type: EventType, _ position: Int, _ count: Int
  ) -> HindsightError {
    let place = count > 1 ? "event \(position + 1) of the batch of \(count)" : "the event"
    return HindsightError(
      .eventRefused,
      "\(place), of type \(type.name), was refused by the reducer's validation, and nothing was "
        + "appended", eventType: type.name, batchPosition: position, cause: error)
  }

  private func context(
    _ attempt: Attempt, _ position: Int, _ metadata: EventMetadata
  ) -> EventContext {
    let index = attempt.first + EventIndex(position)
    if metadata.needsMap {
      return EventContext(index: index, recordedTime: attempt.recordedTime, metadata: metadata)
    }
    return EventContext(
      index: index, recordedTime: attempt.recordedTime, occurredTime: metadata.occurredTime)
  }

  // MARK: After the flush

  private func publish(
    _ group: [PendingDispatch<R>], _ attempt: Attempt, _ head: LogHead?
  ) {
    if !attempt.isSpeculative { holder.lockForWriting() }
    if let head {
      var reducing = (count: 0, duration: Duration.zero)
      if !attempt.isSpeculative {
        let start = ContinuousClock.now
        for position in group.indices { reduce(group[position], attempt, position) }
        reducing = (builder.eventCount, .now - start)
      }
      holder.change { _, index in index = head.index }
      applied = head
      snapshotter.committed(head, holder, reducing: reducing)
    }
    holder.unlockAfterWriting()
    for (entry, outcome) in zip(group, attempt.outcomes) {
      switch outcome {
      case .appended(let position, let count):
        let last = attempt.first + EventIndex(position + count) - 1
        entry.continuation.resume(
          returning: Receipt(index: last, count: count, recordedTime: attempt.recordedTime))
      case .refused(let error): entry.continuation.resume(throwing: error)
      }
    }
  }

  /// Reduces what was appended without looking at the state.
  private func reduce(_ entry: PendingDispatch<R>, _ attempt: Attempt, _ position: Int) {
    guard case .appended(let start, _) = attempt.outcomes[position] else { return }
    holder.change { state, _ in
      switch entry.work {
      case .event(let event, let metadata):
        reducer.reduce(into: &state, event, context: context(attempt, start, metadata))
      case .batch(let events):
        for (offset, event) in events.enumerated() {
          reducer.reduce(into: &state, event, context: context(attempt, start + offset, .none))
        }
      case .annotatedBatch(let events):
        for (offset, event) in events.enumerated() {
          let context = context(attempt, start + offset, event.metadata)
          reducer.reduce(into: &state, event.event, context: context)
        }
      case .transact, .barrier: break
      }
    }
  }

  /// After an attempt that appended nothing, or of which that isn't known.
  private func abandon(_ group: [PendingDispatch<R>], _ attempt: Attempt, _ error: any Error) {
    if attempt.isSpeculative {
      let failure = Result { try rebuild() }
      holder.unlockAfterWriting()
      if case .failure(let failure) = failure {
        latch("the state couldn't be read back from the log: \(failure)", cause: error)
      }
    }
    if let error = error as? HindsightError, error.code == .commitOutcomeUnknown {
      stop(because: error)
    } else if let error = error as? CatchUpError {
      stop(because: error.reason)
    }
    let reason = (error as? CatchUpError)?.reason ?? error
    for entry in group { entry.continuation.resume(throwing: reason) }
  }

  private func latch(_ message: String, cause: any Error) {
    stop(
      because: HindsightError(
        .commitOutcomeUnknown, "after a failed commit \(message): reopen the store", cause: cause))
  }

  /// Dispatches nothing any more, and ends the waiting of all that follow the state.
  private func stop(because reason: HindsightError) {
    queue.refuse(with: reason, isFinished: true)
    holder.close(because: reason)
  }

  /// Makes the state from the log, as after a commit that failed when its events were reduced.
  private func rebuild() throws {
    let head = try log.head()
    _ = try recovery.recover(through: head.index) { state, reached in
      holder.change { current, index in
        current = state
        index = reached
      }
    }
    applied = head
  }

  // MARK: Other writers

  /// Why the state can't follow the log.
  private struct CatchUpError: Error {
    let reason: HindsightError
  }

  /// Brings the state to what other processes appended, outside of a write transaction.
  ///
  /// - Returns: why the state can't follow the log, nil where it can; nothing is dispatched any
  ///   more then.
  private func follow() -> HindsightError? {
    do {
      let head = try log.head()
      if head != applied { try catchUp(to: head) }
      return nil
    } catch let error as CatchUpError {
      stop(because: error.reason)
      return error.reason
    } catch {
      // A log that can't be read now is one that the next commit or look finds out about.
      return nil
    }
  }

  /// Brings the state to a head that another process has moved on.
  private func catchUp(to head: LogHead) throws {
    if head == applied { return }
    guard head.index > applied.index, try log.digest(at: applied.index) == applied.digest else {
      throw CatchUpError(
        reason: HindsightError(
          .corrupt,
          "the log isn't the one that was opened: it had index \(applied.index) and now ends at "
            + "\(head.index) with another history; reopen the store", index: applied.index))
    }
    var replayer = Replayer(reducer: reducer, coder: coder)
    var reached = applied.index
    // In steps, so that readers of the state don't wait for the whole of a long way.
    while reached < head.index {
      let start = reached
      holder.lockForWriting()
      defer { holder.unlockAfterWriting() }
      do {
        try holder.change { state, index in
          try replayer.replay(
            log, through: head.index, into: &state, index: &index,
            shouldStop: { $0 - start >= Self.stepCountMax })
          reached = index
        }
      } catch {
        forgetTornCommit(after: start)
        throw CatchUpError(
          reason: HindsightError(
            .readOnly,
            "another process appended what this one can't read, so this store can only be read now",
            index: (error as? HindsightError)?.index, cause: error))
      }
    }
    applied = head
  }

  /// After a replay that ended within a commit: makes the state whole again, from the log.
  private func forgetTornCommit(after start: EventIndex) {
    var torn: EventIndex = 0
    holder.change { _, index in torn = index }
    guard torn > start else { return }
    var whole = start
    // What can't be read now leaves the state where the last whole step ended.
    try? log.scan(torn...torn, reversed: false) { commit in
      whole = commit.lastIndex == torn ? torn : commit.firstIndex - 1
      return .stop
    }
    guard whole < torn else { return }
    _ = try? recovery.recover(through: whole) { state, reached in
      holder.change { current, index in (current, index) = (state, reached) }
    }
  }

  /// After so many events of other processes, and the end of a commit, others may look at the
  /// state.
  private static var stepCountMax: EventIndex { 4_096 }
}

/// The size that a commit can have.
enum CommitLimit {
  static func error(size: Int) -> HindsightError {
    HindsightError(
      .commitTooLarge,
      "what was dispatched at once needs up to \(size) bytes, and a commit holds at most "
        + "\(CommitLayout.recordSizeMax): dispatch it in smaller batches")
  }
}
