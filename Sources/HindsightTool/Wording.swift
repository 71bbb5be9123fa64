// How words, numbers and names are put into the tool's output.
// It always holds: a name from a store can't break a line or move a terminal's cursor.

import HindsightValue

/// A number with the noun that it counts: `1 event`, `2 events`.
func counted(_ count: some BinaryInteger, _ noun: String) -> String {
  "\(count) \(noun)\(count == 1 ? "" : "s")"
}

extension JSONWriter {
  /// How everything for programs is written: on one line, the keys in the order of their bytes.
  static let tool = JSONWriter(keyOrder: .bytes)
}

extension String {
  /// The text with spaces behind it, so that it has at least that many characters and one space.
  func padding(to count: Int) -> String {
    self + String(repeating: " ", count: max(1, count - self.count))
  }

  /// A name as it is, or quoted and escaped where it has characters that would do something.
  var onOneLine: String {
    let text = Value.string(self).rendering(.none).text
    return text == "\"\(self)\"" ? self : text
  }

  /// The text with all that would move a terminal's cursor, or end the line, escaped as in JSON.
  var withoutControls: String {
    guard unicodeScalars.contains(where: \.isControl) else { return self }
    var result = String.UnicodeScalarView()
    for scalar in unicodeScalars {
      guard scalar.isControl else {
        result.append(scalar)
        continue
      }
      let digits = String(scalar.value, radix: 16)
      result += "\\u\(String(repeating: "0", count: 4 - digits.count))\(digits)".unicodeScalars
    }
    return String(result)
  }
}

extension Unicode.Scalar {
  /// Whether it is a control character, or ends a line or a paragraph.
  fileprivate var isControl: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: true
    default: false
    }
  }
}
