// Tells a person how far a long piece of work is: one line on standard error that replaces itself.
// It always holds: where nobody looks, nothing is written; and it is gone before other output.

import Synchronization

/// A line that shows how far the work is, on a terminal alone.
///
/// Updates come as often as the work likes: at most ten a second are shown.
package final class ProgressLine: Sendable {
  private struct State: Sendable {
    var shownAt: ContinuousClock.Instant?
    var isShown = false
  }

  private static let interval = Duration.milliseconds(100)

  private let descriptor: Int32
  private let terminal: Terminal
  private let label: String
  private let start: ContinuousClock.Instant
  private let state = Mutex(State())

  package init(_ label: String, descriptor: Int32 = 2, terminal: Terminal) {
    self.label = label
    self.descriptor = descriptor
    self.terminal = terminal
    start = .now
  }

  /// Shows that so many of the whole number, if that is known, are done.
  package func update(_ count: Int, of total: Int? = nil, now: ContinuousClock.Instant = .now) {
    guard terminal.isTerminal else { return }
    state.withLock { state in
      if let shownAt = state.shownAt, now - shownAt < Self.interval { return }
      state.shownAt = now
      state.isShown = true
      show(line(count, of: total, elapsed: now - start))
    }
  }

  /// Takes the line away.
  package func clear() {
    guard terminal.isTerminal else { return }
    state.withLock { state in
      guard state.isShown else { return }
      state.isShown = false
      show("")
    }
  }

  /// The line's text: how many, what part of all, how many a second.
  func line(_ count: Int, of total: Int?, elapsed: Duration) -> String {
    var text = "\(label): \(grouped(count))"
    if let total, total > 0 { text += " of \(grouped(total)) (\(count * 100 / total) %)" }
    let seconds = Double(elapsed.components.seconds) + Double(elapsed.components.attoseconds) / 1e18
    if seconds >= 1 { text += ", \(grouped(Int(Double(count) / seconds))) a second" }
    return String(text.prefix(max(0, (terminal.columns ?? 80) - 1)))
  }

  private func show(_ text: String) {
    var line = "\r" + text + "\u{1b}[K"
    // A terminal that can't be written to is no reason to stop the work.
    line.withUTF8 { bytes in
      try? SystemCalls.write(UnsafeRawBufferPointer(bytes), to: descriptor)
    }
  }
}

/// A number with commas between thousands: `1,234,567`.
package func grouped(_ number: some BinaryInteger) -> String {
  let digits = String(number.magnitude)
  var text = number < 0 ? "-" : ""
  for (offset, digit) in digits.enumerated() {
    if offset > 0, (digits.count - offset) % 3 == 0 { text.append(",") }
    text.append(digit)
  }
  return text
}
