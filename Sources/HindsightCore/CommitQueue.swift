// What dispatchers hand to the writer: a queue that is bounded in bytes.
// It always holds: what was enqueued is resumed exactly once, committed, refused or cancelled.

/// One call of a dispatcher, on its way to the writer.
struct PendingDispatch<R: Reducer>: Sendable {
  enum Work: Sendable {
    /// One event, encoded.
    case event(R.Event, EventMetadata)
    /// A batch, encoded, without metadata.
    case batch([R.Event])
    /// A batch, encoded.
    case annotatedBatch([AnnotatedEvent<R.Event>])
    /// Events that are decided with the state before them.
    case transact(@Sendable (R.State) throws -> [R.Event], EventMetadata)
    /// Nothing to append: done when all before it is.
    case barrier
  }

  let ticket: UInt64
  let work: Work
  /// The encoded events of what isn't decided by the writer.
  let frames: EventFrames
  /// What this counts for in the bounded queue.
  let size: Int
  let continuation: CheckedContinuation<Receipt, any Error>
}

/// The queue between dispatchers and the writer.
///
/// Unchecked: everything mutable is used under the lock.
final class CommitQueue<R: Reducer>: @unchecked Sendable {
  private let lock = Lock()
  private let sizeMax: Int
  private var entries: [PendingDispatch<R>] = []
  private var size = 0
  /// Dispatchers that wait for room, first come first served.
  private var admissions: [(ticket: UInt64, size: Int, CheckedContinuation<Void, any Error>)] = []
  private var nextTicket: UInt64 = 0
  /// Why nothing is enqueued any more.
  private var refusal: HindsightError?
  /// Whether the writer is to end.
  private var isFinished = false

  init(sizeMax: Int) { self.sizeMax = sizeMax }

  // MARK: Dispatchers

  /// A number that identifies a call.
  func ticket() -> UInt64 {
    lock.withLock {
      nextTicket += 1
      return nextTicket
    }
  }

  /// Waits until there is room for a size, or none is queued.
  func admit(_ entrySize: Int, ticket: UInt64) async throws {
    let isAdmitted = try lock.withLock {
      if let refusal { throw refusal }
      return admissions.isEmpty && hasRoom(for: entrySize)
    }
    if isAdmitted { return }
    try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let answer: Result<Void, any Error>? = lock.withLock {
          if let refusal { return .failure(refusal) }
          if Task.isCancelled { return .failure(CancellationError()) }
          if admissions.isEmpty && hasRoom(for: entrySize) { return .success(()) }
          admissions.append((ticket, entrySize, continuation))
          return nil
        }
        if let answer { continuation.resume(with: answer) }
      }
    } onCancel: {
      let found = lock.withLock { () -> CheckedContinuation<Void, any Error>? in
        guard let position = admissions.firstIndex(where: { $0.ticket == ticket }) else {
          return nil
        }
        return admissions.remove(at: position).2
      }
      found?.resume(throwing: CancellationError())
    }
  }

  /// Enqueues a call, or resumes it with the reason why it can't be.
  ///
  /// Called from the task that waits for it, so that its cancellation is seen here or finds the
  /// entry.
  func enqueue(_ entry: PendingDispatch<R>) {
    let reason: (any Error)? = lock.withLock {
      if let refusal { return refusal }
      if Task.isCancelled { return CancellationError() }
      entries.append(entry)
      size += entry.size
      if entries.count == 1 { lock.broadcast() }
      return nil
    }
    if let reason { entry.continuation.resume(throwing: reason) }
  }

  /// Takes a call back, if the writer hasn't taken it.
  func cancel(ticket: UInt64) {
    let found = lock.withLock { () -> PendingDispatch<R>? in
      guard let position = entries.firstIndex(where: { $0.ticket == ticket }) else { return nil }
      size -= entries[position].size
      return entries.remove(at: position)
    }
    found?.continuation.resume(throwing: CancellationError())
  }

  private func hasRoom(for entrySize: Int) -> Bool {
    entries.isEmpty || size + entrySize <= sizeMax
  }

  // MARK: The writer

  /// Waits for calls and takes them, up to a size (but at least one).
  ///
  /// - Returns: an empty group where none came within the patience, nil where the queue is
  ///   finished.
  func take(sizeMax: Int, patience: Duration) -> [PendingDispatch<R>]? {
    var admitted: [CheckedContinuation<Void, any Error>] = []
    lock.lock()
    if entries.isEmpty && !isFinished { lock.wait(atMost: patience) }
    if isFinished {
      lock.unlock()
      return nil
    }
    var count = 0
    var taken = 0
    while count < entries.count, count == 0 || taken + entries[count].size <= sizeMax {
      taken += entries[count].size
      count += 1
    }
    let group: [PendingDispatch<R>]
    if count == entries.count {
      group = entries
      entries = []
      entries.reserveCapacity(min(count, 4_096))
    } else {
      group = Array(entries[..<count])
      entries.removeSubrange(..<count)
    }
    size -= taken
    var room = size
    while let first = admissions.first, room == 0 || room + first.size <= self.sizeMax {
      room += first.size
      admitted.append(admissions.removeFirst().2)
    }
    lock.unlock()
    for continuation in admitted { continuation.resume() }
    return group
  }

  /// Refuses everything from now on, what waits included.
  ///
  /// - Parameter isFinished: whether the writer is to end, too.
  func refuse(with error: HindsightError, isFinished: Bool) {
    lock.lock()
    if refusal == nil { refusal = error }
    if isFinished { self.isFinished = true }
    let failed = entries
    let refused = admissions
    entries = []
    admissions = []
    size = 0
    lock.broadcast()
    lock.unlock()
    for entry in failed { entry.continuation.resume(throwing: error) }
    for (_, _, continuation) in refused { continuation.resume(throwing: error) }
  }
}
