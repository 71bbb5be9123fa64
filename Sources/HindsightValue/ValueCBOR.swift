// `Value` as CBOR. Both ways work with a stack of their own: no nesting overflows the thread's.

extension Value: CBORCodable {
  /// The deterministic encoding of this value (RFC 8949, section 4.2.1).
  ///
  /// - Throws: ``CBORError`` where it nests deeper than 512 levels, or holds a simple value 24 to
  ///   31, which doesn't exist.
  public func encoded() throws -> [UInt8] {
    var writer = CBORWriter()
    try encode(into: &writer)
    return writer.bytes
  }

  /// The value that these bytes are the encoding of, in any well-formed form.
  ///
  /// Allocates at most a small multiple of the bytes (48 for each).
  ///
  /// - Throws: ``CBORError``: not well-formed, a key twice in a map, a string that isn't UTF-8,
  ///   nested deeper than 512 levels, or bytes left over.
  public init(encoded bytes: UnsafeRawBufferPointer) throws {
    var reader = CBORReader(bytes)
    try self.init(from: &reader)
    try reader.finish()
  }

  /// The value that these bytes are the encoding of, in any well-formed form.
  ///
  /// - Throws: ``CBORError``, as for a region of memory.
  public init(encoded bytes: [UInt8]) throws {
    self = try bytes.withUnsafeBytes { try Value(encoded: $0) }
  }

  /// Appends the deterministic encoding of this value (RFC 8949, section 4.2.1).
  public func encode(into writer: inout CBORWriter) throws {
    var open: [OpenForWriting] = []
    var next: Value? = self
    while true {
      if let value = next {
        if let level = try value.begin(in: &writer) {
          guard writer.depth + open.count < CBOR.depthLimit else {
            throw CBORError(.tooDeep, at: writer.count)
          }
          open.append(level)
        }
      } else {
        open.removeLast()
      }
      guard !open.isEmpty else { return }
      next = open[open.count - 1].next()
    }
  }

  /// Writes what can be written at once; what is inside of a container comes later.
  private func begin(in writer: inout CBORWriter) throws -> OpenForWriting? {
    switch self {
    case .null: writer.appendNull()
    case .undefined: writer.appendUndefined()
    case .bool(let value): writer.append(value)
    case .unsigned(let value): writer.append(value)
    case .negative(let value): writer.appendNegative(value)
    case .double(let value): writer.append(value)
    case .string(let value): writer.append(value)
    case .bytes(let value): writer.append(bytes: value)
    case .simple(let value):
      guard value < 24 || value > 31 else { throw CBORError(.notWellFormed, at: writer.count) }
      writer.appendSimple(value)
    case .array(let items):
      writer.appendArrayHeader(count: items.count)
      return OpenForWriting(items: .array(items))
    case .map(let map):
      writer.appendMapHeader(count: map.count)
      return OpenForWriting(items: .map(map.pairs))
    case .tagged(let tag, let value):
      writer.appendTag(tag)
      return OpenForWriting(items: .array([value]))
    }
    return nil
  }

  /// A container whose header is written.
  private struct OpenForWriting {
    enum Items {
      case array([Value])
      case map([ValueMap.Pair])
    }
    let items: Items
    var position = 0

    mutating func next() -> Value? {
      defer { position += 1 }
      switch items {
      case .array(let items): return position < items.count ? items[position] : nil
      case .map(let pairs):
        guard position < 2 * pairs.count else { return nil }
        let pair = pairs[position / 2]
        return position % 2 == 0 ? pair.key : pair.value
      }
    }
  }

  /// Reads one item of any well-formed form.
  public init(from reader: inout CBORReader) throws {
    var open: [OpenForReading] = []
    // Counts claim at most what is left, but each level could claim it again: hence a budget.
    var reservable = reader.bytesLeft
    while true {
      let offset = reader.position
      var finished: Value?
      if var level = open.popLast() {
        if try level.isComplete(&reader) {
          finished = try level.close()
        } else {
          open.append(level)
        }
      }
      if finished == nil {
        switch try Self.readPart(&reader, at: offset, &reservable) {
        case .whole(let value): finished = value
        case .opened(let level):
          guard reader.depth + open.count < CBOR.depthLimit else {
            throw CBORError(.tooDeep, at: offset)
          }
          open.append(level)
        }
      }
      guard let value = finished else { continue }
      guard !open.isEmpty else {
        self = value
        return
      }
      open[open.count - 1].items.append(value)
    }
  }

  private enum Part {
    case whole(Value)
    case opened(OpenForReading)
  }

  /// A container whose header is read.
  private struct OpenForReading {
    enum Kind {
      case array, map
      case tag(UInt64)
    }
    let kind: Kind
    let offset: Int
    /// How many items it will have: keys and values count singly; nil where an end marker tells.
    let count: Int?
    var items: [Value] = []

    mutating func isComplete(_ reader: inout CBORReader) throws(CBORError) -> Bool {
      if let count { return items.count == count }
      guard try reader.readEnd() else { return false }
      if case .map = kind, items.count % 2 == 1 {
        throw CBORError(.notWellFormed, at: reader.position - 1)
      }
      return true
    }

    func close() throws(CBORError) -> Value {
      switch kind {
      case .array: return .array(items)
      case .tag(let tag): return .tagged(tag, items[0])
      case .map:
        var pairs: [ValueMap.Pair] = []
        pairs.reserveCapacity(items.count / 2)
        for index in stride(from: 0, to: items.count, by: 2) {
          pairs.append(ValueMap.Pair(key: items[index], value: items[index + 1]))
        }
        guard let map = ValueMap(uniquePairs: pairs) else {
          throw CBORError(.duplicateKey, at: offset)
        }
        return .map(map)
      }
    }
  }

  /// Reads a scalar, or a container's header.
  private static func readPart(
    _ reader: inout CBORReader, at offset: Int, _ reservable: inout Int
  ) throws(CBORError) -> Part {
    guard let kind = reader.nextKind else { throw CBORError(.unexpectedEnd, at: offset) }
    switch kind {
    case .unsigned: return .whole(.unsigned(try reader.readHead(0)))
    case .negative: return .whole(.negative(try reader.readHead(1)))
    case .bytes: return .whole(.bytes(try reader.readBytes()))
    case .string: return .whole(.string(try reader.readString()))
    case .bool: return .whole(.bool(try reader.readBool()))
    case .null, .undefined:
      _ = try reader.readNull()
      return .whole(kind == .null ? .null : .undefined)
    case .float: return .whole(.double(try reader.readDouble()))
    case .simple: return .whole(.simple(try reader.readSimple()))
    case .end: throw CBORError(.notWellFormed, at: offset)
    case .array:
      let count = try reader.readArrayHeader()
      return .opened(reserved(.array, offset, count, &reservable))
    case .map:
      let count = try reader.readMapHeader().map { 2 * $0 }
      return .opened(reserved(.map, offset, count, &reservable))
    case .tagged:
      let tag = try reader.readTag()
      return .opened(OpenForReading(kind: .tag(tag), offset: offset, count: 1))
    }
  }

  private static func reserved(
    _ kind: OpenForReading.Kind, _ offset: Int, _ count: Int?, _ reservable: inout Int
  ) -> OpenForReading {
    var level = OpenForReading(kind: kind, offset: offset, count: count)
    let room = min(count ?? 0, reservable)
    reservable -= room
    level.items.reserveCapacity(room)
    return level
  }
}
