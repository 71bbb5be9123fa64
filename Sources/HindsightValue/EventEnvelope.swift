// An encoded event taken apart into a type's name and a payload, without decoding it.
// It always holds: putting form, name and payload together again gives exactly the encoded bytes.

/// What ``EventEnvelope/probe(_:name:)`` finds in an encoded event.
package struct EventEnvelope: Equatable, Sendable {
  /// How an event's type and payload lie in its encoding.
  package enum Form: Sendable {
    /// The payload is the whole encoding; it has no name of its own.
    case whole
    /// A map of one text key, the type, whose value is a map, the payload: an enum's case.
    case enveloped
    /// Cases of enums in cases, each the one unlabelled value (`_0`) of the one before: the type is
    /// their keys joined with `.`, the payload is the innermost map.
    case nested
    /// A text, the type; there is no payload: an enum with raw values.
    case bare
  }

  package var form: Form
  /// The offsets of the payload in the encoded bytes; empty for a bare one.
  package var payload: Range<Int>

  package init(form: Form, payload: Range<Int>) {
    self.form = form
    self.payload = payload
  }

  private static let separator = UInt8(ascii: ".")

  /// Takes one encoded event apart; its type's name, as UTF-8, takes the place of what is in
  /// `name`.
  ///
  /// Allocates nothing once `name` has grown. What isn't recognised, isn't in its deterministic
  /// form or has an empty name is `.whole`, and leaves `name` empty. O(1) in the payload.
  package static func probe(_ bytes: UnsafeRawBufferPointer, name: inout [UInt8]) -> EventEnvelope {
    name.removeAll(keepingCapacity: true)
    let whole = EventEnvelope(form: .whole, payload: 0..<bytes.count)
    guard let first = bytes.first else { return whole }
    if first != 0xa1 {
      guard let text = text(in: bytes, at: 0), text.upperBound == bytes.count else { return whole }
      name.append(contentsOf: bytes[text])
      return EventEnvelope(form: .bare, payload: bytes.count..<bytes.count)
    }
    guard var level = envelope(in: bytes, at: 0) else { return whole }
    name.append(contentsOf: bytes[level.key])
    var form = Form.enveloped
    guard !bytes[level.key].contains(separator) else {
      return EventEnvelope(form: form, payload: level.map..<bytes.count)
    }
    while let inner = unlabelled(in: bytes, at: level.map),
      let next = envelope(in: bytes, at: inner), !bytes[next.key].contains(separator)
    {
      name.append(separator)
      name.append(contentsOf: bytes[next.key])
      form = .nested
      level = next
    }
    return EventEnvelope(form: form, payload: level.map..<bytes.count)
  }

  /// Appends the encoded bytes that were taken apart into these.
  package static func append(
    _ form: Form, name: UnsafeRawBufferPointer, payload: UnsafeRawBufferPointer,
    to writer: inout CBORWriter
  ) {
    switch form {
    case .whole: break
    case .bare: writer.appendString(3, name)
    case .enveloped:
      writer.appendMapHeader(count: 1)
      writer.appendString(3, name)
    case .nested:
      var start = 0
      while start <= name.count {
        var end = start
        while end < name.count, name[end] != separator { end += 1 }
        if start > 0 {
          writer.appendMapHeader(count: 1)
          writer.append(key: "_0")
        }
        writer.appendMapHeader(count: 1)
        writer.appendString(3, UnsafeRawBufferPointer(rebasing: name[start..<end]))
        start = end + 1
      }
    }
    writer.append(encoded: payload)
  }

  /// A map of one text key whose value is a map: its key, and the offset of the map.
  private static func envelope(
    in bytes: UnsafeRawBufferPointer, at offset: Int
  ) -> (key: Range<Int>, map: Int)? {
    guard offset < bytes.count, bytes[offset] == 0xa1,
      let key = text(in: bytes, at: offset + 1), key.upperBound < bytes.count,
      bytes[key.upperBound] >> 5 == 5
    else { return nil }
    return (key, key.upperBound)
  }

  /// The offset of the value of a map's only key, if that is `_0`.
  private static func unlabelled(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Int? {
    guard bytes.count - offset > 4, bytes[offset] == 0xa1, bytes[offset + 1] == 0x62,
      bytes[offset + 2] == UInt8(ascii: "_"), bytes[offset + 3] == UInt8(ascii: "0")
    else { return nil }
    return offset + 4
  }

  /// The content of a text that isn't empty, is valid UTF-8 and in its shortest form.
  private static func text(in bytes: UnsafeRawBufferPointer, at offset: Int) -> Range<Int>? {
    guard offset < bytes.count, bytes[offset] >> 5 == 3, bytes[offset] != 0x7f,
      let start = bytes.baseAddress
    else { return nil }
    var reader = CBORReader(start: start, offset: offset, end: start + bytes.count)
    guard let content = try? reader.readDefinite(3), !content.isEmpty else { return nil }
    let head = reader.position - offset - content.count
    let shortest =
      content.count < 24 ? 1 : content.count < 0x100 ? 2 : content.count < 0x1_0000 ? 3 : 5
    guard head == shortest, isASCII(content) || String(validating: content, as: UTF8.self) != nil
    else { return nil }
    return reader.position - content.count..<reader.position
  }
}
