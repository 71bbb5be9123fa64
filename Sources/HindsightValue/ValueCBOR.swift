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
  /// Allocates at most a small multiple of the bytes (about 50 for each).
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
    // Counts claim at most what is left, but each level could claim it again: hence a budget.
    var reservable = reader.bytesLeft
    var level: OpenForReading
    switch try Self.readPart(&reader, &reservable) {
    case .whole(let value):
      self = value
      return
    case .opened(let outermost): level = outermost
    }
    var outer: [OpenForReading] = []
    guard reader.depth < CBOR.depthLimit else { throw CBORError(.tooDeep, at: level.offset) }
    while true {
      if try level.isComplete(&reader) {
        let value = try level.close()
        if outer.isEmpty {
          self = value
          return
        }
        // Moved, not bound to a name: a second holder would make each addition copy all before it.
        level = outer.removeLast()
        level.add(value)
        continue
      }
      switch try Self.readPart(&reader, &reservable) {
      case .whole(let value): level.add(value)
      case .opened(let inner):
        guard reader.depth + outer.count + 1 < CBOR.depthLimit else {
          throw CBORError(.tooDeep, at: inner.offset)
        }
        outer.append(level)
        level = inner
      }
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
    /// How many items or pairs it will have; nil where an end marker tells.
    let count: Int?
    var items: [Value] = []
    var pairs: [ValueMap.Pair] = []
    /// A key whose value comes next.
    var key: Value?

    mutating func add(_ value: Value) {
      guard case .map = kind else { return items.append(value) }
      if let key {
        pairs.append(ValueMap.Pair(key: key, value: value))
        self.key = nil
      } else {
        key = value
      }
    }

    func isComplete(_ reader: inout CBORReader) throws(CBORError) -> Bool {
      // One of the two is always empty.
      if let count { return items.count + pairs.count == count }
      guard try reader.readEnd() else { return false }
      if key != nil { throw CBORError(.notWellFormed, at: reader.position - 1) }
      return true
    }

    mutating func close() throws(CBORError) -> Value {
      switch kind {
      case .array: return .array(items)
      case .tag(let tag): return .tagged(tag, items[0])
      case .map:
        var pairs: [ValueMap.Pair] = []
        swap(&pairs, &self.pairs)
        guard let map = ValueMap(uniquePairs: pairs) else {
          throw CBORError(.duplicateKey, at: offset)
        }
        return .map(map)
      }
    }
  }

  /// Reads a scalar, or a container's header.
  private static func readPart(
    _ reader: inout CBORReader, _ reservable: inout Int
  ) throws(CBORError) -> Part {
    let offset = reader.position
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
      var level = OpenForReading(
        kind: .array, offset: offset, count: try reader.readArrayHeader())
      level.items.reserveCapacity(reserve(level.count, &reservable))
      return .opened(level)
    case .map:
      var level = OpenForReading(kind: .map, offset: offset, count: try reader.readMapHeader())
      level.pairs.reserveCapacity(reserve(level.count, &reservable))
      return .opened(level)
    case .tagged:
      let tag = try reader.readTag()
      return .opened(OpenForReading(kind: .tag(tag), offset: offset, count: 1))
    }
  }

  /// How many elements to make room for; each costs the budget a byte, as it will have one.
  private static func reserve(_ count: Int?, _ reservable: inout Int) -> Int {
    let room = min(count ?? 0, reservable)
    reservable -= room
    return room
  }
}
