// The JSON text of scalars and strings.
// It always holds: the text is ASCII, or UTF-8 from a string, and never has a line break in it.

/// Appends the JSON text of what is written in one piece.
enum JSONText {
  /// Appends a value that ``JSONForm`` calls a scalar.
  static func append(scalar value: Value, isPretty: Bool, to output: inout [UInt8]) {
    switch value {
    case .null: append(ascii: "null", to: &output)
    case .bool(let value): append(ascii: value ? "true" : "false", to: &output)
    case .unsigned(let value): append(value, to: &output)
    case .negative(let value):
      output.append(UInt8(ascii: "-"))
      let (magnitude, overflow) = value.addingReportingOverflow(1)
      if overflow {
        append(ascii: "18446744073709551616", to: &output)
      } else {
        append(magnitude, to: &output)
      }
    case .double(let value) where value.isFinite:
      output.append(contentsOf: value.description.utf8)
    case .string(let value): append(value, to: &output)
    case .tagged(let tag, .bytes(let bytes)):
      output.append(contentsOf: JSONInteger.literal(tag: tag, bytes: bytes).utf8)
    default: append(form: value, isPretty: isPretty, to: &output)
    }
  }

  /// Appends an object of one key that stands for a scalar.
  private static func append(form value: Value, isPretty: Bool, to output: inout [UInt8]) {
    let colon: StaticString = isPretty ? "\": " : "\":"
    append(ascii: "{\"", to: &output)
    switch value {
    case .bytes(let bytes):
      append(ascii: "$bytes", to: &output)
      append(ascii: colon, to: &output)
      output.append(UInt8(ascii: "\""))
      Base64.encode(bytes, to: &output)
      output.append(UInt8(ascii: "\""))
    case .double(let double):
      append(ascii: "$double", to: &output)
      append(ascii: colon, to: &output)
      append(
        ascii: double.isNaN ? "\"NaN\"" : double > 0 ? "\"Infinity\"" : "\"-Infinity\"", to: &output
      )
    case .undefined:
      append(ascii: "$undefined", to: &output)
      append(ascii: colon, to: &output)
      append(ascii: "true", to: &output)
    case .simple(let number):
      append(ascii: "$simple", to: &output)
      append(ascii: colon, to: &output)
      append(UInt64(number), to: &output)
    default: preconditionFailure("arrays, maps and tags are no scalars")
    }
    output.append(UInt8(ascii: "}"))
  }

  private static func append(ascii text: StaticString, to output: inout [UInt8]) {
    output.append(
      contentsOf: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
  }

  private static func append(_ number: UInt64, to output: inout [UInt8]) {
    if number < 10 { return output.append(UInt8(ascii: "0") + UInt8(number)) }
    output.append(contentsOf: String(number).utf8)
  }

  /// Appends a string with its quotation marks.
  static func append(_ string: String, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\""))
    var string = string
    string.withUTF8 { appendEscaped($0, to: &output) }
    output.append(UInt8(ascii: "\""))
  }

  /// Appends one scalar of a string, in UTF-8.
  static func appendEscaped(_ scalar: UTF8.EncodedScalar, to output: inout [UInt8]) {
    for byte in scalar {
      if mustEscape(byte) { appendEscape(of: byte, to: &output) } else { output.append(byte) }
    }
  }

  @inline(__always)
  private static func mustEscape(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }

  private static func appendEscaped(_ text: UnsafeBufferPointer<UInt8>, to output: inout [UInt8]) {
    var runStart = 0
    for (index, byte) in text.enumerated() where mustEscape(byte) {
      output.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart..<index]))
      runStart = index + 1
      appendEscape(of: byte, to: &output)
    }
    output.append(contentsOf: UnsafeBufferPointer(rebasing: text[runStart...]))
  }

  private static func appendEscape(of byte: UInt8, to output: inout [UInt8]) {
    output.append(UInt8(ascii: "\\"))
    switch byte {
    case 0x08: output.append(UInt8(ascii: "b"))
    case 0x09: output.append(UInt8(ascii: "t"))
    case 0x0a: output.append(UInt8(ascii: "n"))
    case 0x0c: output.append(UInt8(ascii: "f"))
    case 0x0d: output.append(UInt8(ascii: "r"))
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): output.append(byte)
    default:
      append(ascii: byte < 0x10 ? "u000" : "u001", to: &output)
      output.append(contentsOf: String(byte & 15, radix: 16).utf8)
    }
  }
}
