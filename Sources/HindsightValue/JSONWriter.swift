// Writes values as JSON (RFC 8259) in UTF-8, without recursion.
// It always holds: what is written is valid JSON, and reading it gives the same value.

/// Writes values as JSON.
///
/// Strings are written as they are, with only what JSON asks for escaped. Doubles are the shortest
/// text that reads as the same double, always with a point or an exponent. What JSON has no
/// notation for is written as ``JSONMapping`` says.
public struct JSONWriter: Hashable, Sendable {
  /// The white space of a text.
  public enum Style: Hashable, Sendable {
    /// None.
    case compact
    /// One line for each element, indented by two spaces a level.
    case pretty
  }

  /// The order of the keys of an object.
  public enum KeyOrder: Hashable, Sendable {
    /// That of the map: shorter keys first, equally long ones by their bytes.
    case map
    /// By the keys' UTF-8 bytes.
    case bytes
  }

  /// The white space.
  public var style: Style
  /// The order of keys.
  public var keyOrder: KeyOrder
  /// Whether maps that look like something else are told apart.
  public var mapping: JSONMapping

  /// A writer; compact, in map order and lossless unless told otherwise.
  public init(
    style: Style = .compact, keyOrder: KeyOrder = .map, mapping: JSONMapping = .lossless
  ) {
    self.style = style
    self.keyOrder = keyOrder
    self.mapping = mapping
  }

  /// The JSON text of a value. O(n) in its size.
  public func string(_ value: Value) -> String {
    String(decoding: bytes(value), as: UTF8.self)
  }

  /// The JSON text of a value, in UTF-8. O(n) in its size.
  public func bytes(_ value: Value) -> [UInt8] {
    var output: [UInt8] = []
    write(value, to: &output)
    return output
  }

  /// Appends the JSON text of a value. O(n) in its size.
  public func write(_ value: Value, to output: inout [UInt8]) {
    var stack: [Frame] = []
    begin(value, &stack, &output)
    while let top = stack.indices.last {
      guard let next = stack[top].next() else {
        let isEmpty = stack[top].count == 0
        let isObject = stack[top].isObject
        stack.removeLast()
        if !isEmpty { breakLine(depth: stack.count, &output) }
        output.append(isObject ? UInt8(ascii: "}") : UInt8(ascii: "]"))
        continue
      }
      if stack[top].position > 1 { output.append(UInt8(ascii: ",")) }
      breakLine(depth: stack.count, &output)
      if let key = next.key {
        JSONText.append(key, to: &output)
        output.append(UInt8(ascii: ":"))
        if style == .pretty { output.append(UInt8(ascii: " ")) }
      }
      begin(next.value, &stack, &output)
    }
  }

  /// Writes a scalar, or enters an array or object.
  private func begin(_ value: Value, _ stack: inout [Frame], _ output: inout [UInt8]) {
    switch JSONForm(value, mapping) {
    case .scalar:
      JSONText.append(scalar: value, isPretty: style == .pretty, to: &output)
    case .array(let items):
      output.append(UInt8(ascii: "["))
      stack.append(Frame(items: items, pairs: nil))
    case .object(var pairs):
      output.append(UInt8(ascii: "{"))
      if keyOrder == .bytes { pairs.sort { $0.key.isBytewiseBefore($1.key) } }
      stack.append(Frame(items: [], pairs: pairs))
    }
  }

  private func breakLine(depth: Int, _ output: inout [UInt8]) {
    guard style == .pretty else { return }
    output.append(UInt8(ascii: "\n"))
    output.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
  }
}

extension JSONWriter {
  /// An array or object that is being written.
  struct Frame {
    let items: [Value]
    /// The pairs, where it is an object.
    let pairs: [ValueMap.Pair]?
    var position = 0

    var isObject: Bool { pairs != nil }
    var count: Int { pairs?.count ?? items.count }

    /// The next value to write, with its key in an object.
    mutating func next() -> (key: String?, value: Value)? {
      guard position < count else { return nil }
      defer { position += 1 }
      guard let pairs else { return (nil, items[position]) }
      guard case .string(let key) = pairs[position].key else { return nil }
      return (key, pairs[position].value)
    }
  }
}

extension Value {
  /// Whether a text key comes before another by UTF-8 bytes.
  func isBytewiseBefore(_ other: Value) -> Bool {
    guard case .string(let left) = self, case .string(let right) = other else { return false }
    return left.utf8.lexicographicallyPrecedes(right.utf8)
  }

  /// The value as compact JSON; see ``JSONWriter`` for other ways. O(n) in its size.
  public var json: String { JSONWriter().string(self) }
}
