// A value as text for people to read, of limited size.
// It always holds: where nothing was cut the text is JSON, and where something was, a mark says so.

/// A value as text for a terminal, with what was left out of it.
public struct JSONRendering: Hashable, Sendable {
  /// How much of a value is shown.
  public struct Limits: Hashable, Sendable {
    /// The longest string or key that is shown whole, in Unicode scalars.
    public var stringScalars: Int
    /// The longest byte string that is shown whole, in bytes.
    public var bytesSizeBytes: Int
    /// How many elements of an array or map are shown.
    public var elements: Int
    /// How many arrays and maps inside one another are shown.
    public var depth: Int
    /// From which size of the text on no more elements are begun, in bytes.
    public var sizeBytes: Int

    /// Limits for about a screen or two.
    public init(
      stringScalars: Int = 240, bytesSizeBytes: Int = 64, elements: Int = 40, depth: Int = 12,
      sizeBytes: Int = 8_192
    ) {
      self.stringScalars = stringScalars
      self.bytesSizeBytes = bytesSizeBytes
      self.elements = elements
      self.depth = depth
      self.sizeBytes = sizeBytes
    }

    /// Everything is shown.
    public static let none = Limits(
      stringScalars: .max, bytesSizeBytes: .max, elements: .max, depth: .max, sizeBytes: .max)
  }

  /// The text; JSON where nothing was cut. Characters that could move a terminal's cursor or
  /// reorder its line are escaped.
  public internal(set) var text = ""
  /// How many strings, keys and byte strings were shown only in part.
  public internal(set) var cutStringCount = 0
  /// How many elements of arrays and maps were left out, not counting what is inside them.
  public internal(set) var cutElementCount = 0

  /// Whether anything was left out.
  public var isCut: Bool { cutStringCount > 0 || cutElementCount > 0 }

  /// What was left out, such as `2 strings cut, 1 element left out`; nil for nothing.
  public var note: String? {
    var parts: [String] = []
    if cutStringCount > 0 {
      parts.append("\(cutStringCount) string\(cutStringCount == 1 ? "" : "s") cut")
    }
    if cutElementCount > 0 {
      parts.append("\(cutElementCount) element\(cutElementCount == 1 ? "" : "s") left out")
    }
    return parts.isEmpty ? nil : parts.joined(separator: ", ")
  }
}

extension Value {
  /// The value as text for a terminal, cut to limits. O(n) in the size of the arrays, maps
  /// and strings of which something is shown.
  ///
  /// - Parameters:
  ///   - limits: how much is shown.
  ///   - style: on one line, or on several.
  ///   - keyOrder: the order of keys.
  public func rendering(
    _ limits: JSONRendering.Limits = JSONRendering.Limits(), style: JSONWriter.Style = .pretty,
    keyOrder: JSONWriter.KeyOrder = .map
  ) -> JSONRendering {
    var renderer = JSONRenderer(limits: limits, style: style, keyOrder: keyOrder)
    renderer.render(self)
    renderer.result.text = String(decoding: renderer.output, as: UTF8.self)
    return renderer.result
  }
}
