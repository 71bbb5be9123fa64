// What leaves through the sink and the progress line, and what is taken for a terminal.
// It always holds: outputs are pipes, and what is said of a terminal is handed in.

import Foundation
import Testing

@testable import HindsightTool

@Suite struct OutputTests {
  private let screen = Terminal(isTerminal: true, hasColour: true, columns: 40, rows: 10)

  @Test func `a sink keeps what it is given until the buffer is full or flushed`() throws {
    let pipe = Pipe()
    let sink = OutputSink(descriptor: pipe.writeEnd, terminal: .none, capacityBytes: 8)
    try sink.write("abc")
    #expect(available(pipe) == 0)
    try sink.write("defghi")
    #expect(available(pipe) == 3)
    try sink.write("a long one of many bytes")
    #expect(available(pipe) == 33)
    try sink.writeLine("x")
    try sink.flush()
    #expect(
      String(decoding: try pipe.contents(), as: UTF8.self)
        == "abcdefghia long one of many bytesx\n")
  }

  @Test func `a terminal sees each write at once`() throws {
    let pipe = Pipe()
    let sink = OutputSink(descriptor: pipe.writeEnd, terminal: screen)
    try sink.write("abc")
    #expect(available(pipe) == 3)
  }

  @Test func `large and small writes keep their order`() throws {
    var generator = seededGenerator()
    let pieces = (0..<200).map { index in
      [UInt8](repeating: UInt8(index), count: Int.random(in: 0...60, using: &generator))
    }
    let pipe = Pipe()
    let sink = OutputSink(descriptor: pipe.writeEnd, terminal: .none, capacityBytes: 32)
    for piece in pieces { try sink.write(piece) }
    try sink.flush()
    #expect(try pipe.contents() == pieces.flatMap { $0 })
  }

  @Test func `a reader that has gone ends the output quietly`() throws {
    var ends: [Int32] = [-1, -1]
    try #require(pipe(&ends) == 0)
    close(ends[0])
    defer { close(ends[1]) }
    let sink = OutputSink(descriptor: ends[1], terminal: .none)
    try sink.write("abc")
    #expect(throws: OutputClosed.self) { try sink.flush() }
    #expect(throws: OutputClosed.self) { try sink.write("more") }
    #expect(ExitStatus(for: OutputClosed()) == .success)
  }

  #if os(Linux)
    @Test func `a full disk is an error that says so`() throws {
      let full = open("/dev/full", O_WRONLY)
      try #require(full >= 0)
      defer { close(full) }
      let sink = OutputSink(descriptor: full, terminal: .none)
      try sink.write("abc")
      let error = #expect(throws: ToolError.self) { try sink.flush() }
      #expect(error?.status == .inputOutput)
      #expect(error?.description == "the output can't be written: No space left on device")
    }
  #endif

  @Test func `a pipe is no terminal`() {
    let pipe = Pipe()
    #expect(Terminal.detect(pipe.writeEnd, environment: ["TERM": "xterm"]) == .none)
    #expect(Terminal.none.styled("a", .added) == "a")
  }

  @Test func `the environment decides on colour and size`() {
    func seen(_ environment: [String: String]) -> Terminal {
      .interpret(columns: 120, rows: 0, environment: environment)
    }
    #expect(seen(["TERM": "xterm"]).hasColour)
    #expect(seen(["TERM": "xterm", "NO_COLOR": ""]).hasColour)
    #expect(!seen(["TERM": "xterm", "NO_COLOR": "1"]).hasColour)
    #expect(!seen(["TERM": "dumb"]).hasColour)
    #expect(!seen([:]).hasColour)
    #expect(seen([:]).columns == 120 && seen([:]).rows == 24)
    #expect(seen(["COLUMNS": "50", "LINES": "x"]).columns == 50)
    #expect(screen.styled("a", .added) == "\u{1b}[32ma\u{1b}[0m")
  }

  @Test func `progress is shown on a terminal alone, and taken away`() throws {
    let quiet = Pipe()
    let unseen = ProgressLine("importing", descriptor: quiet.writeEnd, terminal: .none)
    unseen.update(5)
    unseen.clear()
    #expect(try quiet.contents().isEmpty)

    let pipe = Pipe()
    let start = ContinuousClock.now
    let progress = ProgressLine("importing", descriptor: pipe.writeEnd, terminal: screen)
    progress.update(1, of: 4, now: start)
    progress.update(2, of: 4, now: start + .milliseconds(99))
    progress.update(3, of: 4, now: start + .milliseconds(100))
    progress.clear()
    progress.clear()
    #expect(
      String(decoding: try pipe.contents(), as: UTF8.self)
        == "\rimporting: 1 of 4 (25 %)\u{1b}[K\rimporting: 3 of 4 (75 %)\u{1b}[K\r\u{1b}[K")
  }

  @Test func `progress tells the speed after a second, and fits the line`() {
    let progress = ProgressLine("importing", terminal: screen)
    #expect(
      progress.line(120_000, of: nil, elapsed: .seconds(2))
        == "importing: 120,000, 60,000 a second")
    #expect(progress.line(120_000, of: 1_000_000, elapsed: .seconds(2)).count == 39)
  }

  @Test func `numbers are grouped by thousands`() {
    #expect(
      [0, 12, 123, 1234, -123_456, 1_234_567].map { grouped($0) } == [
        "0", "12", "123", "1,234", "-123,456", "1,234,567",
      ])
    #expect(grouped(UInt64.max) == "18,446,744,073,709,551,615")
    #expect(grouped(Int64.min) == "-9,223,372,036,854,775,808")
  }

  private func available(_ pipe: Pipe) -> Int {
    var count: Int32 = 0
    _ = ioctl(pipe.readEnd, UInt(FIONREAD), &count)
    return Int(count)
  }
}
