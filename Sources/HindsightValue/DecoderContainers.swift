// The containers that `Decodable` types read from. They hold a pointer and offsets, nothing else.

/// What a type's `init(from:)` gets: one item.
struct SlotDecoder: Decoder, SingleValueDecodingContainer {
  let core: DecoderCore
  let offset: UInt32
  let epoch: UInt32
  let node: UInt32

  var codingPath: [any CodingKey] {
    epoch == core.state.pointee.epoch ? core.codingPath(Place(node: node)) : []
  }
  var userInfo: [CodingUserInfoKey: Any] { core.state.pointee.userInfo }

  @inline(__always)
  private func position() throws -> Int {
    guard _fastPath(epoch == core.state.pointee.epoch) else { throw core.escaped() }
    return Int(offset)
  }

  @inline(__always)
  private var place: Place { Place(node: node) }

  func container<K: CodingKey>(keyedBy type: K.Type) throws -> KeyedDecodingContainer<K> {
    try core.keyed(type, try position(), node)
  }

  func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try core.unkeyed(try position(), node)
  }

  func singleValueContainer() throws -> any SingleValueDecodingContainer { self }

  func decodeNil() -> Bool {
    epoch == core.state.pointee.epoch && core.isNull(Int(offset))
  }
  func decode(_ type: Bool.Type) throws -> Bool { try core.bool(try position(), place) }
  func decode(_ type: String.Type) throws -> String { try core.string(try position(), place) }
  func decode(_ type: Double.Type) throws -> Double { try core.double(try position(), place) }
  func decode(_ type: Float.Type) throws -> Float { try core.float(try position(), place) }
  func decode(_ type: Int.Type) throws -> Int { try core.integer(type, try position(), place) }
  func decode(_ type: Int8.Type) throws -> Int8 { try core.integer(type, try position(), place) }
  func decode(_ type: Int16.Type) throws -> Int16 { try core.integer(type, try position(), place) }
  func decode(_ type: Int32.Type) throws -> Int32 { try core.integer(type, try position(), place) }
  func decode(_ type: Int64.Type) throws -> Int64 { try core.integer(type, try position(), place) }
  func decode(_ type: Int128.Type) throws -> Int128 {
    try core.integer(type, try position(), place)
  }
  func decode(_ type: UInt.Type) throws -> UInt { try core.integer(type, try position(), place) }
  func decode(_ type: UInt8.Type) throws -> UInt8 { try core.integer(type, try position(), place) }
  func decode(_ type: UInt16.Type) throws -> UInt16 {
    try core.integer(type, try position(), place)
  }
  func decode(_ type: UInt32.Type) throws -> UInt32 {
    try core.integer(type, try position(), place)
  }
  func decode(_ type: UInt64.Type) throws -> UInt64 {
    try core.integer(type, try position(), place)
  }
  func decode(_ type: UInt128.Type) throws -> UInt128 {
    try core.integer(type, try position(), place)
  }
  func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try core.value(type, try position(), place)
  }
}

/// An array that is being read, one item after another.
struct ArrayDecoding: UnkeyedDecodingContainer {
  let core: DecoderCore
  let epoch: UInt32
  /// The array's node, which knows how many items there are.
  let node: UInt32
  var offset: UInt32
  var left: UInt32

  var codingPath: [any CodingKey] {
    epoch == core.state.pointee.epoch ? core.codingPath(Place(node: node)) : []
  }
  var count: Int? { Int(itemCount) }
  var isAtEnd: Bool { left == 0 }
  var currentIndex: Int { Int(itemCount) - Int(left) }

  private var itemCount: UInt32 {
    max(epoch == core.state.pointee.epoch ? core.state.pointee.nodes[Int(node)].itemCount : 0, left)
  }

  @inline(__always)
  private var place: Place { Place(node: node, index: currentIndex) }

  /// Reads one item with a closure that leaves its end in the state, and goes on to the next.
  @inline(__always)
  private mutating func next<T>(_ read: (DecoderCore, Int, Place) throws -> T) throws -> T {
    guard _fastPath(epoch == core.state.pointee.epoch) else { throw core.escaped() }
    guard _fastPath(left > 0) else { throw atEnd(T.self) }
    core.state.pointee.lastEnd = -1
    let value = try read(core, Int(offset), place)
    try advance()
    return value
  }

  @inline(__always)
  private mutating func advance() throws {
    var end = core.state.pointee.lastEnd
    if _slowPath(end < 0) {
      do {
        end = try core.end(ofItemAt: Int(offset))
      } catch {
        throw core.failure(error, place)
      }
    }
    offset = UInt32(truncatingIfNeeded: end)
    left &-= 1
  }

  @inline(never)
  private func atEnd(_ type: Any.Type) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: core.codingPath(place), debugDescription: "the array has no more items")
    return .valueNotFound(type, context)
  }

  mutating func decodeNil() throws -> Bool {
    guard epoch == core.state.pointee.epoch else { throw core.escaped() }
    guard left > 0 else { throw atEnd(Never.self) }
    guard core.isNull(Int(offset)) else { return false }
    try advance()
    return true
  }
  mutating func decode(_ type: Bool.Type) throws -> Bool { try next { try $0.bool($1, $2) } }
  mutating func decode(_ type: String.Type) throws -> String { try next { try $0.string($1, $2) } }
  mutating func decode(_ type: Double.Type) throws -> Double { try next { try $0.double($1, $2) } }
  mutating func decode(_ type: Float.Type) throws -> Float { try next { try $0.float($1, $2) } }
  mutating func decode(_ type: Int.Type) throws -> Int { try integer(type) }
  mutating func decode(_ type: Int8.Type) throws -> Int8 { try integer(type) }
  mutating func decode(_ type: Int16.Type) throws -> Int16 { try integer(type) }
  mutating func decode(_ type: Int32.Type) throws -> Int32 { try integer(type) }
  mutating func decode(_ type: Int64.Type) throws -> Int64 { try integer(type) }
  mutating func decode(_ type: Int128.Type) throws -> Int128 { try integer(type) }
  mutating func decode(_ type: UInt.Type) throws -> UInt { try integer(type) }
  mutating func decode(_ type: UInt8.Type) throws -> UInt8 { try integer(type) }
  mutating func decode(_ type: UInt16.Type) throws -> UInt16 { try integer(type) }
  mutating func decode(_ type: UInt32.Type) throws -> UInt32 { try integer(type) }
  mutating func decode(_ type: UInt64.Type) throws -> UInt64 { try integer(type) }
  mutating func decode(_ type: UInt128.Type) throws -> UInt128 { try integer(type) }
  mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    try next { try $0.value(type, $1, $2) }
  }

  @inline(__always)
  private mutating func integer<I: FixedWidthInteger>(_ type: I.Type) throws -> I {
    try next { try $0.integer(type, $1, $2) }
  }

  mutating func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type
  ) throws -> KeyedDecodingContainer<K> {
    try next { try $0.keyed(type, $1, $0.node(of: $2)) }
  }

  mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
    try next { try $0.unkeyed($1, $0.node(of: $2)) }
  }

  mutating func superDecoder() throws -> any Decoder {
    try next { $0.slotDecoder($1, $0.node(of: $2)) }
  }
}

extension DecoderCore {
  func slotDecoder(_ offset: Int, _ node: UInt32) -> SlotDecoder {
    SlotDecoder(
      core: self, offset: UInt32(truncatingIfNeeded: offset), epoch: state.pointee.epoch,
      node: node)
  }

  /// The array at an offset.
  func unkeyed(_ offset: Int, _ node: UInt32) throws -> any UnkeyedDecodingContainer {
    let head = try arrayHead(offset, Place(node: node))
    state.pointee.nodes[Int(node)].itemCount = UInt32(truncatingIfNeeded: head.count)
    state.pointee.lastEnd = -1
    return ArrayDecoding(
      core: self, epoch: state.pointee.epoch, node: node,
      offset: UInt32(truncatingIfNeeded: head.first), left: UInt32(truncatingIfNeeded: head.count))
  }

  struct ArrayHead {
    /// The offset of the first item.
    var first: Int
    var count: Int
    var hasEndMarker = false
  }

  /// Where an array's items are; they are counted, if it doesn't say how many there are.
  @inline(__always)
  func arrayHead(_ offset: Int, _ place: Place) throws -> ArrayHead {
    var reader = reader(at: offset)
    do {
      if let count = try reader.readArrayHeader() {
        return ArrayHead(first: reader.position, count: count)
      }
      var head = ArrayHead(first: reader.position, count: 0, hasEndMarker: true)
      while try !reader.readEnd() {
        try reader.skip()
        head.count += 1
      }
      return head
    } catch {
      return try throughTag([Any].self, offset, place, error) { try arrayHead($0, $1) }
    }
  }
}
