// Writes a value as text for people, leaving out what is beyond the limits.
// It always holds: brackets are balanced, and each thing left out is marked and counted.

/// The state of rendering one value.
struct JSONRenderer {
  let limits: JSONRendering.Limits
  let style: JSONWriter.Style
  let keyOrder: JSONWriter.KeyOrder
  var output: [UInt8] = []
  var result = JSONRendering()
  private var stack: [JSONWriter.Frame] = []

  init(limits: JSONRendering.Limits, style: JSONWriter.Style, keyOrder: JSONWriter.KeyOrder) {
    self.limits = limits
    self.style = style
    self.keyOrder = keyOrder
  }

  mutating func render(_ value: Value) {
    begin(value)
    while let top = stack.indices.last {
      if output.count >= limits.sizeBytes || stack[top].position >= limits.elements {
        leaveOutRest(of: stack[top])
        stack[top].position = stack[top].count
      }
      guard let next = stack[top].next() else {
        let finished = stack.removeLast()
        breakLine()
        output.append(finished.isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        continue
      }
      separate(isFirst: stack[top].position == 1)
      if let key = next.key {
        append(quoted: key)
        append(text: style == .pretty ? ": " : ":")
      }
      begin(next.value)
    }
  }

  /// Writes a scalar, or enters an array or object.
  private mutating func begin(_ value: Value) {
    switch JSONForm(value, .lossless) {
    case .scalar: append(scalar: value)
    case .array(let items): enter(JSONWriter.Frame(items: items, pairs: nil))
    case .object(var pairs):
      if keyOrder == .bytes { pairs.sort { $0.key.isBytewiseBefore($1.key) } }
      enter(JSONWriter.Frame(items: [], pairs: pairs))
    }
  }

  private mutating func enter(_ frame: JSONWriter.Frame) {
    let (open, close) = frame.isObject ? ("{", "}") : ("[", "]")
    append(text: open)
    if frame.count > 0 && stack.count < limits.depth {
      stack.append(frame)
      return
    }
    if frame.count > 0 {
      append(text: "… \(frame.count) " + noun(frame, frame.count))
      result.cutElementCount += frame.count
    }
    append(text: close)
  }

  private mutating func leaveOutRest(of frame: JSONWriter.Frame) {
    let count = frame.count - frame.position
    guard count > 0 else { return }
    separate(isFirst: frame.position == 0)
    append(text: "… \(count) more " + noun(frame, count))
    result.cutElementCount += count
  }

  private func noun(_ frame: JSONWriter.Frame, _ count: Int) -> String {
    (frame.isObject ? "key" : "element") + (count == 1 ? "" : "s")
  }

  private mutating func separate(isFirst: Bool) {
    if !isFirst { append(text: style == .pretty ? "," : ", ") }
    breakLine()
  }

  private mutating func breakLine() {
    guard style == .pretty else { return }
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * stack.count))
  }
}

// MARK: Scalars

extension JSONRenderer {
  private mutating func append(scalar value: Value) {
    switch value {
    case .string(let string): append(quoted: string)
    case .bytes(let bytes) where bytes.count > limits.bytesSizeBytes:
      // Whole groups of Base64, so that what is shown is a prefix of the whole text.
      let shown = bytes.prefix(limits.bytesSizeBytes / 3 * 3)
      append(text: style == .pretty ? "{\"$bytes\": \"" : "{\"$bytes\":\"")
      Base64.encode(Array(shown), to: &output)
      append(text: "…\"} (\(bytes.count - shown.count) more bytes)")
      result.cutStringCount += 1
    default:
      JSONText.append(scalar: value, isPretty: style == .pretty, to: &output)
    }
  }

  /// Appends a string or key with its quotation marks, or its beginning with a mark.
  private mutating func append(quoted string: String) {
    output.append(UInt8(ascii: "\""))
    let scalars = string.unicodeScalars
    let end =
      scalars.index(scalars.startIndex, offsetBy: limits.stringScalars, limitedBy: scalars.endIndex)
      ?? scalars.endIndex
    for scalar in scalars[..<end] {
      if scalar.disturbsTerminals {
        let digits = String(scalar.value, radix: 16)
        append(text: "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
      } else {
        UTF8.encode(scalar).map { JSONText.appendEscaped($0, to: &output) }
      }
    }
    guard end < scalars.endIndex else { return output.append(UInt8(ascii: "\"")) }
    let count = scalars.distance(from: end, to: scalars.endIndex)
    append(text: "…\" (\(count) more character\(count == 1 ? "" : "s"))")
    result.cutStringCount += 1
  }

  private mutating func append(text: String) { output.append(contentsOf: text.utf8) }
}

extension Unicode.Scalar {
  /// Whether a terminal may do something else than show this: delete, C1 controls, line and
  /// paragraph separators, and what reorders a line. (JSON itself escapes what is below U+0020.)
  fileprivate var disturbsTerminals: Bool {
    switch value {
    case 0x7f...0x9f, 0x2028...0x202e, 0x2066...0x2069: true
    default: false
    }
  }
}
