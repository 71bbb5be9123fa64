// Appending a commit to the log, durably.
// It always holds: a commit whose append returned is on the disk, behind the head it was made for.

public import HindsightCore
import HindsightLMDB
import Synchronization

/// What a log remembers from append to append.
struct AppendState {
  /// Of the newest commit of this log's own, the number that LMDB gave to it.
  var transactionNumber: UInt64 = 0
  /// The newest attempt stamp that was given out, whatever became of the attempt.
  var attemptStamp: UInt64 = 0
  /// The error after which nothing is appended any more.
  var latchedError: HindsightError?
}

extension LMDBLog {
  /// Appends at most one commit and makes it durable; see ``EventLog``.
  ///
  /// - Throws: what the closure throws, as it is; or ``HindsightError``. With code `mapFull`,
  ///   `diskFull` or `commitTooLarge` nothing was appended, and the log stays usable. With
  ///   `commitOutcomeUnknown` it takes no further commits until it is closed and opened anew.
  public func append(_ prepare: (LogHead) throws -> PendingCommit?) throws -> LogHead? {
    guard !isReadOnly else {
      throw HindsightError(.readOnly, "the store at \(path) is open for reading only")
    }
    if let error = appending.withLock(\.latchedError) { throw error }
    return try using { environment in
      var transaction = try environment.beginWrite()
      let number = try transaction.number()
      let head = try readHead(transaction, number)
      guard let pending = try prepare(head.head) else { return nil }
      return try append(pending, after: head, in: &transaction, number)
    }
  }

  /// The newest position, its record's digest checked unless this log wrote it.
  private func readHead(
    _ transaction: borrowing WriteTransaction, _ number: UInt64
  ) throws -> (head: LogHead, attemptStamp: UInt64) {
    let isOwn = appending.withLock { $0.transactionNumber == number - 1 }
    var cursor = try transaction.cursor(commits)
    return try head(try cursor.move(.last), checkingDigest: !isOwn)
  }

  private func append(
    _ pending: PendingCommit, after head: (head: LogHead, attemptStamp: UInt64),
    in transaction: inout WriteTransaction, _ number: UInt64
  ) throws -> LogHead {
    let builder = pending.builder
    var position = pending.position
    precondition(
      position.firstIndex == head.head.index + 1
        && position.predecessorDigest == head.head.digest
        && position.recordedTime >= head.head.recordedTime
        && position.maximumEventTime >= head.head.maximumEventTime,
      "a commit follows the head that it was asked for")
    let size = builder.recordSize
    guard size <= CommitLayout.recordSizeMax else {
      throw HindsightError(
        .commitTooLarge,
        "the commit would have \(size) bytes; \(CommitLayout.recordSizeMax) are possible")
    }
    position.attemptStamp = try nextAttemptStamp(after: head.attemptStamp)
    try transaction.reserveSpace(forValueBytes: size)
    var digest: UInt64 = 0
    try transaction.reserve(
      commits, .number(position.firstIndex), sizeBytes: size, placement: .last
    ) { target in
      builder.write(into: target, at: position)
      let end = size - CommitLayout.digestSize
      digest = Digest.of(UnsafeRawBufferPointer(rebasing: target[..<end]))
      target.storeBytes(of: digest.littleEndian, toByteOffset: end, as: UInt64.self)
    }
    do throws(LMDBError) {
      try transaction.commit()
    } catch {
      throw latch(error)
    }
    appending.withLock { $0.transactionNumber = number }
    return LogHead(
      index: position.firstIndex + UInt64(builder.eventCount) - 1, digest: digest,
      recordedTime: position.recordedTime, maximumEventTime: position.maximumEventTime)
  }

  /// A stamp above all that were given out for this place in the log before.
  private func nextAttemptStamp(after stamp: UInt64) throws(HindsightError) -> UInt64 {
    guard stamp < .max else {
      throw HindsightError(.corrupt, "the newest commit of \(path) has an impossible stamp")
    }
    let now = UInt64(clamping: Timestamp.now.rawValue)
    return appending.withLock { state in
      state.attemptStamp = max(max(stamp, state.attemptStamp) + 1, now)
      return state.attemptStamp
    }
  }

  private func latch(_ cause: LMDBError) -> HindsightError {
    let error = HindsightError(
      .commitOutcomeUnknown,
      "a commit to \(path) failed, and may or may not be in the log: close the store and open it "
        + "anew to see", cause: cause)
    appending.withLock { $0.latchedError = error }
    return error
  }
}
