// The protocol of types that write and read CBOR by hand, several times as fast as Codable does.

/// A type that writes and reads its CBOR itself.
///
/// ``CBOREncoder`` and ``CBORDecoder`` use these two instead of the type's `Codable` ones wherever
/// they meet it. The bytes must be *the same* as those of its `Codable` form, so that a type can
/// be sped up at any time without a change of format; `checkCBORAgreement(of:)` in
/// `HindsightTesting` compares the two.
///
/// The `Codable` form of a struct is a map with the keys in the order of RFC 8949, section 4.2.1:
/// shorter keys first, keys of one length by their bytes.
public protocol CBORCodable: Codable {
  /// Appends exactly one item.
  func encode(into writer: inout CBORWriter) throws
  /// Reads exactly one item.
  init(from reader: inout CBORReader) throws
}

extension CBORWriter {
  /// Appends a value of any encodable type, as ``CBOREncoder`` does.
  ///
  /// For the parts of a ``CBORCodable`` type that aren't worth writing by hand.
  public mutating func encode<T: Encodable>(_ value: T) throws {
    try CBOREncoder().encode(value, into: &self)
  }
}

extension CBORReader {
  /// Reads a value of any decodable type, as ``CBORDecoder`` does.
  public mutating func decode<T: Decodable>(_ type: T.Type) throws -> T {
    let before = current
    try skip()
    let item = UnsafeRawBufferPointer(start: before, count: current - before)
    return try CBORDecoder().decode(type, from: item, depth: depth)
  }
}
