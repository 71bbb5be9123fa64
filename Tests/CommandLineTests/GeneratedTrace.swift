// A made-up history of a text, with all that makes texts difficult, and the texts it leads to.
// It always holds: the texts come from a plain array of scalars, not from the code under test.

/// Events that edit a text, as lines in the form that export writes.
struct GeneratedTrace {
  private(set) var lines: [String] = []
  private(set) var text: [Unicode.Scalar] = []
  private var random: SeededGenerator

  /// Joined emoji, marks on marks, line ends of two scalars, flags, right-to-left text, syllables
  /// of several scalars, controls, and scalars of each length in UTF-8.
  private static let pieces = [
    "👩‍👩‍👧‍👦", "👍🏽", "🏴󠁧󠁢󠁳󠁣󠁴󠁿", "🇨🇭🇩", "e\u{301}", "a\u{308}\u{323}", "\u{301}", "\u{200d}", "\r\n", "\r", "\n",
    "שלום", "مرحبا", "\u{202e}abc\u{202c}", "각", "\u{1100}\u{1161}\u{11a8}", "नमस्ते", "ﬁ", "ß", "İ",
    "\u{0}",
    "\u{7f}", "\u{feff}", "\u{10ffff}", "\\\"", "/", "plain text ", "x", "\u{2028}", "\u{fffd}",
  ].map { Array($0.unicodeScalars) }

  init(_ purpose: String) { random = SeededGenerator(purpose) }

  /// Adds an event of one to three splices at any places, also inside of what belongs together.
  mutating func addEvent() {
    let splices = (0..<Int.random(in: 1...3, using: &random)).map { _ in splice() }
    lines.append(
      #"{"data":{"splices":[\#(splices.joined(separator: ","))]},"type":"edited"}"#)
  }

  private mutating func splice() -> String {
    let position = Int.random(in: 0...text.count, using: &random)
    let room = min(text.count - position, text.count > 2_000 ? 60 : 12)
    let deleted = Bool.random(using: &random) ? 0 : Int.random(in: 0...room, using: &random)
    var inserted: [Unicode.Scalar] = []
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      inserted += Self.pieces.randomElement(using: &random) ?? []
    }
    text.replaceSubrange(position..<(position + deleted), with: inserted)
    return
      #"{"deleted":\#(deleted),"inserted":"\#(Self.escaped(inserted))","position":\#(position)}"#
  }

  private static func escaped(_ scalars: [Unicode.Scalar]) -> String {
    var result = String.UnicodeScalarView()
    for scalar in scalars {
      switch scalar {
      case "\"", "\\": result += ["\\", scalar]
      case "\n": result += ["\\", "n"]
      case "\r": result += ["\\", "r"]
      case "\t": result += ["\\", "t"]
      case "\u{0}": result += Array("\\u0000".unicodeScalars)
      default: result.append(scalar)
      }
    }
    return String(result)
  }
}

extension Array where Element == Unicode.Scalar {
  /// The scalars in UTF-8.
  var utf8: [UInt8] {
    var view = String.UnicodeScalarView()
    view += self
    return [UInt8](String(view).utf8)
  }
}
