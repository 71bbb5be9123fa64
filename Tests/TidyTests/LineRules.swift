// The rules that look at lines: lengths, openings, forbidden words, paths of one machine.
// It always holds: a rule names no word that it forbids, so that it can look at itself.

/// The rules that need no more than a file's lines.
enum LineRules {
  static let columnLimit = 100
  static let fileLineLimit = 600
  static let functionLineLimit = 70

  static func lengths(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift else { return [] }
    var findings: [Finding] = []
    for (index, line) in file.lines.enumerated() where line.count > columnLimit {
      findings.append(file.finding(index, "break the line: it has \(line.count) columns"))
    }
    if file.lines.count > fileLineLimit {
      findings.append(
        file.finding(fileLineLimit, "split the file: it has \(file.lines.count) lines"))
    }
    return findings
  }

  /// A file says what it is for before anything else.
  static func opening(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift, file.path != "Package.swift", !file.path.hasSuffix("/Package.swift") else {
      return []
    }
    let first = file.lines.first ?? ""
    if first.hasPrefix("// "), first.words.count >= 4 { return [] }
    return [file.finding(0, "open the file with a `//` line that says what it is for")]
  }

  /// Words that mark unfinished or careless code.
  static func forbiddenWords(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift || file.path.hasPrefix("Tools/") else { return [] }
    var findings: [Finding] = []
    for (index, line) in file.lines.enumerated() {
      for mark in ["TO" + "DO", "FIX" + "ME"] where line.words.contains(mark[...]) {
        findings.append(file.finding(index, "finish it, or file it: no \(mark) in the sources"))
      }
      guard file.isProduct else { continue }
      let forcedTry = "try" + "!"
      if line.contains(forcedTry) {
        findings.append(file.finding(index, "handle the error: \(forcedTry) crashes"))
      }
      let bareTrap = "fatalError" + "()"
      if line.contains(bareTrap) {
        findings.append(file.finding(index, "say why it can't happen: \(bareTrap) has no reason"))
      }
    }
    return findings
  }

  /// An unchecked promise to the compiler stands with its reason.
  static func uncheckedPromises(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift, !file.path.hasPrefix("Tests/") else { return [] }
    let promises = ["@" + "unchecked Sendable", "nonisolated" + "(unsafe)"]
    return file.lines.indices.compactMap { index in
      let line = file.lines[index]
      guard !line.unindented.hasPrefix("//"),
        let promise = promises.first(where: { line.contains($0) }),
        !line.contains(" // "), !hasComment(above: index, in: file)
      else { return nil }
      return file.finding(index, "say in a comment why `\(promise)` is safe here")
    }
  }

  private static func hasComment(above index: Int, in file: ProjectFile) -> Bool {
    var above = index - 1
    while above >= 0, file.lines[above].unindented.hasPrefix("@") { above -= 1 }
    return above >= 0 && file.lines[above].unindented.hasPrefix("//")
  }

  /// Paths that exist on one machine alone.
  static func machinePaths(_ file: ProjectFile) -> [Finding] {
    let folders = ["home", "Users", "root", "work", "farm"].map { "/\($0)/" }
    return file.lines.indices.compactMap { index in
      let line = file.lines[index]
      for folder in folders {
        for range in line.ranges(of: folder) where startsPath(line, at: range.lowerBound) {
          return file.finding(index, "`\(folder)` is a path of one machine: find it at run time")
        }
      }
      return nil
    }
  }

  /// Whether the slash there begins an absolute path, rather than going on in a relative one.
  private static func startsPath(_ line: Substring, at slash: Substring.Index) -> Bool {
    guard slash > line.startIndex else { return true }
    let before = line[line.index(before: slash)]
    return !(before.isLetter || before.isNumber || "._-~)}*".contains(before))
  }
}
