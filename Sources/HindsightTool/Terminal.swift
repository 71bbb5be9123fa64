// What stands at the other end of an output: a person's terminal, or a program.
// It always holds: to a program goes no colour, and no width is assumed for it.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What can be shown at the other end of a descriptor.
package struct Terminal: Sendable, Equatable {
  /// Whether a person looks at it.
  package var isTerminal: Bool
  /// Whether colours may be used.
  package var hasColour: Bool
  /// The width of a line; nil where lines aren't laid out for a width.
  package var columns: Int?
  /// The number of lines that fit; nil where nobody looks.
  package var rows: Int?

  package init(isTerminal: Bool, hasColour: Bool, columns: Int? = nil, rows: Int? = nil) {
    self.isTerminal = isTerminal
    self.hasColour = hasColour
    self.columns = columns
    self.rows = rows
  }

  /// A file or pipe: neither colour nor width.
  package static let none = Terminal(isTerminal: false, hasColour: false)

  /// Looks at a descriptor.
  package static func detect(_ descriptor: Int32, environment: [String: String]) -> Terminal {
    guard isatty(descriptor) == 1 else { return .none }
    var size = winsize()
    let isKnown = ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0
    return interpret(
      columns: isKnown ? Int(size.ws_col) : 0, rows: isKnown ? Int(size.ws_row) : 0,
      environment: environment)
  }

  /// What a terminal of that size (0: not known) is taken for.
  ///
  /// `NO_COLOR` (with any value but an empty one) and a dumb terminal turn colour off. `COLUMNS`
  /// and `LINES` win over the terminal's own word, as in other tools.
  static func interpret(
    columns: Int, rows: Int, environment: [String: String]
  ) -> Terminal {
    let isDumb = environment["TERM", default: "dumb"] == "dumb"
    let isPlain = !environment["NO_COLOR", default: ""].isEmpty
    return Terminal(
      isTerminal: true, hasColour: !isDumb && !isPlain,
      columns: size(environment["COLUMNS"], columns, otherwise: 80),
      rows: size(environment["LINES"], rows, otherwise: 24))
  }

  private static func size(_ text: String?, _ reported: Int, otherwise fallback: Int) -> Int {
    if let text, let value = Int(text), value > 0 { return value }
    return reported > 0 ? reported : fallback
  }
}

/// The colours that the tool's output uses, by what they mean.
package enum Style: String, Sendable {
  case index = "33"
  case eventType = "36"
  case faint = "2"
  case removed = "31"
  case added = "32"
  case strong = "1"
}

extension Terminal {
  /// The text in the style, where colours may be used.
  package func styled(_ text: String, _ style: Style) -> String {
    hasColour ? "\u{1b}[\(style.rawValue)m\(text)\u{1b}[0m" : text
  }
}
