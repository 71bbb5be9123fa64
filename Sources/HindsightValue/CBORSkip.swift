// Finding where an item ends, without recursion and without building anything.
// It always holds: what is skipped is well-formed. Strings and keys are not validated.

extension CBORReader {
  /// Skips the next item, with all that is inside it. O(n) in its bytes.
  ///
  /// Checks that it is well-formed, but not that strings are UTF-8 or keys unique. Items of
  /// definite length may nest to any depth, those of indefinite length up to 512.
  public mutating func skip() throws(CBORError) {
    current = try CBORSkip.end(ofItemAt: current, end, start)
  }
}

enum CBORSkip {
  /// By initial byte: the size of an item where that byte says it all, else 0.
  nonisolated(unsafe) static let sizes: UnsafePointer<UInt8> = {
    // Written here once and only read later.
    let table = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)
    table.initialize(repeating: 0, count: 256)
    for (information, size) in [(24, 2), (25, 3), (26, 5), (27, 9)] as [(Int, UInt8)] {
      table[information] = size
      table[0x20 | information] = size
    }
    for information in 0..<24 {
      table[information] = 1
      table[0x20 | information] = 1
      table[0x40 | information] = UInt8(1 + information)
      table[0x60 | information] = UInt8(1 + information)
      table[0xe0 | information] = 1
    }
    (table[0x80], table[0xa0]) = (1, 1)
    (table[0xf9], table[0xfa], table[0xfb]) = (3, 5, 9)
    return UnsafePointer(table)
  }()

  @inline(__always)
  static func end(
    ofItemAt item: UnsafeRawPointer, _ end: UnsafeRawPointer, _ start: UnsafeRawPointer,
    _ sizes: UnsafePointer<UInt8> = CBORSkip.sizes
  ) throws(CBORError) -> UnsafeRawPointer {
    if _fastPath(item < end) {
      let size = Int(sizes[Int(item.load(as: UInt8.self))])
      if _fastPath(size != 0 && size <= end - item) { return item + size }
    }
    return try endOfLong(item, end, start)
  }

  /// Counts the items that are still to come: no stack, as long as lengths are definite.
  @inline(never)
  static func endOfLong(
    _ item: UnsafeRawPointer, _ end: UnsafeRawPointer, _ start: UnsafeRawPointer
  ) throws(CBORError) -> UnsafeRawPointer {
    let sizes = self.sizes
    var reader = CBORReader(start: start, offset: item - start, end: end)
    var pending: UInt64 = 1
    while pending > 0 {
      pending &-= 1
      guard reader.current < end else { throw reader.failure(.unexpectedEnd) }
      let byte = reader.current.load(as: UInt8.self)
      let size = Int(sizes[Int(byte)])
      if _fastPath(size != 0) {
        guard size <= end - reader.current else { throw reader.failure(.unexpectedEnd) }
        reader.current += size
        continue
      }
      switch byte {
      case 0x5f, 0x7f, 0x9f, 0xbf: try skipIndefinite(&reader)
      case 0x40..<0x80: _ = try reader.readDefinite(byte >> 5)
      case 0x80..<0xa0: pending &+= UInt64(try reader.readArrayHeader() ?? 0)
      case 0xa0..<0xc0: pending &+= 2 &* UInt64(try reader.readMapHeader() ?? 0)
      case 0xc0..<0xe0:
        _ = try reader.readTag()
        pending &+= 1
      default: try skipScalar(&reader, byte)
      }
    }
    return reader.current
  }

  /// What isn't in the table of scalars: two-byte simple values, and what isn't well-formed.
  private static func skipScalar(_ reader: inout CBORReader, _ byte: UInt8) throws(CBORError) {
    guard byte == 0xf8 else { throw reader.failure(.notWellFormed) }
    _ = try reader.readSimple()
  }

  /// What is left of a container on the stack of those that are open.
  private enum Level {
    case items(Int)
    case array
    case mapKey
    case mapValue

    /// What is left once another item has begun.
    var next: Level {
      switch self {
      case .items(let count): .items(count - 1)
      case .array: .array
      case .mapKey: .mapValue
      case .mapValue: .mapKey
      }
    }
  }

  /// Skips an item of indefinite length, keeping a stack of what is open inside.
  private static func skipIndefinite(_ reader: inout CBORReader) throws(CBORError) {
    var open: [Level] = [.items(1)]
    while let level = open.last {
      if case .items(0) = level {
        open.removeLast()
        continue
      }
      guard reader.current < reader.end else { throw reader.failure(.unexpectedEnd) }
      let byte = reader.current.load(as: UInt8.self)
      if byte == 0xff {
        switch level {
        case .array, .mapKey: open.removeLast()
        case .items, .mapValue: throw reader.failure(.notWellFormed)
        }
        reader.current += 1
        continue
      }
      open[open.count - 1] = level.next
      switch byte {
      case 0x5f, 0x7f:
        reader.current += 1
        while try !reader.readEnd() { _ = try reader.readDefinite(byte >> 5) }
      case 0x40..<0x80: _ = try reader.readDefinite(byte >> 5)
      case 0x80..<0xa0: open.append(try reader.readArrayHeader().map { .items($0) } ?? .array)
      case 0xa0..<0xc0: open.append(try reader.readMapHeader().map { .items(2 * $0) } ?? .mapKey)
      case 0xc0..<0xe0:
        _ = try reader.readTag()
        open.append(.items(1))
      default:
        let size = Int(sizes[Int(byte)])
        if size == 0 {
          try skipScalar(&reader, byte)
        } else {
          guard size <= reader.bytesLeft else { throw reader.failure(.unexpectedEnd) }
          reader.current += size
        }
      }
      // One level is this function's own start.
      guard open.count <= CBOR.depthLimit + 1 else { throw reader.failure(.tooDeep) }
    }
  }
}
