// Names a place inside a value (RFC 6901).
// It always holds: a pointer and its text correspond one to one.

/// A JSON Pointer: the path from the whole of a value to one place in it.
///
/// Beyond JSON, a key that isn't a string is named by its compact JSON (``Value/json``): in the map
/// from 7 to a name, `/7`. A string key of the same text has precedence.
///
/// Tokens compare by their UTF-8 bytes.
public struct JSONPointer: Sendable, CustomStringConvertible {
  /// The unescaped names and indices, from the outside in. Empty for the whole value.
  public var tokens: [String]

  /// The pointer to the whole value.
  public static let root = JSONPointer([])

  /// A pointer of unescaped tokens.
  public init(_ tokens: [String]) { self.tokens = tokens }

  /// Reads a pointer such as `/accounts/0/a~1b` (RFC 6901, section 3). O(n) in the text.
  ///
  /// - Throws: ``JSONPointerError``, code `.invalidText`, where the text is neither empty nor
  ///   begins with a slash, or has a tilde that isn't followed by 0 or 1.
  public init(parsing text: String) throws(JSONPointerError) {
    guard text.utf8.first ?? UInt8(ascii: "/") == UInt8(ascii: "/") else {
      throw .invalidText(text, "it must begin with '/'", at: 0)
    }
    var tokens: [String] = []
    var token: [UInt8] = []
    var isAfterTilde = false
    for (offset, byte) in text.utf8.enumerated() {
      switch (byte, isAfterTilde) {
      case (UInt8(ascii: "0"), true): token.append(UInt8(ascii: "~"))
      case (UInt8(ascii: "1"), true): token.append(UInt8(ascii: "/"))
      case (_, true): throw .invalidText(text, "'~' must be followed by 0 or 1", at: offset - 1)
      case (UInt8(ascii: "/"), false):
        if offset > 0 { tokens.append(String(decoding: token, as: UTF8.self)) }
        token.removeAll(keepingCapacity: true)
      case (UInt8(ascii: "~"), false):
        isAfterTilde = true
        continue
      case (_, false): token.append(byte)
      }
      isAfterTilde = false
    }
    guard !isAfterTilde else {
      throw .invalidText(text, "'~' must be followed by 0 or 1", at: text.utf8.count - 1)
    }
    if !text.utf8.isEmpty { tokens.append(String(decoding: token, as: UTF8.self)) }
    self.tokens = tokens
  }

  /// The text, with `~` and `/` in tokens escaped.
  public var description: String {
    var text: [UInt8] = []
    for token in tokens {
      text.append(UInt8(ascii: "/"))
      for byte in token.utf8 {
        switch byte {
        case UInt8(ascii: "~"): text += [UInt8(ascii: "~"), UInt8(ascii: "0")]
        case UInt8(ascii: "/"): text += [UInt8(ascii: "~"), UInt8(ascii: "1")]
        default: text.append(byte)
        }
      }
    }
    return String(decoding: text, as: UTF8.self)
  }

  /// The pointer to a place inside this one.
  public func appending(_ token: String) -> JSONPointer { JSONPointer(tokens + [token]) }

  /// The pointer to an element of the array here.
  public func appending(_ index: Int) -> JSONPointer { appending(String(index)) }

  /// Whether this names the same place as another or one around it. O(n) in the tokens.
  public func isPrefix(of other: JSONPointer) -> Bool {
    tokens.count <= other.tokens.count && zip(tokens, other.tokens).allSatisfy { $0.isSame(as: $1) }
  }
}

extension JSONPointer: Hashable {
  /// Whether both have the same tokens, byte for byte in UTF-8.
  public static func == (left: JSONPointer, right: JSONPointer) -> Bool {
    left.tokens.count == right.tokens.count && left.isPrefix(of: right)
  }

  /// Hashes the tokens.
  public func hash(into hasher: inout Hasher) {
    for token in tokens { hasher.combine(Value.string(token)) }
  }
}

extension String {
  /// Whether two strings have the same UTF-8 bytes, which is less than Swift's equality accepts.
  func isSame(as other: String) -> Bool { utf8.elementsEqual(other.utf8) }
}

/// Why a pointer can't be read, or names nothing in a value.
public struct JSONPointerError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of fault.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name, which stays the same in later versions.
    public let rawValue: String

    /// A kind of fault by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The text is no pointer.
    public static let invalidText = Code(rawValue: "invalidText")
    /// A map doesn't have the key.
    public static let keyNotFound = Code(rawValue: "keyNotFound")
    /// An array has no such element.
    public static let indexOutOfRange = Code(rawValue: "indexOutOfRange")
    /// A token that is applied to an array isn't an index: digits without leading zeros.
    public static let invalidIndex = Code(rawValue: "invalidIndex")
    /// There is nothing inside a value that is neither map nor array.
    public static let notAContainer = Code(rawValue: "notAContainer")
    /// The whole value can't be removed.
    public static let rootNotRemovable = Code(rawValue: "rootNotRemovable")
  }

  /// The kind of fault.
  public let code: Code
  /// The text of the pointer.
  public let pointer: String
  /// Which of the pointer's tokens names nothing, from 0; nil where it isn't one of them.
  public let tokenIndex: Int?
  /// What is wrong, in words, with the place.
  public let message: String

  /// The message: it names the place itself.
  public var description: String { message }

  static func invalidText(_ text: String, _ reason: String, at offset: Int) -> JSONPointerError {
    JSONPointerError(
      code: .invalidText, pointer: text, tokenIndex: nil,
      message: "invalid JSON Pointer \(JSONWriter().string(.string(text))) at byte \(offset): "
        + reason)
  }
}
