// The current state and its index, behind one lock, and who waits for the next one.
// It always holds: outside of the lock, state and index belong together and are durable.

import Synchronization

/// The current state of a store with its index.
///
/// Unchecked: everything mutable is used under the lock. The writer holds it while it reduces, and
/// through the flush of a commit that it has to reduce before.
final class StateHolder<State: Sendable>: EventSource, @unchecked Sendable {
  private let lock = Lock()
  private var state: State
  private var index: EventIndex
  private var isClosed = false
  private var failure: HindsightError?
  private var waiters: [UInt64: CheckedContinuation<Bool, Never>] = [:]
  private var nextWaiter: UInt64 = 0
  /// The thread that holds the lock for the writer; what it calls mustn't come back here.
  private let writerThread = Atomic<UInt>(0)

  init(state: State, index: EventIndex) {
    self.state = state
    self.index = index
  }

  // MARK: Readers

  /// Looks at the state where it is, without a copy of it.
  func read<Result>(_ body: (State, EventIndex) throws -> Result) rethrows -> Result {
    precondition(
      !isHeldByThisThread,
      "the store's state was asked for inside of its own reducer, validation or transact")
    lock.lock()
    defer { lock.unlock() }
    return try body(state, index)
  }

  /// Waits until the index is another one.
  ///
  /// - Returns: false where there will be none, as the store was closed or the task cancelled.
  func waitForChange(from seen: EventIndex) async -> Bool {
    let ticket = lock.withLock {
      nextWaiter += 1
      return nextWaiter
    }
    return await withTaskCancellationHandler {
      await withCheckedContinuation { continuation in
        let answer: Bool? = lock.withLock {
          // A cancellation after this look finds the waiter, as it needs the lock.
          if isClosed || Task.isCancelled { return index != seen && !Task.isCancelled }
          if index != seen { return true }
          waiters[ticket] = continuation
          return nil
        }
        if let answer { continuation.resume(returning: answer) }
      }
    } onCancel: {
      let waiter = lock.withLock { waiters.removeValue(forKey: ticket) }
      waiter?.resume(returning: false)
    }
  }

  var visibleIndex: EventIndex { read { $1 } }

  // MARK: The writer

  private var isHeldByThisThread: Bool {
    // Read without the lock: only this thread itself can have made it equal.
    writerThread.load(ordering: .relaxed) == WorkerThread.current
  }

  func lockForWriting() {
    lock.lock()
    writerThread.store(WorkerThread.current, ordering: .relaxed)
  }

  /// Changes state and index; the caller has called ``lockForWriting()``.
  func change(_ body: (inout State, inout EventIndex) throws -> Void) rethrows {
    try body(&state, &index)
  }

  /// Shows what was changed, and wakes who waits for it.
  func unlockAfterWriting() {
    let woken = Array(waiters.values)
    waiters.removeAll(keepingCapacity: true)
    writerThread.store(0, ordering: .relaxed)
    lock.unlock()
    for waiter in woken { waiter.resume(returning: true) }
  }

  /// Why the state follows the log no longer, where that isn't for having been closed.
  var reasonOfEnd: HindsightError? { lock.withLock { failure } }

  /// Ends all waiting; the state can still be read.
  ///
  /// - Parameter reason: why the state can't follow the log any more; nil where it needn't.
  func close(because reason: HindsightError? = nil) {
    lock.lock()
    if !isClosed { failure = reason }
    isClosed = true
    let woken = Array(waiters.values)
    waiters.removeAll()
    lock.unlock()
    for waiter in woken { waiter.resume(returning: false) }
  }
}
