// A page of the documentation, cut into what can be tried out.
// It always holds: each block knows its line, so that a failure names it.

import Foundation

/// A fenced block of a page.
struct Block {
  /// What follows the opening fence: `swift`, `console`, `text`, `sh`, …
  let language: String
  /// The comment on the line above, without its brackets: how the block is to be tried out.
  let directive: String?
  /// The line of the page (1-based) that the content begins at.
  let line: Int
  let lines: [String]

  var text: String { lines.map { $0 + "\n" }.joined() }

  /// What a directive `name: value` says, if the block has that one.
  func value(of name: String) -> String? {
    guard let directive, directive.hasPrefix(name + ":") else { return nil }
    return directive.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces)
  }
}

/// A page in Markdown.
struct Page {
  /// From the repository's root.
  let path: String
  let blocks: [Block]

  /// Every page that may show code.
  static func all() throws -> [Page] {
    let docs = try FileManager.default.contentsOfDirectory(atPath: root + "/docs")
      .filter { $0.hasSuffix(".md") }.sorted().map { "docs/\($0)" }
    return try (["README.md", "CONTRIBUTING.md", "Benchmarks/README.md"] + docs).map(Page.init)
  }

  static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent().path

  init(path: String) throws {
    let text = try String(contentsOfFile: "\(Self.root)/\(path)", encoding: .utf8)
    self.init(path: path, text: text)
  }

  init(path: String, text: String) {
    self.path = path
    let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
    var blocks: [Block] = []
    var position = 0
    while position < lines.count {
      defer { position += 1 }
      guard lines[position].hasPrefix("```") else { continue }
      let start = position + 1
      let end = lines[start...].firstIndex { $0.hasPrefix("```") } ?? lines.count
      blocks.append(
        Block(
          language: String(lines[position].dropFirst(3)),
          directive: position > 0 ? Self.comment(lines[position - 1]) : nil, line: start + 1,
          lines: Array(lines[start..<end])))
      position = end
    }
    self.blocks = blocks
  }

  private static func comment(_ line: String) -> String? {
    guard line.hasPrefix("<!-- "), line.hasSuffix(" -->") else { return nil }
    return String(line.dropFirst(5).dropLast(4))
  }
}
