// The CBOR of an editable text, without making one string of it first.

extension EditableText: CBORCodable {
  /// Appends the text as one text string. O(n).
  public func encode(into writer: inout CBORWriter) throws {
    writer.reserve(utf8Count + 9)
    writer.appendHead(3, UInt64(utf8Count))
    for chunk in chunks {
      chunk.bytes.withUnsafeBytes { writer.append(encoded: $0) }
    }
  }

  /// Reads a text string. O(n).
  ///
  /// - Throws: ``CBORError`` where the next item isn't a text string in UTF-8.
  public init(from reader: inout CBORReader) throws {
    self.init(try reader.readString())
  }
}
