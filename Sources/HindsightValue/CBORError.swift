// What can be wrong with CBOR bytes: one trivial struct, cheap to throw, that names the byte.
// It always holds: `offset` counts from the first byte of what the reader was given.

/// Bytes that aren't the CBOR that was asked for: what is wrong, and where.
public struct CBORError: Error, Hashable, Sendable {
  /// What is wrong. More codes may be added.
  public struct Code: Hashable, Sendable {
    let number: UInt8

    /// The bytes end inside an item, or a length or count is larger than what is left.
    public static let unexpectedEnd = Code(number: 1)
    /// The item is well-formed, but of another type than was asked for.
    public static let wrongType = Code(number: 2)
    /// RFC 8949, section 3, doesn't allow this byte here.
    public static let notWellFormed = Code(number: 3)
    /// A text string isn't UTF-8.
    public static let invalidString = Code(number: 4)
    /// A map has the same key twice.
    public static let duplicateKey = Code(number: 5)
    /// Bytes follow the item that was to be the only one.
    public static let trailingBytes = Code(number: 6)
    /// Items are nested deeper than the limit.
    public static let tooDeep = Code(number: 7)
    /// The number doesn't fit in the type that was asked for.
    public static let outOfRange = Code(number: 8)
    /// The bytes are more than a decoder's offsets can count (4 GiB).
    public static let tooLarge = Code(number: 9)
    /// A field that the type needs isn't there, or isn't where it has to be.
    public static let missingField = Code(number: 10)
  }

  /// What kind of thing is wrong.
  public let code: Code
  /// The offset of the item or byte at fault.
  public let offset: Int

  @usableFromInline
  package init(_ code: Code, at offset: Int) {
    self.code = code
    self.offset = offset
  }
}

extension CBORError: CustomStringConvertible {
  /// What is wrong, in words, without the offset.
  public var message: String {
    switch code {
    case .unexpectedEnd: "the bytes end inside an item"
    case .wrongType: "the item has another type than was asked for"
    case .notWellFormed: "not well-formed CBOR (RFC 8949, section 3)"
    case .invalidString: "a text string isn't valid UTF-8"
    case .duplicateKey: "a map has the same key twice"
    case .trailingBytes: "there are bytes after the end of the item"
    case .tooDeep: "nested deeper than \(CBOR.depthLimit) levels, or than the stack allows"
    case .outOfRange: "the number doesn't fit in the type that was asked for"
    case .tooLarge: "larger than 4 GiB"
    case .missingField: "a field is missing or out of place"
    default: "invalid CBOR"
    }
  }

  /// The byte where reading stopped, and what is wrong there.
  public var description: String { "CBOR, byte \(offset): \(message)" }
}

/// Numbers of the format (RFC 8949) and limits of this implementation.
@usableFromInline
package enum CBOR {
  /// How deep arrays, maps and tags may nest, in both directions.
  @usableFromInline
  package static var depthLimit: Int { 512 }
}
