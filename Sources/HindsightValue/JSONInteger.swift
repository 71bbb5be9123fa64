// Integers beyond 64 bits: decimal in JSON, bignums (RFC 8949, section 3.4.3) in values.
// It always holds: a bignum has a literal exactly if reading that literal gives it back.

/// Conversion between decimal digits and bignums.
enum JSONInteger {
  /// The longest bignum that is written as a literal, so that converting stays cheap.
  static let sizeLimitBytes = 400

  /// The integer of a literal, as a bignum where it is beyond CBOR's plain integers; nil where it
  /// is beyond the size limit. O(n²) in the digits, of which more than 1,000 are refused unseen.
  static func value(isNegative: Bool, digits: some Collection<UInt8>) -> Value? {
    // 400 bytes hold no more than 964 digits.
    guard digits.count <= 1_000 else { return nil }
    var words: [UInt64] = []
    for digit in digits {
      multiplyAdd(&words, by: 10, adding: UInt64(digit - UInt8(ascii: "0")))
    }
    return value(isNegative: isNegative, words: words)
  }

  /// The integer whose magnitude these bytes are, the highest first. O(n²) in them.
  static func value(isNegative: Bool, bytes: [UInt8]) -> Value? {
    var words: [UInt64] = []
    for byte in bytes { multiplyAdd(&words, by: 256, adding: UInt64(byte)) }
    return value(isNegative: isNegative, words: words)
  }

  private static func value(isNegative: Bool, words magnitude: [UInt64]) -> Value? {
    var words = magnitude
    // A negative integer is kept as -1 - n.
    if isNegative { decrement(&words) }
    if words.count <= 1 {
      let word = words.first ?? 0
      return isNegative ? .negative(word) : .unsigned(word)
    }
    var bytes: [UInt8] = []
    for word in words.reversed() {
      for shift in stride(from: 56, through: 0, by: -8) {
        let byte = UInt8(truncatingIfNeeded: word >> UInt64(shift))
        if !bytes.isEmpty || byte != 0 { bytes.append(byte) }
      }
    }
    guard bytes.count <= sizeLimitBytes else { return nil }
    return .tagged(isNegative ? 3 : 2, .bytes(bytes))
  }

  /// Whether a tagged value is written as a literal: a bignum beyond the plain integers, without
  /// leading zeros, within the size limit.
  static func hasLiteral(tag: UInt64, _ content: Value) -> Bool {
    guard tag == 2 || tag == 3, case .bytes(let bytes) = content else { return false }
    return bytes.count > 8 && bytes.count <= sizeLimitBytes && bytes[0] != 0
  }

  /// The literal of a bignum. O(n²) in the bytes.
  static func literal(tag: UInt64, bytes: [UInt8]) -> String {
    var words: [UInt64] = []
    for byte in bytes { multiplyAdd(&words, by: 256, adding: UInt64(byte)) }
    if tag == 3 { multiplyAdd(&words, by: 1, adding: 1) }
    var groups: [String] = []
    while !words.isEmpty {
      let group = String(divide(&words, by: 1_000_000_000_000_000_000))
      groups.append(words.isEmpty ? group : String(repeating: "0", count: 18 - group.utf8.count))
      if !words.isEmpty { groups[groups.count - 1] += group }
    }
    return (tag == 3 ? "-" : "") + groups.reversed().joined()
  }

  // Words are little-endian, without zeros at the high end.

  private static func multiplyAdd(_ words: inout [UInt64], by factor: UInt64, adding: UInt64) {
    var carry = adding
    for index in words.indices {
      let (high, low) = words[index].multipliedFullWidth(by: factor)
      let (sum, overflow) = low.addingReportingOverflow(carry)
      words[index] = sum
      carry = high + (overflow ? 1 : 0)
    }
    if carry != 0 { words.append(carry) }
  }

  private static func decrement(_ words: inout [UInt64]) {
    for index in words.indices {
      let (difference, borrow) = words[index].subtractingReportingOverflow(1)
      words[index] = difference
      if !borrow { break }
    }
    while words.last == 0 { words.removeLast() }
  }

  /// Divides in place; the remainder.
  private static func divide(_ words: inout [UInt64], by divisor: UInt64) -> UInt64 {
    var remainder: UInt64 = 0
    for index in words.indices.reversed() {
      (words[index], remainder) = divisor.dividingFullWidth((remainder, words[index]))
    }
    while words.last == 0 { words.removeLast() }
    return remainder
  }
}
