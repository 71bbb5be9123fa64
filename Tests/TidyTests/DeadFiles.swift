// The rule that nothing lies around: each source, script and page is used by something else.
// It always holds: it looks at names, so it may miss a dead file, and never blames a live one
// whose names are used.

/// Finds files that nothing refers to.
enum DeadFiles {
  private static let declaring: Set<Substring> = [
    "func", "var", "let", "struct", "class", "enum", "actor", "protocol", "typealias", "case",
    "macro",
  ]

  static func check(_ files: [ProjectFile]) -> [Finding] {
    sources(files) + pages(files) + scripts(files)
  }

  /// Swift files without code, and those none of whose names occur in another.
  private static func sources(_ files: [ProjectFile]) -> [Finding] {
    let sources = files.filter(\.isSwift)
    var filesWithWord: [Substring: Int] = [:]
    for file in sources {
      for word in Set(file.lines.lazy.flatMap(\.words)) { filesWithWord[word, default: 0] += 1 }
    }
    return sources.compactMap { file in
      let code = file.lines.map(\.unindented).filter { !$0.isEmpty && !$0.hasPrefix("//") }
      if code.isEmpty { return file.finding(0, "delete the file: there is no code in it") }
      guard file.isProduct, !isRoot(code) else { return nil }
      let isUsed = names(declaredIn: code).contains { filesWithWord[$0, default: 0] > 1 }
      return isUsed ? nil : file.finding(0, "delete the file: no other file uses its names")
    }
  }

  /// Entry points, re-exports, conformances, and an extension's initializers and subscripts are
  /// used without being named.
  private static func isRoot(_ code: [Substring]) -> Bool {
    let extends = code.contains { $0.contains("extension ") }
    return code.contains { line in
      if line.hasPrefix("@main") || line.hasPrefix("@_exported ") { return true }
      if line.contains("extension "), line.contains(": ") { return true }
      guard extends, let (keyword, _, _) = FunctionRules.declaration(line) else { return false }
      return keyword == "init" || keyword == "subscript"
    }
  }

  private static func names(declaredIn code: [Substring]) -> [Substring] {
    code.compactMap { line in
      guard let (keyword, rest, _) = FunctionRules.declaration(line), declaring.contains(keyword)
      else { return nil }
      return rest.unindented.words.first
    }
  }

  /// Pages of the documentation that no other page leads to.
  private static func pages(_ files: [ProjectFile]) -> [Finding] {
    let pages = files.filter { $0.path.hasSuffix(".md") }
    return pages.filter { $0.path.contains("/") }.compactMap { page in
      let name = page.path.split(separator: "/").suffix(page.path.hasSuffix("README.md") ? 2 : 1)
        .joined(separator: "/")
      let isLinked = pages.contains { $0.path != page.path && $0.text.contains(name) }
      return isLinked ? nil : page.finding(0, "link to the page from another, or delete it")
    }
  }

  /// Scripts below `Tools/` that no script and no page names.
  private static func scripts(_ files: [ProjectFile]) -> [Finding] {
    files.filter { $0.path.hasPrefix("Tools/") && $0.text.hasPrefix("#!") }.compactMap { script in
      let isNamed = files.contains { $0.path != script.path && $0.text.contains(script.path) }
      return isNamed ? nil : script.finding(0, "name the script where a reader looks, or delete it")
    }
  }
}
