// Strings of a JSON text (RFC 8259, section 7).
// It always holds: a string is made only of bytes that were found to be valid UTF-8.

extension JSONReader {
  /// Reads the string whose quotation mark is next.
  mutating func string() throws(JSONError) -> String {
    let start = position + 1
    let run = plainRun(from: start)
    position = run.end
    stringHasEscapes = next == UInt8(ascii: "\\")
    guard next == UInt8(ascii: "\"") else { return try stringWithEscapes(from: start) }
    position += 1
    let plain = UnsafeBufferPointer(rebasing: text[start..<run.end])
    // Validating costs as much as all the rest for a short string, and ASCII needs none.
    if run.isASCII { return String(decoding: plain, as: UTF8.self) }
    guard let string = String(validating: plain, as: UTF8.self) else {
      throw invalidUTF8(from: start)
    }
    return string
  }

  /// The offset of the next quotation mark, backslash or control character, or the end; and whether
  /// all bytes before it are ASCII.
  @inline(__always)
  private func plainRun(from start: Int) -> (end: Int, isASCII: Bool) {
    let ones: UInt64 = 0x0101_0101_0101_0101
    let highs: UInt64 = 0x8080_8080_8080_8080
    var offset = start
    var seen: UInt64 = 0
    let bytes = UnsafeRawBufferPointer(text)
    while offset + 8 <= text.count {
      let word = UInt64(
        littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
      // The lowest high bit that remains marks the first byte that is one of the three.
      let quotes = word ^ (ones &* 0x22)
      let backslashes = word ^ (ones &* 0x5c)
      let marks =
        ((quotes &- ones) & ~quotes)
        | ((backslashes &- ones) & ~backslashes)
        | ((word &- ones &* 0x20) & ~word)
      let stop = marks & highs
      if stop != 0 {
        let plainBits = UInt64(stop.trailingZeroBitCount & ~7)
        seen |= word & ((1 << plainBits) &- 1)
        return (offset + Int(plainBits / 8), seen & highs == 0)
      }
      seen |= word
      offset += 8
    }
    while offset < text.count {
      let byte = text[offset]
      if byte == 0x22 || byte == 0x5c || byte < 0x20 { break }
      seen |= UInt64(byte)
      offset += 1
    }
    return (offset, seen & highs == 0)
  }

  /// Goes on with a string that isn't plain up to its end; `position` is at the first other byte.
  private mutating func stringWithEscapes(from start: Int) throws(JSONError) -> String {
    scratch.removeAll(keepingCapacity: true)
    scratch.append(contentsOf: text[start..<position])
    while true {
      guard position < text.count else {
        throw fault(
          .unexpectedEnd, "the text ends inside a string that begins at byte \(start - 1)")
      }
      switch text[position] {
      case UInt8(ascii: "\""):
        let string = scratch.withUnsafeBufferPointer { String(validating: $0, as: UTF8.self) }
        guard let string else { throw invalidUTF8(from: start) }
        position += 1
        return string
      case UInt8(ascii: "\\"):
        try escape()
      case 0..<0x20:
        let byte = String(text[position], radix: 16)
        throw fault(
          .controlCharacter, "control character 0x\(byte) in a string; it must be escaped")
      default:
        let run = position
        position = plainRun(from: run).end
        scratch.append(contentsOf: text[run..<position])
      }
    }
  }

  /// Reads the escape whose backslash is next.
  private mutating func escape() throws(JSONError) {
    let start = position
    position += 1
    let letter = next
    position += 1
    switch letter {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): scratch.append(letter)
    case UInt8(ascii: "b"): scratch.append(0x08)
    case UInt8(ascii: "f"): scratch.append(0x0c)
    case UInt8(ascii: "n"): scratch.append(0x0a)
    case UInt8(ascii: "r"): scratch.append(0x0d)
    case UInt8(ascii: "t"): scratch.append(0x09)
    case UInt8(ascii: "u"):
      let scalar = try unicodeEscape(from: start)
      for byte in UTF8.encode(scalar)! { scratch.append(byte) }
    default:
      guard start + 1 < text.count else {
        position = start + 1
        throw unexpected("an escape")
      }
      throw fault(.invalidEscape, "a backslash before what is no escape of JSON", at: start)
    }
  }

  /// Reads what follows `\u`, and the second escape of a surrogate pair.
  private mutating func unicodeEscape(from start: Int) throws(JSONError) -> Unicode.Scalar {
    let first = try fourHexDigits(from: start)
    if let scalar = Unicode.Scalar(first) { return scalar }
    let isPair =
      first < 0xdc00 && position + 1 < text.count && text[position] == UInt8(ascii: "\\")
      && text[position + 1] == UInt8(ascii: "u")
    if isPair {
      position += 2
      let second = try fourHexDigits(from: position - 2)
      if (0xdc00...0xdfff).contains(second),
        let scalar = Unicode.Scalar(0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00))
      {
        return scalar
      }
    }
    throw fault(.loneSurrogate, "an escape of half of a surrogate pair", at: start)
  }

  private mutating func fourHexDigits(from start: Int) throws(JSONError) -> UInt32 {
    var result: UInt32 = 0
    for _ in 0..<4 {
      guard position < text.count else { throw unexpected("a hexadecimal digit") }
      let byte = text[position]
      let digit: UInt8
      switch byte {
      case UInt8(ascii: "0")...UInt8(ascii: "9"): digit = byte - UInt8(ascii: "0")
      case UInt8(ascii: "a")...UInt8(ascii: "f"): digit = byte - UInt8(ascii: "a") + 10
      case UInt8(ascii: "A")...UInt8(ascii: "F"): digit = byte - UInt8(ascii: "A") + 10
      default: throw fault(.invalidEscape, "four hexadecimal digits must follow \\u", at: start)
      }
      result = result << 4 | UInt32(digit)
      position += 1
    }
    return result
  }

  /// The error for a string that isn't UTF-8, at its first bad byte. Escapes are ASCII, so that the
  /// text itself is what can be wrong.
  private func invalidUTF8(from start: Int) -> JSONError {
    var decoder = UTF8()
    var bytes = text[start...].makeIterator()
    var offset = start
    while case .scalarValue(let scalar) = decoder.decode(&bytes) {
      offset += UTF8.width(scalar)
    }
    return fault(.invalidUTF8, "not UTF-8", at: min(offset, text.count))
  }
}
