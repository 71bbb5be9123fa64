// Base64 (RFC 4648, section 4), for bytes in JSON.
// It always holds: only the one canonical text of some bytes is read as those bytes.

/// Encoding and strict decoding of Base64 with padding.
enum Base64 {
  private static let alphabet = Array(
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

  /// The number of each character of the alphabet; 255 for all others.
  private static let sextets: [UInt8] = {
    var result = [UInt8](repeating: 255, count: 256)
    for (number, character) in alphabet.enumerated() { result[Int(character)] = UInt8(number) }
    return result
  }()

  /// Appends the text of some bytes.
  static func encode(_ bytes: [UInt8], to output: inout [UInt8]) {
    output.reserveCapacity(output.count + (bytes.count + 2) / 3 * 4)
    for start in stride(from: 0, to: bytes.count, by: 3) {
      let count = min(3, bytes.count - start)
      var group = UInt32(bytes[start]) << 16
      if count > 1 { group |= UInt32(bytes[start + 1]) << 8 }
      if count > 2 { group |= UInt32(bytes[start + 2]) }
      for place in 0..<4 {
        let sextet = Int(group >> UInt32(18 - 6 * place) & 63)
        output.append(place <= count ? alphabet[sextet] : UInt8(ascii: "="))
      }
    }
  }

  /// The bytes of a text, or nil where it isn't exactly what encoding them gives.
  static func decode(_ text: String) -> [UInt8]? {
    let characters = Array(text.utf8)
    guard characters.count % 4 == 0 else { return nil }
    let padding = characters.suffix(2).reversed().prefix { $0 == UInt8(ascii: "=") }.count
    var result: [UInt8] = []
    result.reserveCapacity(characters.count / 4 * 3)
    var group: UInt32 = 0
    for (index, character) in characters.dropLast(padding).enumerated() {
      let sextet = sextets[Int(character)]
      guard sextet != 255 else { return nil }
      group = group << 6 | UInt32(sextet)
      if index % 4 == 3 {
        result.append(UInt8(truncatingIfNeeded: group >> 16))
        result.append(UInt8(truncatingIfNeeded: group >> 8))
        result.append(UInt8(truncatingIfNeeded: group))
        group = 0
      }
    }
    // What is left of the last group; the bits beyond its bytes must be zero.
    switch padding {
    case 1:
      guard group & 3 == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 10))
      result.append(UInt8(truncatingIfNeeded: group >> 2))
    case 2:
      guard group & 15 == 0 else { return nil }
      result.append(UInt8(truncatingIfNeeded: group >> 4))
    default: break
    }
    return result
  }
}
