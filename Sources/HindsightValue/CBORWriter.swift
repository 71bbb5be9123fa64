// A growable buffer that CBOR items are appended to.
// It always holds: every integer, length and float takes its shortest form.

/// Appends CBOR items (RFC 8949) to a buffer, in their shortest forms.
///
/// The writer doesn't check that the items add up: a map header must be followed by as many keys
/// and values as it says, and keys must be in the order of section 4.2.1 where the bytes are to be
/// deterministic. It is the layer that ``CBORCodable`` types write to.
///
/// Appending is amortised O(1) in the bytes appended. The buffer is freed with the writer.
@frozen
public struct CBORWriter: ~Copyable, @unchecked Sendable {
  // Sendable, as nothing else ever holds the buffer.
  @usableFromInline var base: UnsafeMutableRawPointer
  @usableFromInline var capacity: Int

  @usableFromInline var used: Int
  /// How many levels of arrays, maps and tags are around what is written next.
  @usableFromInline var depth: Int

  /// The number of bytes written so far.
  @inlinable @inline(__always)
  public var count: Int { used }

  /// A writer with room for a number of bytes before it has to grow.
  @inlinable
  public init(capacity: Int = 256) {
    self.capacity = max(capacity, 32)
    base = .allocate(byteCount: self.capacity, alignment: 16)
    used = 0
    depth = 0
  }

  @inlinable
  deinit { base.deallocate() }

  /// Makes room for a number of bytes.
  @inlinable @inline(__always)
  public mutating func reserve(_ extra: Int) {
    if _slowPath(extra > capacity &- used) { grow(extra) }
  }

  @usableFromInline @inline(never)
  mutating func grow(_ extra: Int) {
    let (needed, overflow) = used.addingReportingOverflow(extra)
    precondition(!overflow && extra >= 0, "CBORWriter: cannot reserve \(extra) bytes")
    let larger = max(capacity &* 2, needed &+ 32)
    let buffer = UnsafeMutableRawPointer.allocate(byteCount: larger, alignment: 16)
    buffer.copyMemory(from: base, byteCount: used)
    base.deallocate()
    base = buffer
    capacity = larger
  }

  /// Calls a closure with the bytes written so far, which are valid during the call only.
  @inlinable
  public borrowing func withBytes<R, E: Error>(
    _ body: (UnsafeRawBufferPointer) throws(E) -> R
  ) throws(E) -> R {
    try body(UnsafeRawBufferPointer(start: base, count: used))
  }

  /// A copy of the bytes written so far. O(n).
  public var bytes: [UInt8] { withBytes { [UInt8]($0) } }

  /// Forgets the bytes from an offset on; keeps the buffer.
  @inlinable
  public mutating func truncate(to count: Int) {
    precondition(count >= 0 && count <= used, "CBORWriter: truncated beyond its end")
    used = count
  }

  /// Calls a closure one level of nesting deeper.
  ///
  /// Recursive ``CBORCodable`` types write their nested items inside, so that what nests too deep
  /// to be read again is an error when it is written.
  ///
  /// - Throws: ``CBORError`` with the code `tooDeep`, or what the closure throws.
  @inlinable
  public mutating func nested<R>(_ body: (inout CBORWriter) throws -> R) throws -> R {
    guard depth < CBOR.depthLimit else { throw CBORError(.tooDeep, at: used) }
    depth &+= 1
    defer { depth &-= 1 }
    return try body(&self)
  }

  // MARK: Items

  /// Writes an initial byte with its argument in the shortest form (RFC 8949, section 3).
  @inlinable @inline(__always)
  mutating func appendHead(_ major: UInt8, _ argument: UInt64) {
    reserve(9)
    used &+= CBORWriter.storeHead(base + used, major, argument)
  }

  @inlinable @inline(__always)
  static func storeHead(
    _ target: UnsafeMutableRawPointer, _ major: UInt8, _ argument: UInt64
  ) -> Int {
    let high = major &<< 5
    if _fastPath(argument < 24) {
      target.storeBytes(of: high | UInt8(truncatingIfNeeded: argument), as: UInt8.self)
      return 1
    }
    if argument <= 0xff {
      let word = UInt16(high | 24) &<< 8 | UInt16(truncatingIfNeeded: argument)
      target.storeBytes(of: word.bigEndian, as: UInt16.self)
      return 2
    }
    if argument <= 0xffff {
      target.storeBytes(of: high | 25, as: UInt8.self)
      let bits = UInt16(truncatingIfNeeded: argument).bigEndian
      target.storeBytes(of: bits, toByteOffset: 1, as: UInt16.self)
      return 3
    }
    if argument <= 0xffff_ffff {
      target.storeBytes(of: high | 26, as: UInt8.self)
      let bits = UInt32(truncatingIfNeeded: argument).bigEndian
      target.storeBytes(of: bits, toByteOffset: 1, as: UInt32.self)
      return 5
    }
    target.storeBytes(of: high | 27, as: UInt8.self)
    target.storeBytes(of: argument.bigEndian, toByteOffset: 1, as: UInt64.self)
    return 9
  }

  @inlinable @inline(__always)
  mutating func appendByte(_ byte: UInt8) {
    reserve(1)
    base.storeBytes(of: byte, toByteOffset: used, as: UInt8.self)
    used &+= 1
  }

  /// Appends an integer.
  @inlinable @inline(__always)
  public mutating func append(_ value: UInt64) { appendHead(0, value) }

  /// Appends an integer.
  @inlinable @inline(__always)
  public mutating func append(_ value: Int64) {
    // ~value is -1 - value, which is what CBOR keeps of a negative number.
    let mask = value &>> 63
    appendHead(UInt8(truncatingIfNeeded: mask & 1), UInt64(bitPattern: value ^ mask))
  }

  /// Appends an integer.
  @inlinable @inline(__always)
  public mutating func append(_ value: Int) { append(Int64(value)) }

  /// Appends the integer `-1 - argument`.
  @inlinable @inline(__always)
  public mutating func appendNegative(_ argument: UInt64) { appendHead(1, argument) }

  /// Appends true or false.
  @inlinable @inline(__always)
  public mutating func append(_ value: Bool) { appendByte(value ? 0xf5 : 0xf4) }

  /// Appends null.
  @inlinable @inline(__always)
  public mutating func appendNull() { appendByte(0xf6) }

  /// Appends undefined.
  @inlinable @inline(__always)
  public mutating func appendUndefined() { appendByte(0xf7) }

  /// Appends a simple value.
  ///
  /// 20 to 23 are false, true, null and undefined; 24 to 31 don't exist (a caller's bug).
  @inlinable
  public mutating func appendSimple(_ value: UInt8) {
    precondition(value < 24 || value > 31, "CBOR has no simple values 24 to 31")
    appendHead(7, UInt64(value))
  }

  /// Appends a float in the shortest of 16, 32 and 64 bits that holds it exactly; NaN as `f97e00`.
  @inlinable
  public mutating func append(_ value: Double) {
    let (head, bits) = value.shortestFloat
    reserve(9)
    base.storeBytes(of: head, toByteOffset: used, as: UInt8.self)
    switch head {
    case 0xf9:
      let half = UInt16(truncatingIfNeeded: bits).bigEndian
      base.storeBytes(of: half, toByteOffset: used &+ 1, as: UInt16.self)
      used &+= 3
    case 0xfa:
      let single = UInt32(truncatingIfNeeded: bits).bigEndian
      base.storeBytes(of: single, toByteOffset: used &+ 1, as: UInt32.self)
      used &+= 5
    default:
      base.storeBytes(of: bits.bigEndian, toByteOffset: used &+ 1, as: UInt64.self)
      used &+= 9
    }
  }

  /// Appends a text string.
  @inlinable @inline(__always)
  public mutating func append(_ value: String) {
    let written: Void? = value.utf8.withContiguousStorageIfAvailable {
      appendString(3, UnsafeRawBufferPointer($0))
    }
    if _slowPath(written == nil) { appendBridged(value) }
  }

  /// A string that isn't stored as contiguous UTF-8.
  @usableFromInline @inline(never)
  mutating func appendBridged(_ value: String) {
    var value = value
    value.withUTF8 { appendString(3, UnsafeRawBufferPointer($0)) }
  }

  /// Appends a text string that is known when compiled: the fast way to write a map's key.
  @inlinable @inline(__always)
  public mutating func append(key: StaticString) {
    let length = key.utf8CodeUnitCount
    reserve(length &+ 9)
    used &+= CBORWriter.storeHead(base + used, 3, UInt64(length))
    (base + used).copyMemory(from: key.utf8Start, byteCount: length)
    used &+= length
  }

  /// Appends a byte string.
  @inlinable
  public mutating func append(bytes: UnsafeRawBufferPointer) { appendString(2, bytes) }

  /// Appends a byte string.
  @inlinable
  public mutating func append(bytes: [UInt8]) {
    bytes.withUnsafeBytes { appendString(2, $0) }
  }

  @inlinable @inline(__always)
  mutating func appendString(_ major: UInt8, _ content: UnsafeRawBufferPointer) {
    let length = content.count
    reserve(length &+ 16)
    used &+= CBORWriter.storeHead(base + used, major, UInt64(length))
    if let source = content.baseAddress { copySmall(base + used, source, length) }
    used &+= length
  }

  /// Appends the header of an array; its items must follow.
  @inlinable @inline(__always)
  public mutating func appendArrayHeader(count items: Int) { appendHead(4, UInt64(items)) }

  /// Appends the header of a map; its keys and values must follow, each key before its value.
  @inlinable @inline(__always)
  public mutating func appendMapHeader(count pairs: Int) { appendHead(5, UInt64(pairs)) }

  /// Appends a tag; the item that it tags must follow.
  @inlinable @inline(__always)
  public mutating func appendTag(_ tag: UInt64) { appendHead(6, tag) }

  /// Appends bytes that are whole CBOR items already.
  @inlinable
  public mutating func append(encoded bytes: UnsafeRawBufferPointer) {
    reserve(bytes.count)
    if let source = bytes.baseAddress { copySmall(base + used, source, bytes.count) }
    used &+= bytes.count
  }

  /// Appends bytes that are whole CBOR items already.
  @inlinable
  public mutating func append(encoded bytes: [UInt8]) {
    bytes.withUnsafeBytes { append(encoded: $0) }
  }
}

/// Copies bytes; a few words without a call where they are few.
@inlinable @inline(__always)
func copySmall(
  _ target: UnsafeMutableRawPointer, _ source: UnsafeRawPointer, _ length: Int
) {
  if length > 16 {
    target.copyMemory(from: source, byteCount: length)
  } else if length >= 8 {
    let first = source.loadUnaligned(as: UInt64.self)
    let last = source.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
    target.storeBytes(of: first, as: UInt64.self)
    target.storeBytes(of: last, toByteOffset: length &- 8, as: UInt64.self)
  } else if length >= 4 {
    let first = source.loadUnaligned(as: UInt32.self)
    let last = source.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self)
    target.storeBytes(of: first, as: UInt32.self)
    target.storeBytes(of: last, toByteOffset: length &- 4, as: UInt32.self)
  } else if length > 0 {
    let (middle, last) = (length &>> 1, length &- 1)
    let first = source.load(as: UInt8.self)
    let second = source.load(fromByteOffset: middle, as: UInt8.self)
    let third = source.load(fromByteOffset: last, as: UInt8.self)
    target.storeBytes(of: first, as: UInt8.self)
    target.storeBytes(of: second, toByteOffset: middle, as: UInt8.self)
    target.storeBytes(of: third, toByteOffset: last, as: UInt8.self)
  }
}
