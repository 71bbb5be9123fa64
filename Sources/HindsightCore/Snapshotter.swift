// Writes snapshots on a thread of its own, from a copy of the state.
// It always holds: a snapshot that fails stops nothing, and one is written at a time.

import HindsightValue

/// Decides when a snapshot is due, and writes it in the background.
///
/// Unchecked: everything mutable is used under the lock.
final class Snapshotter<R: Reducer>: @unchecked Sendable {
  private struct Job {
    let state: R.State
    let index: EventIndex
    let completion: CheckedContinuation<EventIndex, any Error>?
  }

  private let plan: SnapshotPlan<R>?
  private let log: any EventLog
  private let coder: EventCoder<R.Event>
  private let clock = ContinuousClock()
  private let lock = Lock()
  private var jobs: [Job] = []
  private var isWorking = false
  private var isClosed = false
  private var newestIndex: EventIndex
  private var pacer: SnapshotPacer
  private var failure: (any Error)?

  /// - Parameter newestIndex: the index of the snapshot that the state was read from, or 0.
  init(
    plan: SnapshotPlan<R>?, log: any EventLog, coder: EventCoder<R.Event>,
    policy: SnapshotPolicy, newestIndex: EventIndex
  ) {
    self.plan = plan
    self.log = log
    self.coder = coder
    pacer = SnapshotPacer(policy: policy)
    self.newestIndex = newestIndex
  }

  /// Why the last snapshot couldn't be written; nil where it could.
  var lastError: (any Error)? { lock.withLock { failure } }

  /// Starts a snapshot where one is due. Called by the writer, with the state locked.
  ///
  /// - Parameter reducing: how many events the commit had, and how long reducing them took.
  func committed(
    _ head: LogHead, _ holder: StateHolder<R.State>, reducing: (count: Int, duration: Duration)
  ) {
    guard plan != nil else { return }
    lock.lock()
    defer { lock.unlock() }
    pacer.reduced(reducing.count, in: reducing.duration)
    let count = head.index - min(newestIndex, head.index)
    guard !isClosed, !isWorking, pacer.isDue(eventCount: count, now: clock.now) else { return }
    holder.change { state, _ in
      start(Job(state: state, index: head.index, completion: nil))
    }
  }

  /// Writes a snapshot of a state now.
  ///
  /// - Returns: the index.
  func save(_ state: R.State, index: EventIndex) async throws -> EventIndex {
    try await withCheckedThrowingContinuation { continuation in
      let refusal: HindsightError? = lock.withLock {
        if isClosed { return .closedStore }
        guard plan != nil else {
          return HindsightError(.readOnly, "this store has no place for snapshots")
        }
        start(Job(state: state, index: index, completion: continuation))
        return nil
      }
      if let refusal { continuation.resume(throwing: refusal) }
    }
  }

  /// Waits for what is being written; nothing is started afterwards. Blocks.
  func close() {
    lock.lock()
    isClosed = true
    while isWorking { lock.wait() }
    lock.unlock()
  }

  /// Adds a job, and a thread where none works; the caller holds the lock.
  private func start(_ job: Job) {
    newestIndex = max(newestIndex, job.index)
    jobs.append(job)
    if isWorking { return }
    isWorking = WorkerThread.start { [self] in work() }
    if isWorking { return }
    jobs.removeLast()
    let error = HindsightError(
      .inputOutput, "the system has no thread for writing a snapshot: it is tried again later")
    failure = error
    job.completion?.resume(throwing: error)
  }

  private func work() {
    while true {
      let job: Job? = lock.withLock {
        if jobs.isEmpty {
          isWorking = false
          lock.broadcast()
          return nil
        }
        return jobs.removeFirst()
      }
      guard let job else { return }
      let start = clock.now
      let result = Result { try write(job) }
      let end = clock.now
      let sample = decodingSample(through: job.index)
      lock.withLock {
        pacer.wrote(in: end - start, now: end)
        pacer.decoded(sample.count, in: sample.duration)
        if case .failure(let error) = result { failure = error } else { failure = nil }
      }
      job.completion?.resume(with: result)
    }
  }

  private func write(_ job: Job) throws -> EventIndex {
    guard let plan, let digest = try log.digest(at: job.index) else {
      throw HindsightError(
        .unusableSnapshot, "the log doesn't reach the snapshot's index \(job.index)",
        index: job.index)
    }
    try StoreScope.$isInside.withValue(true) {
      try plan.save(job.state, index: job.index, commitDigest: digest)
    }
    try plan.thinOut(toSize: max(Self.keptSizeMin, log.storedSize()))
    return job.index
  }

  /// Snapshots may take so many bytes, however short the log is.
  private static var keptSizeMin: UInt64 { 16 << 20 }

  /// Decodes the newest events up to an index, to see how long it takes.
  private func decodingSample(through index: EventIndex) -> (count: Int, duration: Duration) {
    var count = 0
    var scratch = CBORWriter()
    let first = index - min(index - 1, Self.sampleCount - 1)
    let start = clock.now
    // What can't be read isn't this one's to report.
    try? log.forEachEvent(in: first...index) { event in
      _ = try coder.decode(
        type: EventType(name: event.typeName, form: event.form),
        payload: event.payloadBytes.span.bytes, scratch: &scratch)
      count += 1
      return .next
    }
    return (count, clock.now - start)
  }

  private static var sampleCount: EventIndex { 256 }
}

extension HindsightError {
  /// What calls of a closed store get.
  static var closedStore: HindsightError {
    HindsightError(.closed, "the store has been closed: open it again to go on")
  }
}
