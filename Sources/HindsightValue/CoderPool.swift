// Coder states are expensive to make and cheap to use again: one waits on each thread.
// It always holds: a state is used by one call at a time, and never freed.

import Synchronization

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Darwin)
  import Darwin
#endif

/// The states of one kind of coder that wait to be used.
///
/// A coder takes the one of its thread; where that is in use (a type's `encode(to:)` may use a
/// coder of its own), or the thread is new, one that another thread left, or a new one.
///
/// Sendable, as the key never changes and the rest is behind a lock.
final class CoderPool: @unchecked Sendable {
  private let key: pthread_key_t
  private let left = Mutex<[Int]>([])

  /// A pool whose threads hand over what they have when they end.
  init(_ whenThreadEnds: PoolDestructor) {
    var key = pthread_key_t()
    let result = pthread_key_create(&key, whenThreadEnds)
    precondition(result == 0, "no thread-specific key left: pthread_key_create gave \(result)")
    self.key = key
  }

  /// The state of this thread, which may be in use.
  @inline(__always)
  var current: UnsafeMutableRawPointer? { pthread_getspecific(key) }

  /// A state that is not in use; that of this thread from now on, if it has none.
  @inline(never)
  func takeOther(_ make: () -> UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
    let state = takeLeft() ?? make()
    if current == nil { pthread_setspecific(key, state) }
    return state
  }

  @inline(never)
  private func takeLeft() -> UnsafeMutableRawPointer? {
    left.withLock { $0.popLast() }.flatMap { UnsafeMutableRawPointer(bitPattern: $0) }
  }

  /// Gives back a state that isn't in use any more.
  @inline(__always)
  func give(_ state: UnsafeMutableRawPointer) {
    if _slowPath(current != state) { leave(state) }
  }

  /// Keeps a state for any thread.
  @inline(never)
  func leave(_ state: UnsafeMutableRawPointer) {
    left.withLock { $0.append(Int(bitPattern: state)) }
  }
}

#if canImport(Darwin)
  typealias PoolDestructor = @convention(c) (UnsafeMutableRawPointer) -> Void
#else
  typealias PoolDestructor = @convention(c) (UnsafeMutableRawPointer?) -> Void
#endif

#if !canImport(Darwin)
  /// The C library's, which its Swift module leaves out as it isn't POSIX.
  @_silgen_name("pthread_getattr_np")
  private func threadAttributes(
    _ thread: pthread_t, _ attributes: UnsafeMutablePointer<pthread_attr_t>
  ) -> CInt
#endif

/// How far the stack of the current thread may grow.
enum ThreadStack {
  /// The lowest address that code may still use, with room below it for what it calls.
  static var limit: UInt {
    let reserve: UInt = 96 << 10
    #if canImport(Darwin)
      let thread = pthread_self()
      let high = UInt(bitPattern: pthread_get_stackaddr_np(thread))
      return high - UInt(pthread_get_stacksize_np(thread)) + reserve
    #else
      var attributes = pthread_attr_t()
      guard threadAttributes(pthread_self(), &attributes) == 0 else { return 0 }
      defer { pthread_attr_destroy(&attributes) }
      var low: UnsafeMutableRawPointer?
      var size = 0
      guard pthread_attr_getstack(&attributes, &low, &size) == 0 else { return 0 }
      return UInt(bitPattern: low) + reserve
    #endif
  }

  /// An address in the caller's part of the stack.
  @inline(never)
  static var current: UInt {
    var marker: UInt8 = 0
    return withUnsafeMutablePointer(to: &marker) { UInt(bitPattern: $0) }
  }
}
