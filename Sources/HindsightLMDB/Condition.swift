// A lock that can be held across functions, and waited on; where `Mutex` can't be used.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A mutex with a condition, on which threads wait for others to change what it protects.
package final class Condition: @unchecked Sendable {  // The pointers never change.
  private let mutex: UnsafeMutablePointer<pthread_mutex_t>
  private let condition: UnsafeMutablePointer<pthread_cond_t>

  package init() {
    mutex = .allocate(capacity: 1)
    condition = .allocate(capacity: 1)
    mutex.initialize(to: pthread_mutex_t())
    condition.initialize(to: pthread_cond_t())
    let result = pthread_mutex_init(mutex, nil) | pthread_cond_init(condition, nil)
    precondition(result == 0, "the system has no more locks")
  }

  deinit {
    pthread_mutex_destroy(mutex)
    pthread_cond_destroy(condition)
    mutex.deallocate()
    condition.deallocate()
  }

  package func lock() { pthread_mutex_lock(mutex) }
  package func unlock() { pthread_mutex_unlock(mutex) }

  /// Gives up the lock until another thread signals, then takes it again. May return early.
  package func wait() { pthread_cond_wait(condition, mutex) }

  /// Wakes all that wait.
  package func signalAll() { pthread_cond_broadcast(condition) }

  package func withLock<Result: ~Copyable, Failure: Error>(
    _ body: () throws(Failure) -> Result
  ) throws(Failure) -> Result {
    lock()
    defer { unlock() }
    return try body()
  }
}
