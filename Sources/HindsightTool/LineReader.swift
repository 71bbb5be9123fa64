// Reads lines from a file or from standard input, for NDJSON of any length.
// It always holds: memory is bounded by the longest line that is allowed, and each line is handed
// out as soon as its end has arrived.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A line that is longer than was allowed. The reader goes on with the next.
package struct LineTooLong: Error, CustomStringConvertible {
  package let number: Int
  package let limitBytes: Int

  package var description: String {
    "line \(number) is longer than the \(grouped(limitBytes)) bytes that a line may have"
  }
}

/// Hands out lines, without their ends (LF or CRLF), from a descriptor that it reads in chunks.
package struct LineReader: ~Copyable {
  private let descriptor: Int32
  private let ownsDescriptor: Bool
  private let name: String
  private let limitBytes: Int
  private var buffer: UnsafeMutableRawBufferPointer
  /// What is read but not handed out yet.
  private var start = 0
  private var end = 0
  private var isAtEnd = false
  /// The number of the line that was handed out last, from 1 on.
  package private(set) var lineNumber = 0
  /// How many bytes were read so far.
  package private(set) var readBytes = 0

  /// Opens a file, or standard input for `-`.
  ///
  /// - Parameter limitBytes: how long a line may be.
  /// - Throws: a ``ToolError`` that says why it can't be read.
  package init(path: String, limitBytes: Int = 64 << 20) throws {
    if path == "-" {
      self.init(descriptor: 0, name: "standard input", limitBytes: limitBytes)
      return
    }
    do {
      self.init(
        descriptor: try Self.open(path), name: path, ownsDescriptor: true,
        limitBytes: limitBytes)
    } catch {
      throw Self.failure(error, name: path)
    }
  }

  /// Opens what can be read. A directory can be opened, too, and says what it is only when it is
  /// read: whoever opens the lines before anything is made for them learns of it now.
  private static func open(_ path: String) throws(SystemError) -> Int32 {
    let descriptor = try SystemCalls.open(path)
    do throws(SystemError) {
      _ = try SystemCalls.read(
        into: UnsafeMutableRawBufferPointer(start: nil, count: 0), from: descriptor)
    } catch {
      SystemCalls.close(descriptor)
      throw error
    }
    return descriptor
  }

  /// Reads from a descriptor that stays the caller's, unless it says otherwise.
  init(
    descriptor: Int32, name: String, ownsDescriptor: Bool = false, limitBytes: Int,
    chunkBytes: Int = 1 << 18
  ) {
    self.descriptor = descriptor
    self.name = name
    self.ownsDescriptor = ownsDescriptor
    self.limitBytes = limitBytes
    buffer = .allocate(byteCount: chunkBytes, alignment: 16)
  }

  deinit {
    buffer.deallocate()
    if ownsDescriptor { SystemCalls.close(descriptor) }
  }

  /// Hands the next line to a closure and returns what that returns; nil after the last one.
  ///
  /// The bytes are valid until the closure returns. A byte order mark before the first line is
  /// left out. O(the line's length).
  ///
  /// - Throws: what the closure throws; ``LineTooLong``, after which the next line can be read; a
  ///   ``ToolError`` where reading fails.
  package mutating func next<Result>(
    _ body: (_ number: Int, _ bytes: UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result? {
    var searched = start
    while true {
      if let newline = firstNewline(from: searched) {
        let line = start..<newline
        start = newline + 1
        return try handOut(line, body)
      }
      searched = end
      if isAtEnd {
        guard start < end else { return nil }
        let line = start..<end
        start = end
        return try handOut(line, body)
      }
      guard end - start <= limitBytes + 1 else { return try skipLine() }
      searched -= makeRoom()
      try fill()
    }
  }

  private mutating func handOut<Result>(
    _ line: Range<Int>, _ body: (Int, UnsafeRawBufferPointer) throws -> Result
  ) throws -> Result {
    lineNumber += 1
    var line = line
    if lineNumber == 1, line.count >= 3, buffer[line.lowerBound] == 0xEF,
      buffer[line.lowerBound + 1] == 0xBB, buffer[line.lowerBound + 2] == 0xBF
    {
      line = line.dropFirst(3)
    }
    if let last = line.last, buffer[last] == UInt8(ascii: "\r") { line = line.dropLast() }
    guard line.count <= limitBytes else {
      throw LineTooLong(number: lineNumber, limitBytes: limitBytes)
    }
    return try body(lineNumber, UnsafeRawBufferPointer(rebasing: buffer[line]))
  }

  /// Drops the line that has become too long, to its end.
  private mutating func skipLine<Result>() throws -> Result {
    lineNumber += 1
    while true {
      if let newline = firstNewline(from: start) {
        start = newline + 1
        break
      }
      start = end
      if isAtEnd { break }
      _ = makeRoom()
      try fill()
    }
    throw LineTooLong(number: lineNumber, limitBytes: limitBytes)
  }

  private func firstNewline(from position: Int) -> Int? {
    guard position < end, let base = buffer.baseAddress,
      let found = memchr(base + position, Int32(UInt8(ascii: "\n")), end - position)
    else { return nil }
    return UnsafeRawPointer(found) - UnsafeRawPointer(base)
  }

  /// Makes room behind what is read, and returns by how much that moved to the front.
  private mutating func makeRoom() -> Int {
    guard end == buffer.count else { return 0 }
    let count = end - start
    if count > buffer.count / 2 {
      let larger = UnsafeMutableRawBufferPointer.allocate(
        byteCount: buffer.count * 2, alignment: 16)
      larger.copyMemory(from: UnsafeRawBufferPointer(rebasing: buffer[start..<end]))
      buffer.deallocate()
      buffer = larger
    } else if let base = buffer.baseAddress {
      memmove(base, base + start, count)
    }
    let moved = start
    start = 0
    end = count
    return moved
  }

  private mutating func fill() throws {
    do {
      let room = UnsafeMutableRawBufferPointer(rebasing: buffer[end...])
      let count = try SystemCalls.read(into: room, from: descriptor)
      isAtEnd = count == 0
      end += count
      readBytes += count
    } catch {
      throw Self.failure(error, name: name)
    }
  }

  private static func failure(_ error: any Error, name: String) -> ToolError {
    let number = (error as? SystemError)?.number ?? 0
    let status: ExitStatus =
      switch number {
      case ENOENT, ENOTDIR, EISDIR: .noInput
      case EACCES, EPERM: .noPermission
      default: .inputOutput
      }
    return ToolError(status, "\(name) can't be read: \(error)")
  }
}
