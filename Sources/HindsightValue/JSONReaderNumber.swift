// Numbers of a JSON text (RFC 8259, section 6).
// It always holds: an integer is exact, and any other number is the nearest double.

extension JSONReader {
  /// Reads the number whose first character is next.
  mutating func number() throws(JSONError) -> Value {
    let start = position
    let isNegative = next == UInt8(ascii: "-")
    if isNegative { position += 1 }

    let firstDigit = position
    let whole = digits(into: 0)
    guard position > firstDigit else { throw unexpected("a digit") }
    guard position == firstDigit + 1 || text[firstDigit] != UInt8(ascii: "0") else {
      throw fault(.invalidNumber, "a number with a leading zero", at: start)
    }
    let wholeDigits = position - firstDigit
    if next != UInt8(ascii: ".") && next | 0x20 != UInt8(ascii: "e") {
      guard wholeDigits <= 19 else {
        return try longInteger(isNegative, text[firstDigit..<position], from: start)
      }
      if !isNegative { return .unsigned(whole) }
      return whole == 0 ? .double(-0.0) : .negative(whole - 1)
    }

    var significand = whole
    var exponent = 0
    if next == UInt8(ascii: ".") {
      position += 1
      let firstFraction = position
      significand = digits(into: whole)
      exponent = firstFraction - position
      guard position > firstFraction else { throw unexpected("a digit after the point") }
    }
    let digitCount = wholeDigits - exponent
    if next | 0x20 == UInt8(ascii: "e") { exponent += try explicitExponent() }

    if digitCount <= 19, let exact = Self.exactDouble(significand, exponent) {
      return .double(isNegative ? -exact : exact)
    }
    let literal = String(decoding: text[start..<position], as: UTF8.self)
    guard let double = Double(literal), double.isFinite else {
      throw fault(.numberOutOfRange, "a number beyond the range of a double", at: start)
    }
    return .double(double)
  }

  /// Skips digits; the number that they and those before them make, modulo 2^64.
  @inline(__always)
  private mutating func digits(into number: UInt64) -> UInt64 {
    var number = number
    while true {
      let digit = next &- UInt8(ascii: "0")
      guard digit <= 9 else { return number }
      number = number &* 10 &+ UInt64(digit)
      position += 1
    }
  }

  /// Reads an exponent; beyond five digits it stops growing.
  private mutating func explicitExponent() throws(JSONError) -> Int {
    position += 1
    let isNegative = next == UInt8(ascii: "-")
    if isNegative || next == UInt8(ascii: "+") { position += 1 }
    let first = position
    var exponent = 0
    while true {
      let digit = next &- UInt8(ascii: "0")
      guard digit <= 9 else { break }
      if exponent < 10_000 { exponent = exponent * 10 + Int(digit) }
      position += 1
    }
    guard position > first else { throw unexpected("a digit of the exponent") }
    return isNegative ? -exponent : exponent
  }

  /// The double of a decimal where one operation on exact doubles makes it, and so rounds once.
  private static func exactDouble(_ significand: UInt64, _ exponent: Int) -> Double? {
    guard significand <= 1 << 53, abs(exponent) <= 22 else { return nil }
    return exponent < 0
      ? Double(significand) / powersOfTen[-exponent]
      : Double(significand) * powersOfTen[exponent]
  }

  /// The powers of ten that a double holds exactly.
  private static let powersOfTen: [Double] = [
    1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16,
    1e17, 1e18, 1e19, 1e20, 1e21, 1e22,
  ]

  /// The value of an integer of 20 digits or more.
  private func longInteger(
    _ isNegative: Bool, _ digits: Slice<UnsafeBufferPointer<UInt8>>, from start: Int
  ) throws(JSONError) -> Value {
    guard let value = JSONInteger.value(isNegative: isNegative, digits: digits) else {
      let limit = JSONInteger.sizeLimitBytes
      throw fault(.numberOutOfRange, "an integer of more than \(limit) bytes", at: start)
    }
    return value
  }
}
