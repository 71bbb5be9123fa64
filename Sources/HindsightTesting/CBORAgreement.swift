// Compares what a type writes by hand with what `Codable` makes of it.

public import HindsightValue

/// How a type's own CBOR differs from its `Codable` form.
public struct CBORDisagreement: Error, CustomStringConvertible {
  /// The type, and the two forms that differ, as hexadecimal digits and as values.
  public let description: String
}

/// Checks that a value's own CBOR and its `Codable` form are the same bytes, and that each way of
/// decoding them gives back a value that encodes to the same bytes again.
///
/// Call it with some values of each ``CBORCodable`` type, with every field set and unset. All
/// ``CBORCodable`` types inside the value are checked with it.
///
/// - Throws: ``CBORDisagreement``, which shows both forms; or what encoding or decoding throws.
public func checkCBORAgreement<T: CBORCodable>(of value: T) throws {
  var plainEncoder = CBOREncoder()
  plainEncoder.usesCBORCodable = false
  var plainDecoder = CBORDecoder()
  plainDecoder.usesCBORCodable = false

  let own = try CBOREncoder().encode(value)
  let plain = try plainEncoder.encode(value)
  guard own == plain else {
    throw CBORDisagreement(
      description: """
        \(T.self) writes other bytes than its Codable form has.
        by hand: \(describe(own))
        Codable: \(describe(plain))
        """)
  }
  for (name, decoder) in [("by hand", CBORDecoder()), ("Codable", plainDecoder)] {
    let again = try plainEncoder.encode(try decoder.decode(T.self, from: plain))
    guard again == plain else {
      throw CBORDisagreement(
        description: """
          \(T.self), decoded \(name), is another value than was encoded.
          encoded: \(describe(plain))
          decoded: \(describe(again))
          """)
    }
  }
}

private func describe(_ bytes: [UInt8]) -> String {
  let digits = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
  guard let value = try? Value(encoded: bytes) else { return "\(digits), which isn't CBOR" }
  return "\(digits), \(value)"
}
