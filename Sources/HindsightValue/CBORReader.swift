// Reads CBOR items one after another from bytes that it doesn't own.
// It always holds: no byte outside of `start..<end` is read, and a failed read moves nothing.

/// Reads CBOR items (RFC 8949) from a region of memory.
///
/// Any well-formed form is read: indefinite lengths, integers and lengths that aren't in their
/// shortest form, floats of each width. Reading checks what it reads; strings are checked to be
/// UTF-8. Keys of a map are not checked to be unique: that is for who reads them.
///
/// The bytes must stay valid and unchanged for as long as the reader, or a copy of it, is used.
@frozen
public struct CBORReader {
  @usableFromInline let start: UnsafeRawPointer
  @usableFromInline var current: UnsafeRawPointer
  @usableFromInline let end: UnsafeRawPointer
  @usableFromInline var depth: Int

  /// A reader at the first of the bytes.
  @inlinable
  public init(_ bytes: UnsafeRawBufferPointer) {
    start = bytes.baseAddress ?? UnsafeRawPointer(bitPattern: 1).unsafelyUnwrapped
    current = start
    end = start + bytes.count
    depth = 0
  }

  @inlinable @inline(__always)
  init(start: UnsafeRawPointer, offset: Int, end: UnsafeRawPointer, depth: Int = 0) {
    self.start = start
    self.current = start + offset
    self.end = end
    self.depth = depth
  }

  /// The offset of the next item.
  @inlinable @inline(__always)
  public var position: Int { current - start }

  /// Whether no byte is left.
  @inlinable @inline(__always)
  public var isAtEnd: Bool { current >= end }

  /// The number of bytes left.
  @inlinable @inline(__always)
  public var bytesLeft: Int { end - current }

  @inlinable @inline(__always)
  func failure(_ code: CBORError.Code) -> CBORError { CBORError(code, at: position) }

  /// The kinds of items (RFC 8949, section 3.1), with what follows from the first byte alone.
  public enum Kind: UInt8, Sendable {
    case unsigned, negative, bytes, string, array, map, tagged
    case bool, null, undefined, float, simple
    /// The end of an item of indefinite length.
    case end
  }

  /// What the next item is, from its first byte; nil at the end of the bytes.
  @inlinable
  public var nextKind: Kind? {
    guard current < end else { return nil }
    let byte = current.load(as: UInt8.self)
    switch byte >> 5 {
    case 7:
      switch byte {
      case 0xf4, 0xf5: return .bool
      case 0xf6: return .null
      case 0xf7: return .undefined
      case 0xf9, 0xfa, 0xfb: return .float
      case 0xff: return .end
      default: return .simple
      }
    case let major: return Kind(rawValue: major)
    }
  }

  // MARK: Heads

  /// The argument of the next item, which must have this major type and a definite length.
  @inlinable @inline(__always)
  mutating func readHead(_ major: UInt8) throws(CBORError) -> UInt64 {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    let information = current.load(as: UInt8.self) ^ (major &<< 5)
    if _fastPath(information < 24) {
      current += 1
      return UInt64(information)
    }
    return try readLongHead(information)
  }

  /// An argument of 1, 2, 4 or 8 bytes; for another major type, the information is above 31.
  @inlinable @inline(__always)
  mutating func readLongHead(_ information: UInt8) throws(CBORError) -> UInt64 {
    let left = end - current
    let argument: UInt64
    let length: Int
    switch information {
    case 24:
      guard left >= 2 else { throw failure(.unexpectedEnd) }
      argument = UInt64(current.load(fromByteOffset: 1, as: UInt8.self))
      length = 2
    case 25:
      guard left >= 3 else { throw failure(.unexpectedEnd) }
      argument = UInt64(
        UInt16(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt16.self)))
      length = 3
    case 26:
      guard left >= 5 else { throw failure(.unexpectedEnd) }
      argument = UInt64(
        UInt32(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt32.self)))
      length = 5
    case 27:
      guard left >= 9 else { throw failure(.unexpectedEnd) }
      argument = UInt64(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      length = 9
    default:
      throw headFailure(information)
    }
    current += length
    return argument
  }

  @usableFromInline @inline(never)
  func headFailure(_ information: UInt8) -> CBORError {
    let byte = current.load(as: UInt8.self)
    let isReserved = (28...30).contains(byte & 31)
    let hasNoIndefiniteForm = byte & 31 == 31 && [0, 1, 6].contains(byte >> 5)
    return failure(isReserved || hasNoIndefiniteForm ? .notWellFormed : .wrongType)
  }

  // MARK: Numbers and simple values

  /// Reads an integer of zero or above.
  @inlinable @inline(__always)
  public mutating func readUInt64() throws(CBORError) -> UInt64 { try readHead(0) }

  /// Reads an integer.
  @inlinable @inline(__always)
  public mutating func readInt64() throws(CBORError) -> Int64 {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    let byte = current.load(as: UInt8.self)
    let isNegative = byte & 0xe0 == 0x20
    let before = current
    let argument = try readHead(isNegative ? 1 : 0)
    guard _fastPath(argument <= UInt64(Int64.max)) else {
      current = before
      throw failure(.outOfRange)
    }
    return isNegative ? ~Int64(bitPattern: argument) : Int64(bitPattern: argument)
  }

  /// Reads an integer.
  @inlinable @inline(__always)
  public mutating func readInt() throws(CBORError) -> Int {
    let before = current
    let value = try readInt64()
    guard let exact = Int(exactly: value) else {
      current = before
      throw failure(.outOfRange)
    }
    return exact
  }

  /// Reads true or false.
  @inlinable @inline(__always)
  public mutating func readBool() throws(CBORError) -> Bool {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    let byte = current.load(as: UInt8.self)
    guard byte & 0xfe == 0xf4 else { throw failure(.wrongType) }
    current += 1
    return byte == 0xf5
  }

  /// Reads null, or undefined, if it is next; says whether it was.
  @inlinable @inline(__always)
  public mutating func readNull() throws(CBORError) -> Bool {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    guard current.load(as: UInt8.self) & 0xfe == 0xf6 else { return false }
    current += 1
    return true
  }

  /// Reads a float of any width.
  @inlinable
  public mutating func readDouble() throws(CBORError) -> Double {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    let left = end - current
    switch current.load(as: UInt8.self) {
    case 0xf9:
      guard left >= 3 else { throw failure(.unexpectedEnd) }
      let bits = UInt16(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt16.self))
      current += 3
      return Double(halfBits: bits)
    case 0xfa:
      guard left >= 5 else { throw failure(.unexpectedEnd) }
      let bits = UInt32(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt32.self))
      current += 5
      return Double(Float(bitPattern: bits))
    case 0xfb:
      guard left >= 9 else { throw failure(.unexpectedEnd) }
      let bits = UInt64(bigEndian: current.loadUnaligned(fromByteOffset: 1, as: UInt64.self))
      current += 9
      return Double(bitPattern: bits)
    default:
      throw failure(.wrongType)
    }
  }

  /// Reads a simple value (RFC 8949, section 3.3); 20 to 23 are false, true, null and undefined.
  public mutating func readSimple() throws(CBORError) -> UInt8 {
    guard current < end else { throw failure(.unexpectedEnd) }
    let byte = current.load(as: UInt8.self)
    switch byte {
    case 0xe0...0xf7:
      current += 1
      return byte & 31
    case 0xf8:
      guard end - current >= 2 else { throw failure(.unexpectedEnd) }
      let value = current.load(fromByteOffset: 1, as: UInt8.self)
      guard value >= 32 else { throw failure(.notWellFormed) }
      current += 2
      return value
    case 0xfc...0xff: throw failure(.notWellFormed)
    default: throw failure(.wrongType)
    }
  }

  /// Reads a tag; the item that it tags is next.
  @inlinable
  public mutating func readTag() throws(CBORError) -> UInt64 { try readHead(6) }

  // MARK: Containers

  /// Reads an array's header: the number of items that follow, or nil where an end marker ends it.
  ///
  /// Never returns more than what is left could hold.
  @inlinable @inline(__always)
  public mutating func readArrayHeader() throws(CBORError) -> Int? {
    try readContainerHead(4, sizeBytes: 1)
  }

  /// Reads a map's header: the number of pairs that follow, or nil where an end marker ends it.
  ///
  /// Never returns more than what is left could hold.
  @inlinable @inline(__always)
  public mutating func readMapHeader() throws(CBORError) -> Int? {
    try readContainerHead(5, sizeBytes: 2)
  }

  @inlinable @inline(__always)
  mutating func readContainerHead(
    _ major: UInt8, sizeBytes: Int
  ) throws(CBORError) -> Int? {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    if _slowPath(current.load(as: UInt8.self) == major &<< 5 | 31) {
      current += 1
      return nil
    }
    let before = current
    let count = try readHead(major)
    guard _fastPath(count <= UInt64((end - current) / sizeBytes)) else {
      current = before
      throw failure(.unexpectedEnd)
    }
    return Int(truncatingIfNeeded: count)
  }

  /// Reads the end marker of a container of indefinite length, if it is next; says whether it was.
  @inlinable
  public mutating func readEnd() throws(CBORError) -> Bool {
    guard current < end else { throw failure(.unexpectedEnd) }
    guard current.load(as: UInt8.self) == 0xff else { return false }
    current += 1
    return true
  }

  /// Calls a closure one level of nesting deeper.
  ///
  /// Recursive ``CBORCodable`` types read their nested items inside, so that hostile bytes meet an
  /// error and not the end of the stack.
  @inlinable
  public mutating func nested<R>(_ body: (inout CBORReader) throws -> R) throws -> R {
    guard depth < CBOR.depthLimit else { throw failure(.tooDeep) }
    depth &+= 1
    defer { depth &-= 1 }
    return try body(&self)
  }

  /// Throws unless all bytes have been read.
  @inlinable
  public func finish() throws(CBORError) {
    guard isAtEnd else { throw failure(.trailingBytes) }
  }
}

extension Double {
  /// The value of an IEEE 754 binary16 number.
  @inlinable
  init(halfBits bits: UInt16) {
    let fraction = UInt64(bits & 0x3ff)
    let sign = UInt64(bits >> 15) << 63
    switch bits >> 10 & 0x1f {
    case 0:
      let magnitude = Double(fraction) * 0x1p-24
      self.init(bitPattern: sign | magnitude.bitPattern)
    case 31:
      self.init(bitPattern: sign | 0x7ff0_0000_0000_0000 | fraction << 42)
    case let exponent:
      self.init(bitPattern: sign | UInt64(exponent + 1008) << 52 | fraction << 42)
    }
  }
}
