// What is wrong with a JSON text, and where.

/// Why bytes could not be read as JSON (RFC 8259), with the place.
public struct JSONError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of fault.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name, which stays the same in later versions.
    public let rawValue: String

    /// A kind of fault by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text ends inside a value.
    public static let unexpectedEnd = Code(rawValue: "unexpectedEnd")
    /// A byte that can't stand where it stands.
    public static let unexpectedCharacter = Code(rawValue: "unexpectedCharacter")
    /// Something other than white space follows the value.
    public static let trailingBytes = Code(rawValue: "trailingBytes")
    /// A number that isn't written as RFC 8259, section 6, asks.
    public static let invalidNumber = Code(rawValue: "invalidNumber")
    /// A number that can't be held: beyond a double, or an integer of more than 400 bytes.
    public static let numberOutOfRange = Code(rawValue: "numberOutOfRange")
    /// A backslash followed by something that is no escape.
    public static let invalidEscape = Code(rawValue: "invalidEscape")
    /// A `\u` escape of half of a surrogate pair.
    public static let loneSurrogate = Code(rawValue: "loneSurrogate")
    /// An unescaped character below U+0020 in a string.
    public static let controlCharacter = Code(rawValue: "controlCharacter")
    /// Bytes in a string that are not UTF-8.
    public static let invalidUTF8 = Code(rawValue: "invalidUTF8")
    /// A key that its object already has.
    public static let duplicateKey = Code(rawValue: "duplicateKey")
    /// Arrays and objects nested deeper than the limit.
    public static let tooDeep = Code(rawValue: "tooDeep")
  }

  /// The kind of fault.
  public let code: Code
  /// Where the fault is, in bytes from the beginning.
  public let byteOffset: Int
  /// The line of the fault, from 1.
  public let line: Int
  /// The column of the fault in its line, in Unicode scalars, from 1.
  public let column: Int
  /// What is wrong, in words, without the place.
  public let message: String

  /// A fault at an offset of a text; finds line and column. O(offset).
  init(_ code: Code, _ message: String, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
    var line = 1
    var column = 1
    for byte in text.prefix(offset) {
      if byte == UInt8(ascii: "\n") {
        line += 1
        column = 1
      } else if byte & 0xc0 != 0x80 {
        column += 1
      }
    }
    self.code = code
    self.byteOffset = offset
    self.line = line
    self.column = column
    self.message = message
  }

  /// What is wrong, with line, column and byte.
  public var description: String {
    "invalid JSON at line \(line), column \(column) (byte \(byteOffset)): \(message)"
  }
}
