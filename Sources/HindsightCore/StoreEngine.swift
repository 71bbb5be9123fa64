// What a store consists of, and how its threads start and end.

/// The parts of a store, shared by the store and its threads.
///
/// Unchecked: what is mutable is used under the lock.
final class StoreEngine<R: Reducer>: @unchecked Sendable {
  let log: any EventLog
  let holder: StateHolder<R.State>
  let queue: CommitQueue<R>
  let snapshotter: Snapshotter<R>
  let recovery: Recovery
  private let storage: (any SnapshotStorage)?

  private let lock = Lock()
  private var isWriting = false
  private var isClosing = false
  /// How closing ended, once it has.
  private var closed: Result<Void, any Error>?
  private var closers: [CheckedContinuation<Void, any Error>] = []

  private init(
    log: any EventLog, storage: (any SnapshotStorage)?, holder: StateHolder<R.State>,
    queue: CommitQueue<R>, snapshotter: Snapshotter<R>, recovery: Recovery
  ) {
    self.log = log
    self.storage = storage
    self.holder = holder
    self.queue = queue
    self.snapshotter = snapshotter
    self.recovery = recovery
  }

  // MARK: Opening

  /// Recovers the state on a new thread, which then becomes the writer.
  static func start(
    _ reducer: R, log: any EventLog, storage: (any SnapshotStorage)?, options: StoreOptions
  ) async throws -> StoreEngine {
    do {
      try StoreScope.checkOutside("opening a store")
      try options.check()
      guard log.genesis.reducerName == reducer.name else {
        throw HindsightError(
          .reducerMismatch,
          "the store belongs to the reducer \(log.genesis.reducerName), not to \(reducer.name): "
            + "open it with that one, or give this one its name")
      }
      return try await run(reducer, log: log, storage: storage, options: options)
    } catch {
      try? storage?.close()
      try? log.close()
      throw error
    }
  }

  private static func run(
    _ reducer: R, log: any EventLog, storage: (any SnapshotStorage)?, options: StoreOptions
  ) async throws -> StoreEngine {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isStarted = WorkerThread.start {
          let result = Result {
            try recover(
              reducer, log: log, storage: storage, options: options, cancellation: cancellation)
          }
          switch result {
          case .failure(let error): continuation.resume(throwing: error)
          case .success(let (engine, writer)):
            continuation.resume(returning: engine)
            engine.run(writer)
          }
        }
        if !isStarted {
          continuation.resume(
            throwing: HindsightError(
              .inputOutput, "the system has no thread for the store's writer: try again later"))
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  private static func recover(
    _ reducer: R, log: any EventLog, storage: (any SnapshotStorage)?, options: StoreOptions,
    cancellation: Cancellation
  ) throws -> (StoreEngine, CommitWriter<R>) {
    let recovery = try StateRecovery(reducer: reducer, log: log, storage: storage)
    let head = try log.head()
    var recovered: (R.State, EventIndex)?
    let report = try recovery.recover(
      through: head.index, partial: { recovered = ($0, $1) },
      shouldStop: { _ in
        try cancellation.check()
        return false
      })
    guard let (state, index) = recovered, index == head.index else {
      throw HindsightError(
        .missingCommit, "the replay ended before the log's head \(head.index)", index: head.index)
    }
    let queue = CommitQueue<R>(sizeMax: options.queueSizeMax)
    let holder = StateHolder(state: state, index: index)
    let snapshotter = Snapshotter(
      plan: log.isReadOnly ? nil : recovery.snapshots, log: log, coder: recovery.coder,
      policy: options.snapshotPolicy, newestIndex: report.snapshotIndex ?? 0)
    let engine = StoreEngine(
      log: log, storage: storage, holder: holder, queue: queue, snapshotter: snapshotter,
      recovery: report)
    if log.isReadOnly {
      // The writer only follows other processes then.
      queue.refuse(
        with: HindsightError(
          .readOnly, "the store is open for reading only: open it for writing to dispatch"),
        isFinished: false)
    }
    engine.isWriting = true
    let writer = CommitWriter(
      recovery: recovery, holder: holder, queue: queue, snapshotter: snapshotter, applied: head,
      clock: options.clock)
    return (engine, writer)
  }

  private func run(_ writer: CommitWriter<R>) {
    writer.run()
    lock.withLock {
      isWriting = false
      lock.broadcast()
    }
  }

  // MARK: Dispatching

  /// Hands a call to the writer and waits for its commit.
  func submit(_ work: PendingDispatch<R>.Work, _ frames: EventFrames) async throws -> Receipt {
    let size = frames.recordSizeMax
    guard size + CommitLayout.headerSize + CommitLayout.digestSize <= CommitLayout.recordSizeMax
    else { throw CommitLimit.error(size: size) }
    let ticket = queue.ticket()
    try await queue.admit(size, ticket: ticket)
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        queue.enqueue(
          PendingDispatch(
            ticket: ticket, work: work, frames: frames, size: size, continuation: continuation))
      }
    } onCancel: {
      queue.cancel(ticket: ticket)
    }
  }

  // MARK: Closing

  /// Closes on a thread of its own; the continuation is resumed at the end.
  func startClosing(_ continuation: CheckedContinuation<Void, any Error>?) {
    lock.lock()
    if let closed {
      lock.unlock()
      continuation?.resume(with: closed)
      return
    }
    if let continuation { closers.append(continuation) }
    let isFirst = !isClosing
    isClosing = true
    lock.unlock()
    guard isFirst else { return }
    queue.refuse(with: .closedStore, isFinished: true)
    if !WorkerThread.start({ [self] in close() }) { close() }
  }

  private func close() {
    lock.lock()
    while isWriting { lock.wait() }
    lock.unlock()
    snapshotter.close()
    holder.close()
    let result = Result {
      try storage?.close()
      try log.close()
    }
    lock.lock()
    closed = result
    let waiting = closers
    closers = []
    lock.unlock()
    for closer in waiting { closer.resume(with: result) }
  }
}
