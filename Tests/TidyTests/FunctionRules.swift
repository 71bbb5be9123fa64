// The rules that look at declarations: how long a function is, and what is documented.
// It always holds: they trust the formatter, by which a body ends at its opening's indentation.

/// The rules that know where declarations start and end.
enum FunctionRules {
  private static let modifiers: Set<Substring> = [
    "public", "package", "internal", "fileprivate", "private", "open", "static", "class", "final",
    "override", "mutating", "nonmutating", "consuming", "borrowing", "nonisolated", "isolated",
    "convenience", "required", "indirect", "lazy", "weak", "unowned", "async", "prefix", "postfix",
    "infix", "distributed", "dynamic", "set",
  ]

  /// A declaration's line without its attributes and modifiers, and whether one was `public`.
  static func declaration(_ line: Substring) -> (keyword: Substring, rest: Substring, public: Bool)?
  {
    var rest = line.unindented
    var isPublic = false
    while !rest.isEmpty {
      if rest.first == "@" {
        rest = skipAttribute(rest)
        continue
      }
      let word = rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
      guard !word.isEmpty else { return nil }
      let after = rest.dropFirst(word.count)
      if modifiers.contains(word), !(word == "class" && isTypeName(after)) {
        // `public private(set)` is public to read.
        if word == "public" || word == "open" { isPublic = true }
        rest = (after.first == "(" ? skipParentheses(after) : after).unindented
        continue
      }
      return (word, after, isPublic)
    }
    return nil
  }

  /// `class Name` declares a type; `class func` and `class var` don't.
  private static func isTypeName(_ rest: Substring) -> Bool {
    let word = rest.unindented.prefix { $0.isLetter || $0.isNumber || $0 == "_" }
    return word.first?.isUppercase == true
  }

  private static func skipAttribute(_ text: Substring) -> Substring {
    let rest = text.dropFirst().drop { $0.isLetter || $0.isNumber || $0 == "_" || $0 == "." }
    return (rest.first == "(" ? skipParentheses(rest) : rest).unindented
  }

  private static func skipParentheses(_ text: Substring) -> Substring {
    var depth = 0
    for index in text.indices {
      if text[index] == "(" { depth += 1 }
      if text[index] == ")" { depth -= 1 }
      if depth == 0 { return text[text.index(after: index)...] }
    }
    return ""
  }

  /// A function, initializer, subscript or computed property that can't be seen whole.
  static func lengths(_ file: ProjectFile) -> [Finding] {
    guard file.isSwift else { return [] }
    let isText = insideText(file)
    return file.lines.indices.compactMap { start in
      guard !isText[start], startsBody(file.lines[start]) else { return nil }
      let indentation = file.lines[start].indentation
      var isBody = false
      for index in file.lines.indices[start...] where !isText[index] {
        let line = file.lines[index]
        if index > start, isBody, line.indentation == indentation, line.unindented.first == "}" {
          let count = index - start + 1
          guard count > LineRules.functionLineLimit else { return nil }
          return file.finding(start, "split the function: it has \(count) lines")
        }
        // A declaration without a body (of a protocol) ends where its next sibling starts.
        if index > start, !isBody, line.indentation <= indentation, isDeclaration(line) {
          return nil
        }
        if line.last == "{" || line.hasSuffix(" in") { isBody = true }
      }
      return nil
    }
  }

  private static func isDeclaration(_ line: Substring) -> Bool {
    guard let first = line.unindented.first else { return false }
    return first == "}" || first == "@" || first == "/" || declaration(line) != nil
  }

  private static func startsBody(_ line: Substring) -> Bool {
    guard let (keyword, _, _) = declaration(line) else { return false }
    switch keyword {
    case "func", "init", "deinit", "subscript": return true
    case "var": return line.last == "{"
    default: return false
    }
  }

  /// For each line, whether it is in a string that spans lines.
  static func insideText(_ file: ProjectFile) -> [Bool] {
    var isInside = false
    return file.lines.map { line in
      let wasInside = isInside
      if line.ranges(of: "\"\"\"").count % 2 == 1 { isInside.toggle() }
      return wasInside
    }
  }
}
