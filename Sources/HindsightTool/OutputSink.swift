// Where a command's result goes: buffered, and quiet when the reader has gone.
// It always holds: bytes leave in the order of the writes, and none leaves after a failed one.

import Synchronization

/// The reader of the output has gone, as after `hindsight log | head`: nothing to complain about.
package struct OutputClosed: Error {
  package init() {}
}

/// A descriptor that is written to through a buffer.
///
/// To a terminal each write goes at once; otherwise when the buffer is full, or when ``flush()`` is
/// called, as it must be in the end. Writes from several tasks don't mix, each is whole.
package final class OutputSink: Sendable {
  private struct State: Sendable {
    var buffer: [UInt8] = []
    var failure: SystemError?
  }

  private let descriptor: Int32
  private let capacityBytes: Int
  private let state: Mutex<State>
  /// What stands at the other end.
  package let terminal: Terminal

  package init(descriptor: Int32, terminal: Terminal, capacityBytes: Int = 1 << 16) {
    self.descriptor = descriptor
    self.terminal = terminal
    self.capacityBytes = terminal.isTerminal ? 0 : capacityBytes
    var state = State()
    state.buffer.reserveCapacity(capacityBytes)
    self.state = Mutex(state)
    SystemCalls.ignoreBrokenPipes()
  }

  /// Standard output, as it is at the moment.
  package static func standardOutput(environment: [String: String]) -> OutputSink {
    OutputSink(descriptor: 1, terminal: .detect(1, environment: environment))
  }

  /// Writes text.
  ///
  /// - Throws: ``OutputClosed`` where the reader has gone, otherwise a ``ToolError`` with status
  ///   ``ExitStatus/inputOutput``; then every later write throws the same.
  package func write(_ text: String) throws {
    var text = text
    try text.withUTF8 { try write(UnsafeRawBufferPointer($0)) }
  }

  /// Writes a line of text.
  package func writeLine(_ text: String) throws {
    try write(text + "\n")
  }

  /// Writes bytes; see ``write(_:)-(String)``.
  package func write(_ bytes: UnsafeRawBufferPointer) throws {
    try state.withLock { state in
      try check(state)
      if state.buffer.count + bytes.count > capacityBytes { try drain(&state) }
      if bytes.count >= capacityBytes {
        try attempt(&state) { _ throws(SystemError) in
          try SystemCalls.write(bytes, to: descriptor)
        }
      } else {
        state.buffer.append(contentsOf: bytes)
      }
    }
  }

  /// Writes bytes; see ``write(_:)-(String)``.
  package func write(_ bytes: [UInt8]) throws {
    try bytes.withUnsafeBytes { try write($0) }
  }

  /// Hands everything written so far to the system.
  package func flush() throws {
    try state.withLock { state in
      try check(state)
      try drain(&state)
    }
  }

  private func drain(_ state: inout State) throws {
    guard !state.buffer.isEmpty else { return }
    try attempt(&state) { state throws(SystemError) in
      do {
        let result = state.buffer.withUnsafeBytes { bytes in
          Result { () throws(SystemError) in try SystemCalls.write(bytes, to: descriptor) }
        }
        state.buffer.removeAll(keepingCapacity: true)
        try result.get()
      }
    }
  }

  private func attempt(
    _ state: inout State, _ body: (inout State) throws(SystemError) -> Void
  ) throws {
    do { try body(&state) } catch {
      state.failure = error
      try check(state)
    }
  }

  private func check(_ state: State) throws {
    guard let failure = state.failure else { return }
    if failure.isBrokenPipe { throw OutputClosed() }
    throw ToolError(.inputOutput, "the output can't be written: \(failure)")
  }
}
