// What a rule reports, and the file that it looked at.
// It always holds: a line number is 1-based, and a finding says what to do.

/// One place that breaks a rule.
struct Finding: CustomStringConvertible, Equatable {
  var path: String
  var line: Int
  var advice: String

  var description: String { "\(path):\(line): \(advice)" }
}

/// A file of the repository, by its path from the root.
struct ProjectFile {
  let path: String
  let text: String
  let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    var lines = text.split(separator: "\n", omittingEmptySubsequences: false)
    if lines.last?.isEmpty == true { lines.removeLast() }
    self.lines = lines
  }

  var isSwift: Bool { path.hasSuffix(".swift") }
  var isProduct: Bool { path.hasPrefix("Sources/") }

  func finding(_ index: Int, _ advice: String) -> Finding {
    Finding(path: path, line: index + 1, advice: advice)
  }
}

extension StringProtocol {
  /// Without the white space before its first other character.
  var unindented: SubSequence { drop { $0 == " " || $0 == "\t" } }

  var indentation: Int { count - unindented.count }

  /// The maximal runs of letters, digits and underscores.
  var words: [SubSequence] {
    split { !($0.isLetter || $0.isNumber || $0 == "_") }
  }
}
