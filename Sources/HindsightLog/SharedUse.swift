// What several threads use until one closes it.
// It always holds: it is in use by nobody when closing returns.

import HindsightCore
import HindsightLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An environment that is used from many threads and closed once.
final class SharedUse: @unchecked Sendable {  // All below is only touched with the lock held.
  private let condition = Condition()
  private var environment: Environment?
  private var users: [pthread_t] = []
  private let path: String

  init(_ environment: Environment, path: String) {
    self.environment = environment
    self.path = path
  }

  /// Calls a closure with the environment, which isn't closed before that returns.
  ///
  /// - Throws: ``HindsightError`` with code `closed`, or what the closure throws.
  func use<Result>(_ body: (Environment) throws -> Result) throws -> Result {
    let environment = try condition.withLock { () throws(HindsightError) in
      guard let environment = self.environment else {
        throw HindsightError(.closed, "the store at \(path) has been closed")
      }
      users.append(pthread_self())
      return environment
    }
    defer {
      condition.withLock {
        if let position = users.lastIndex(where: { pthread_equal($0, pthread_self()) != 0 }) {
          users.remove(at: position)
        }
        condition.signalAll()
      }
    }
    return try body(environment)
  }

  /// Refuses further use and waits for what is running. Not from within a use: a precondition.
  func close() {
    condition.withLock {
      precondition(
        !users.contains { pthread_equal($0, pthread_self()) != 0 },
        "a store can't be closed from within a scan or an append of its own")
      environment = nil
      while !users.isEmpty { condition.wait() }
    }
  }
}
