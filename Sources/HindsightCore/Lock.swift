// A lock with a condition, and a thread: what the writer needs besides Swift's own concurrency.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A mutual exclusion lock with one condition, for threads that must block.
///
/// Not recursive. Unchecked: the POSIX objects behind it are made for use from any thread, and
/// stay at one address.
package final class Lock: @unchecked Sendable {
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    pthread_mutex_init(mutex, nil)
    pthread_cond_init(condition, nil)
  }

  deinit {
    pthread_cond_destroy(condition)
    pthread_mutex_destroy(mutex)
    condition.deallocate()
    mutex.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }

  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Waits for a signal; the caller holds the lock, and holds it again afterwards.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Waits for a signal or until a time has passed; the caller holds the lock, before and after.
  package func wait(atMost duration: Duration) {
    var until = timespec()
    clock_gettime(CLOCK_REALTIME, &until)
    let (seconds, attoseconds) = duration.components
    let nanoseconds = Int(until.tv_nsec) + Int(attoseconds / 1_000_000_000)
    until.tv_sec += Int(seconds) + nanoseconds / 1_000_000_000
    until.tv_nsec = nanoseconds % 1_000_000_000
    pthread_cond_timedwait(condition, mutex, &until)
  }

  /// Wakes all that wait.
  package func broadcast() { pthread_cond_broadcast(condition) }

  package func withLock<Result, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}

/// A thread of the operating system that runs one function to its end.
package enum WorkerThread {
  /// The stack of a worker: enough for deeply nested states, whose coding recurses.
  private static let stackSize = 16 << 20

  /// Starts a thread.
  ///
  /// - Returns: whether the system had one to give.
  package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
    let argument = Unmanaged.passRetained(Start(body)).toOpaque()
    let result = create(argument)
    if result != 0 { Unmanaged<Start>.fromOpaque(argument).release() }
    return result == 0
  }

  /// Creates a detached thread that runs a `Start`; an error number where that fails.
  private static func create(_ argument: UnsafeMutableRawPointer) -> Int32 {
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    defer { pthread_attr_destroy(&attributes) }
    pthread_attr_setstacksize(&attributes, stackSize)
    pthread_attr_setdetachstate(&attributes, Int32(PTHREAD_CREATE_DETACHED))
    #if canImport(Darwin)
      var thread: pthread_t?
      return pthread_create(&thread, &attributes, { runStart($0) }, argument)
    #else
      var thread = pthread_t()
      return pthread_create(&thread, &attributes, { runStart($0!) }, argument)
    #endif
  }

  /// Runs a blocking function on a thread of its own, off the cooperative pool.
  ///
  /// - Parameter body: gets a flag that tells whether the calling task was cancelled.
  package static func run<Result: Sendable>(
    _ body: @escaping @Sendable (Cancellation) throws -> Result
  ) async throws -> Result {
    let cancellation = Cancellation()
    return try await withTaskCancellationHandler {
      try await withCheckedThrowingContinuation { continuation in
        let isStarted = start {
          continuation.resume(with: Swift.Result { try body(cancellation) })
        }
        if !isStarted {
          continuation.resume(
            throwing: HindsightError(
              .inputOutput, "the system has no thread to give: try again later"))
        }
      }
    } onCancel: {
      cancellation.cancel()
    }
  }

  /// A number for the calling thread: never 0, and not another running thread's.
  package static var current: UInt {
    #if canImport(Darwin)
      UInt(bitPattern: pthread_self())
    #else
      UInt(pthread_self())
    #endif
  }
}

/// What a thread is to run.
private final class Start: Sendable {
  let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) { self.body = body }
}

private func runStart(_ argument: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer? {
  Unmanaged<Start>.fromOpaque(argument).takeRetainedValue().body()
  return nil
}

/// Whether a task was cancelled, for threads that work for it.
package final class Cancellation: @unchecked Sendable {
  // Protected by the lock.
  private let lock = Lock()
  private var state = false

  package var isCancelled: Bool { lock.withLock { state } }

  package func cancel() { lock.withLock { state = true } }

  /// - Throws: `CancellationError` where the task was cancelled.
  package func check() throws {
    if isCancelled { throw CancellationError() }
  }
}
