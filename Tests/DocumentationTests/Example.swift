// The Swift code of a page, put together to files that the compiler takes.
// It always holds: an error names the page and the line that it is in.
//
// The line above a block says how it is meant:
//   <!-- file: Sources/bank/main.swift -->   a file of the package that the page builds up
//   <!-- given: store: Store<Bank> -->       statements, where these values are at hand
//   nothing                                  a program of its own, or a package's manifest

/// The Swift code of a page.
struct Example {
  /// A file, by its name.
  struct File {
    let name: String
    let text: String
  }

  /// Files that become one module.
  struct Target {
    let name: String
    var files: [File] = []

    /// Whether it can be run, by having a beginning.
    var isExecutable: Bool {
      files.contains { $0.name == "main.swift" || $0.text.contains("@main") }
    }
  }

  private(set) var manifests: [File] = []
  /// The targets of the page's package, in the order in which they are first mentioned.
  private(set) var targets: [Target] = []
  /// Programs that stand for themselves.
  private(set) var programs: [Target] = []
  private var statements: [Block] = []
  private let path: String

  init(_ page: Page) throws {
    path = page.path
    for block in page.blocks where block.language == "swift" {
      if let name = block.value(of: "file") {
        try add(block, to: name)
      } else if block.value(of: "given") != nil {
        statements.append(block)
      } else if block.lines.first?.hasPrefix("// swift-tools-version:") == true {
        manifests.append(File(name: "Package.swift", text: block.text))
      } else if block.directive == nil {
        programs.append(
          Target(
            name: "Program\(block.line)",
            files: [File(name: "main.swift", text: located(block) + block.text)]))
      } else {
        throw Failure(description: "\(path):\(block.line): what is '\(block.directive ?? "")'?")
      }
    }
  }

  private mutating func add(_ block: Block, to path: String) throws {
    let parts = path.split(separator: "/").map(String.init)
    guard parts.count == 3, parts[0] == "Sources" else {
      throw Failure(description: "\(self.path):\(block.line): \(path) isn't Sources/TARGET/FILE")
    }
    let file = File(name: parts[2], text: located(block) + block.text)
    if let index = targets.firstIndex(where: { $0.name == parts[1] }) {
      targets[index].files.append(file)
    } else {
      targets.append(Target(name: parts[1], files: [file]))
    }
  }

  private func located(_ block: Block, linesAbove: Int = 0) -> String {
    "#sourceLocation(file: \"\(path)\", line: \(block.line - linesAbove))\n"
  }

  /// All statements of the page, each block in a function of its own; nil where there are none.
  func statementsFile() -> File? {
    guard !statements.isEmpty else { return nil }
    let libraries = targets.filter { !$0.isExecutable }.map { "import \($0.name)\n" }.joined()
    var text = "import Hindsight\n" + libraries
    for block in statements {
      let imports = block.lines.prefix { $0.hasPrefix("import ") || $0.isEmpty }
      text += imports.map { $0 + "\n" }.joined()
    }
    for block in statements {
      // Imports stay as comments, so that the lines keep their numbers.
      let body = block.lines.map { ($0.hasPrefix("import ") ? "// " : "") + $0 + "\n" }.joined()
      // The directive is above the fence that is above the block.
      text += located(block, linesAbove: 2)
      text += "func example\(block.line)(\(block.value(of: "given") ?? "")) async throws {\n"
      text += located(block) + body + "#sourceLocation()\n}\n"
    }
    return File(name: "Statements.swift", text: text)
  }
}
