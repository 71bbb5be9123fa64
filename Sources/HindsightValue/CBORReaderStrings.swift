// Reading strings: definite lengths fast, chunked ones (RFC 8949, section 3.2.3) correctly.

extension CBORReader {
  /// Reads a text string, checked to be UTF-8.
  @inlinable @inline(__always)
  public mutating func readString() throws(CBORError) -> String {
    guard _fastPath(current < end) else { throw failure(.unexpectedEnd) }
    let byte = current.load(as: UInt8.self)
    if _fastPath(byte ^ 0x60 < 24) {
      let length = Int(byte ^ 0x60)
      guard _fastPath(length < end - current) else { throw failure(.unexpectedEnd) }
      let text = try makeString(UnsafeRawBufferPointer(start: current + 1, count: length))
      current += 1 &+ length
      return text
    }
    return try readLongString()
  }

  @usableFromInline @inline(never)
  mutating func readLongString() throws(CBORError) -> String {
    let before = current
    do {
      if current.load(as: UInt8.self) != 0x7f {
        return try makeString(try readDefinite(3))
      }
      current += 1
      var text = ""
      while try !readEnd() {
        // Each chunk is a string by itself: no character is split between two.
        text += try makeString(try readDefinite(3))
      }
      return text
    } catch {
      current = before
      throw error
    }
  }

  /// Reads a byte string.
  public mutating func readBytes() throws(CBORError) -> [UInt8] {
    guard current < end else { throw failure(.unexpectedEnd) }
    let before = current
    do {
      if current.load(as: UInt8.self) != 0x5f { return [UInt8](try readDefinite(2)) }
      current += 1
      var bytes: [UInt8] = []
      while try !readEnd() { bytes.append(contentsOf: try readDefinite(2)) }
      return bytes
    } catch {
      current = before
      throw error
    }
  }

  /// Reads a text key if it is next, exactly this one and in its shortest form; says whether it
  /// was.
  ///
  /// The fast way to find the keys of a map that was written in order.
  @inlinable @inline(__always)
  public mutating func readKey(_ key: StaticString) -> Bool {
    let length = key.utf8CodeUnitCount
    guard length < 24 else { return readLongKey(key) }
    guard end - current > length,
      current.load(as: UInt8.self) == 0x60 | UInt8(truncatingIfNeeded: length)
    else { return false }
    guard isEqual(current + 1, UnsafeRawPointer(key.utf8Start), length) else { return false }
    current += 1 &+ length
    return true
  }

  @usableFromInline @inline(never)
  mutating func readLongKey(_ key: StaticString) -> Bool {
    var copy = self
    guard let content = try? copy.readDefinite(3), content.count == key.utf8CodeUnitCount,
      let text = content.baseAddress, isEqual(text, UnsafeRawPointer(key.utf8Start), content.count)
    else { return false }
    self = copy
    return true
  }

  /// Reads a text key that must be next, exactly this one.
  @inlinable @inline(__always)
  public mutating func expectKey(_ key: StaticString) throws(CBORError) {
    guard _fastPath(readKey(key)) else { throw failure(.missingField) }
  }

  /// Reads the header of a map that must have this many pairs.
  @inlinable @inline(__always)
  public mutating func expectMapHeader(count: Int) throws(CBORError) {
    let before = current
    let found = try readMapHeader()
    guard _fastPath(found == count) else {
      current = before
      throw failure(.missingField)
    }
  }

  /// The content of a string of definite length.
  @inlinable @inline(__always)
  mutating func readDefinite(_ major: UInt8) throws(CBORError) -> UnsafeRawBufferPointer {
    let before = current
    let length = try readHead(major)
    guard _fastPath(length <= UInt64(end - current)) else {
      current = before
      throw failure(.unexpectedEnd)
    }
    let content = UnsafeRawBufferPointer(start: current, count: Int(truncatingIfNeeded: length))
    current += content.count
    return content
  }

  @inlinable @inline(__always)
  func makeString(_ content: UnsafeRawBufferPointer) throws(CBORError) -> String {
    if _fastPath(isASCII(content)) { return String(decoding: content, as: UTF8.self) }
    return try makeUnicode(content)
  }

  @usableFromInline @inline(never)
  func makeUnicode(_ content: UnsafeRawBufferPointer) throws(CBORError) -> String {
    guard let text = String(validating: content, as: UTF8.self) else {
      throw failure(.invalidString)
    }
    return text
  }
}

@inlinable @inline(__always)
func isASCII(_ content: UnsafeRawBufferPointer) -> Bool {
  guard let base = content.baseAddress else { return true }
  let count = content.count
  var bits: UInt64 = 0
  var offset = 0
  if count >= 8 {
    while offset &+ 8 <= count {
      bits |= base.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      offset &+= 8
    }
    bits |= base.loadUnaligned(fromByteOffset: count &- 8, as: UInt64.self)
  } else {
    while offset < count {
      bits |= UInt64(base.load(fromByteOffset: offset, as: UInt8.self))
      offset &+= 1
    }
  }
  return bits & 0x8080_8080_8080_8080 == 0
}

/// Whether two regions have the same bytes; by words, without a call.
@inlinable @inline(__always)
func isEqual(_ left: UnsafeRawPointer, _ right: UnsafeRawPointer, _ count: Int) -> Bool {
  if count >= 8 {
    var offset = 0
    while offset &+ 8 <= count {
      let a = left.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
      guard a == right.loadUnaligned(fromByteOffset: offset, as: UInt64.self) else { return false }
      offset &+= 8
    }
    let last = count &- 8
    return left.loadUnaligned(fromByteOffset: last, as: UInt64.self)
      == right.loadUnaligned(fromByteOffset: last, as: UInt64.self)
  }
  var index = 0
  while index < count {
    let a = left.load(fromByteOffset: index, as: UInt8.self)
    guard a == right.load(fromByteOffset: index, as: UInt8.self) else { return false }
    index &+= 1
  }
  return true
}
