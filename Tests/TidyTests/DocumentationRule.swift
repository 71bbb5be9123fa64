// The rule that everything an app can see is documented.
// It always holds: a witness of a standard protocol needs none, as the protocol's words hold.

/// Finds public declarations, and requirements of public protocols, without a `///`.
enum DocumentationRule {
  private static let documented: Set<Substring> = [
    "func", "init", "subscript", "var", "let", "struct", "class", "enum", "actor", "protocol",
    "typealias", "associatedtype", "macro",
  ]

  /// Beginnings of declarations whose meaning the standard library states.
  private static let witnesses = [
    "==(", "== (", "< (", "<(", "hash(into", "encode(to ", "(from decoder", "description:",
    "debugDescription:", "errorDescription:", "makeIterator()", "makeAsyncIterator()", "next()",
    "customMirror:", "(stringLiteral", "(integerLiteral", "(floatLiteral", "(booleanLiteral",
    "(nilLiteral", "(arrayLiteral", "(dictionaryLiteral", "startIndex:", "endIndex:",
    "index(after", "index(before", "underestimatedCount:",
  ]

  static func check(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift, file.isProduct else { return [] }
    let isText = FunctionRules.insideText(file)
    var findings: [Finding] = []
    var protocolIndentation: Int?
    for index in file.lines.indices where !isText[index] {
      let line = file.lines[index]
      if let outer = protocolIndentation, line.indentation == outer, line.unindented.first == "}" {
        protocolIndentation = nil
      }
      guard let (keyword, rest, isPublic) = FunctionRules.declaration(line),
        documented.contains(keyword)
      else { continue }
      let isRequirement = protocolIndentation.map { line.indentation == $0 + 2 } ?? false
      if isPublic, keyword == "protocol", line.last != "}" {
        protocolIndentation = line.indentation
      }
      guard isPublic || isRequirement, !isWitness(rest), !hasDocumentation(above: index, in: file)
      else { continue }
      findings.append(file.finding(index, "document it with `///`: it is public"))
    }
    return findings
  }

  private static func isWitness(_ rest: Substring) -> Bool {
    witnesses.contains { rest.unindented.hasPrefix($0) }
  }

  /// Whether a documenting comment stands above, attributes (of one line or more) between.
  private static func hasDocumentation(above index: Int, in file: ProjectFile) -> Bool {
    var above = index - 1
    while above >= 0 {
      let line = file.lines[above].unindented
      if line.hasPrefix("///") { return true }
      if line.hasPrefix("@") || line.hasPrefix("#if") {
        above -= 1
      } else if line.last == ")", let start = attributeStart(endingAt: above, in: file) {
        above = start - 1
      } else {
        return false
      }
    }
    return false
  }

  /// Where the attribute starts whose last line this is, if it is one that spans lines.
  private static func attributeStart(endingAt end: Int, in file: ProjectFile) -> Int? {
    for index in stride(from: end, through: max(0, end - 8), by: -1) {
      let line = file.lines[index].unindented
      if line.hasPrefix("@") { return line.contains(")") && index < end ? nil : index }
      if line.isEmpty || line.hasPrefix("//") { return nil }
    }
    return nil
  }
}
