// Lines of every shape, whatever the chunks that they arrive in.
// It always holds: what is expected comes from splitting the whole, never from the reader.

import Foundation
import Testing

@testable import HindsightTool

@Suite struct LineReaderTests {
  private func lines(
    _ bytes: [UInt8], chunkBytes: Int = 1 << 18, limitBytes: Int = 1 << 20
  ) throws -> [[UInt8]] {
    try withFile(bytes) { path in
      var reader = LineReader(
        descriptor: try SystemCalls.open(path), name: path, ownsDescriptor: true,
        limitBytes: limitBytes, chunkBytes: chunkBytes)
      var lines: [[UInt8]] = []
      while let line = try reader.next({ number, bytes in
        #expect(number == lines.count + 1)
        return Array(bytes)
      }) { lines.append(line) }
      #expect(reader.readBytes == bytes.count)
      #expect(reader.lineNumber == lines.count)
      return lines
    }
  }

  private func texts(_ text: String) throws -> [String] {
    try lines(Array(text.utf8)).map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `lines end with LF, CRLF or the file`() throws {
    #expect(try texts("") == [])
    #expect(try texts("\n") == [""])
    #expect(try texts("a") == ["a"])
    #expect(try texts("a\nb\r\nc") == ["a", "b", "c"])
    #expect(try texts("a\r\n\r\n\nb\n") == ["a", "", "", "b"])
    #expect(try texts("a\rb\n\r") == ["a\rb", ""])
  }

  @Test func `a byte order mark is left out before the first line alone`() throws {
    #expect(try texts("\u{feff}a\n\u{feff}b\n") == ["a", "\u{feff}b"])
    #expect(try texts("\u{feff}") == [""])
  }

  @Test(arguments: [1, 2, 3, 7, 64, 4096])
  func `chunks of any size give the same lines`(chunkBytes: Int) throws {
    var generator = seededGenerator()
    for _ in 0..<20 {
      var expected: [[UInt8]] = []
      var whole: [UInt8] = []
      for _ in 0..<Int.random(in: 0...60, using: &generator) {
        let length = Int.random(
          in: 0...Int.random(in: 0...300, using: &generator), using: &generator)
        let line = (0..<length).map { _ in UInt8.random(in: 14...255, using: &generator) }
        expected.append(line)
        whole += line + (Bool.random(using: &generator) ? [13, 10] : [10])
      }
      #expect(try lines(whole, chunkBytes: chunkBytes) == expected)
    }
  }

  @Test func `a line that is too long is named, and the next ones follow`() throws {
    let long = String(repeating: "x", count: 101)
    let text = "a\n\(long)\n" + String(repeating: "y", count: 100) + "\n\(long)\r\nb\n\(long)"
    try withFile(Array(text.utf8)) { path in
      for chunkBytes in [1, 16, 200, 4096] {
        var reader = LineReader(
          descriptor: try SystemCalls.open(path), name: path, ownsDescriptor: true,
          limitBytes: 100, chunkBytes: chunkBytes)
        var seen: [String] = []
        while true {
          do {
            guard let line = try reader.next({ String(decoding: $1, as: UTF8.self) }) else { break }
            seen.append("\(line.prefix(1))\(line.utf8.count)")
          } catch let error as LineTooLong {
            #expect(error.limitBytes == 100)
            seen.append("long \(error.number)")
          }
        }
        #expect(seen == ["a1", "long 2", "y100", "long 4", "b1", "long 6"], "\(chunkBytes)")
      }
    }
  }

  @Test func `a line is handed out as soon as its end has arrived`() throws {
    let pipe = Pipe()
    var reader = LineReader(descriptor: pipe.readEnd, name: "pipe", limitBytes: 100)
    for text in ["first\nse", "cond\n"] {
      try Array(text.utf8).withUnsafeBytes { try SystemCalls.write($0, to: pipe.writeEnd) }
      let line = try reader.next { String(decoding: $1, as: UTF8.self) }
      #expect(line == (text.hasPrefix("first") ? "first" : "second"))
    }
    pipe.closeWriteEnd()
    #expect(try reader.next { $1.count } == nil)
    #expect(try reader.next { $1.count } == nil)
  }

  @Test func `an error of the closure leaves the reader at the next line`() throws {
    struct Stop: Error {}
    try withFile(Array("a\nb\n".utf8)) { path in
      var reader = try LineReader(path: path)
      do {
        _ = try reader.next { _, _ in throw Stop() }
        Issue.record("the closure's error was lost")
      } catch is Stop {}
      #expect(try reader.next { String(decoding: $1, as: UTF8.self) } == "b")
    }
  }

  @Test func `what can't be read is said, with its exit status`() throws {
    func failure(_ path: String) -> ToolError? {
      do {
        var reader = try LineReader(path: path)
        _ = try reader.next { $1.count }
        return nil
      } catch { return error as? ToolError }
    }
    let missing = failure("/nowhere/at-all")
    #expect(missing?.status == .noInput)
    #expect(missing?.description == "/nowhere/at-all can't be read: No such file or directory")
    #expect(failure(FileManager.default.temporaryDirectory.path)?.status == .noInput)
  }
}
