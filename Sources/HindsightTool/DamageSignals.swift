// Damaged pages can end a process by a signal in the middle of a read: the file is mapped into
// memory, and LMDB trusts it. A person gets one line then, and a script an exit status.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What happens on the signals that reading damaged pages raises.
enum DamageSignals {
  private static let numbers = [SIGBUS, SIGSEGV, SIGABRT]

  /// Ends the process with one line and ``ExitStatus/badData``.
  static func endWithMessage(store: String) {
    message.prepare(
      "\(RootCommand.name): the pages of \(store) are damaged, or its file is shorter than they "
        + "say; see '\(RootCommand.name) verify'\n")
    for number in numbers { _ = signal(number) { _ in message.writeAndExit() } }
  }

  /// Ends the process by the signal, without a word: its parent tells what it means.
  static func endSilently() {
    for number in numbers { _ = signal(number, SIG_DFL) }
  }
}

/// Text that a signal handler can write, which may not allocate or lock.
private struct PreparedMessage {
  private var bytes: UnsafePointer<UInt8>?
  private var count = 0

  mutating func prepare(_ text: String) {
    let buffer = UnsafeMutableBufferPointer<UInt8>.allocate(capacity: text.utf8.count)
    _ = buffer.initialize(fromContentsOf: text.utf8)
    bytes = UnsafePointer(buffer.baseAddress)
    count = buffer.count
  }

  func writeAndExit() {
    _ = write(2, bytes, count)
    _exit(ExitStatus.badData.rawValue)
  }
}

// Safe because it is set before the handler is installed that reads it, by the one thread that runs
// the command, and its text is never freed.
private nonisolated(unsafe) var message = PreparedMessage()
