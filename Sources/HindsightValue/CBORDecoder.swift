// Decodes any `Decodable` value from CBOR.

/// Decodes `Decodable` values from CBOR (RFC 8949), as ``CBOREncoder`` writes it or in any other
/// well-formed form.
///
/// Nothing is taken on trust: what isn't well-formed, a map with a key twice, a string that isn't
/// UTF-8, a number that doesn't fit and bytes left over are errors, as is nesting of more than 512
/// levels, or than the thread's stack holds. Fields that a type doesn't ask for are checked to be
/// well-formed and skipped.
///
/// Other forms than the encoder's own that are read: integers where a float is asked for, and
/// whole floats for integers, where that is exact; dictionaries from maps whose keys are texts
/// that name the key, and from arrays of keys and values in turn; a date, UUID, URL, decimal or
/// data in the form that the type's own `Codable` gives it; tags that say nothing to the type
/// around any value.
///
/// Beyond the values made, decoding allocates at most a small multiple of the bytes: 8 bytes for
/// each that a map has, 16 for each level. A decoder is a value and costs nothing to make.
public struct CBORDecoder: Sendable {
  /// What types find in the `userInfo` of their decoder.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  /// Whether ``CBORCodable`` types read themselves. Off, to check that it makes no difference.
  package var usesCBORCodable = true

  /// A decoder; it has no options.
  public init() {}

  /// The value that the bytes are the encoding of. They must be one item, and be less than 2 GiB.
  ///
  /// The bytes are only read during the call. Nothing in the value refers to them.
  ///
  /// - Throws: `DecodingError`, with a ``CBORError`` as the underlying one where bytes are at
  ///   fault; or what a type's `init(from:)` throws.
  public func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer
  ) throws -> T {
    try decode(type, from: bytes, depth: 0)
  }

  /// Decodes inside of something that nests this deep.
  func decode<T: Decodable>(
    _ type: T.Type, from bytes: UnsafeRawBufferPointer, depth: Int
  ) throws -> T {
    let core = DecoderCore.take()
    defer { core.give() }
    core.begin(bytes, userInfo, usesCBORCodable: usesCBORCodable, depth: depth)
    defer { core.end() }
    let whole = Place(node: 0)
    guard bytes.count < 1 << 31 else { throw core.failure(CBORError(.tooLarge, at: 0), whole) }
    guard bytes.count > 0 else { throw core.failure(CBORError(.unexpectedEnd, at: 0), whole) }
    let value = try core.value(type, 0, whole)
    let end = try core.endOfLast(0, whole)
    guard end == bytes.count else { throw core.failure(CBORError(.trailingBytes, at: end), whole) }
    return value
  }

  /// The value that the bytes are the encoding of.
  ///
  /// - Throws: `DecodingError`, or what a type's `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: [UInt8]) throws -> T {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }

  /// The value that the bytes are the encoding of, read where they are.
  ///
  /// - Throws: `DecodingError`, or what a type's `init(from:)` throws.
  public func decode<T: Decodable>(_ type: T.Type, from bytes: borrowing RawSpan) throws -> T {
    try bytes.withUnsafeBytes { try decode(type, from: $0) }
  }
}
