// Each rule applied to small files that break it, and to their mended twins.
// It always holds: what would be a finding here is put together, so that the rules pass over it.

import Testing

@Suite struct RuleTests {
  private func file(_ text: String, path: String = "Sources/Example/Example.swift") -> ProjectFile {
    ProjectFile(path: path, text: text)
  }

  private func lines(_ findings: [Finding]) -> [Int] { findings.map(\.line) }

  @Test func `a line of 100 columns passes and one of 101 is found`() {
    let text = String(repeating: "x", count: 100) + "\n" + String(repeating: "é", count: 101) + "\n"
    #expect(lines(LineRules.lengths(file(text))) == [2])
  }

  @Test func `a file of 600 lines passes and one of 601 is found`() {
    #expect(LineRules.lengths(file(String(repeating: "x\n", count: 600))).isEmpty)
    #expect(lines(LineRules.lengths(file(String(repeating: "x\n", count: 601)))) == [601])
  }

  @Test func `a file without its purpose is found`() {
    #expect(LineRules.opening(file("// Reads one line at a time.\n")).isEmpty)
    for text in ["", "import A\n", "/// Reads one line at a time.\n", "// placeholder\n"] {
      #expect(lines(LineRules.opening(file(text))) == [1], "\(text)")
    }
  }

  @Test func `unfinished and careless code is found`() {
    let text = "let a = 1\n// TO" + "DO: more\ntry" + "! f()\nfatalError" + "()\nfatalError(why)\n"
    #expect(lines(LineRules.forbiddenWords(file(text))) == [2, 3, 4])
    #expect(lines(LineRules.forbiddenWords(file(text, path: "Tests/A/A.swift"))) == [2])
  }

  @Test func `an unchecked promise needs its reason`() {
    let promise = "final class A: @" + "unchecked Sendable {"
    #expect(lines(LineRules.uncheckedPromises(file("\n\(promise)\n}\n"))) == [2])
    let explained = "// All of it is behind the lock.\n@frozen\n\(promise)\n}\n"
    #expect(LineRules.uncheckedPromises(file(explained)).isEmpty)
  }

  @Test(arguments: ["home", "Users", "ro" + "ot", "wo" + "rk"])
  func `a path of one machine is found, a relative one is not`(folder: String) {
    #expect(lines(LineRules.machinePaths(file("let a = \"/\(folder)/a\"\n"))) == [1])
    #expect(lines(LineRules.machinePaths(file("cd /\(folder)/a", path: "Tools/a"))) == [1])
    #expect(
      LineRules.machinePaths(file("let a = \"net/\(folder)/a\", b = ../\(folder)/\n")).isEmpty)
  }

  @Test func `a function of 70 lines passes and one of 71 is found`() {
    func body(_ count: Int, _ head: String) -> String {
      "struct A {\n  \(head)\n" + String(repeating: "    f()\n", count: count - 2) + "  }\n}\n"
    }
    for head in [
      "public static func a() {", "init() {", "private(set) var a: Int {", "subscript(a: Int) {",
      "@inlinable public mutating func a<T>(_ b: T) throws -> T {", "deinit {",
    ] {
      #expect(FunctionRules.lengths(file(body(70, head))).isEmpty, "\(head)")
      #expect(lines(FunctionRules.lengths(file(body(71, head)))) == [2], "\(head)")
    }
  }

  @Test func `a function whose signature spans lines is measured whole`() {
    let long = String(repeating: "    f()\n", count: 80)
    let text = "struct A {\n  func a(\n    b: Int\n  )\n    throws -> Int\n  {\n\(long)  }\n}\n"
    #expect(lines(FunctionRules.lengths(file(text))) == [2])
  }

  @Test func `requirements of a protocol are not functions with bodies`() {
    let rest = "struct B {\n" + String(repeating: "  let a = 1\n", count: 90) + "}\n"
    let text = "protocol A {\n  func a()\n  init(b: Int)\n}\n\n\(rest)"
    #expect(FunctionRules.lengths(file(text)).isEmpty)
  }

  @Test(arguments: [
    "public struct A {", "  public var a: Int { 1 }", "public protocol A: Sendable {",
    "@inlinable public static func a() {", "  public init(a: Int) {", "  public final class A {",
    "  public private(set) var a = 1", "public typealias A = Int", "  public subscript(a: Int) {",
    "@inlinable\n@discardableResult\npublic func a() -> Int {", "  public static let a = 1",
    "@available(\n  *, deprecated,\n  message: \"\"\n)\npublic func a() {",
  ])
  func `a public declaration without documentation is found`(text: String) {
    let line = text.split(separator: "\n").count
    #expect(lines(DocumentationRule.check(file("import A\n\n\(text)\n"))) == [line + 2])
    #expect(DocumentationRule.check(file("/// Is here.\n\(text)\n")).isEmpty)
    #expect(DocumentationRule.check(file("\(text)\n", path: "Tests/A/A.swift")).isEmpty)
  }

  @Test func `a requirement of a public protocol is found, one of a package protocol is not`() {
    let body =
      "  func a()\n\n  /// Is here.\n  var b: Int { get }\n  associatedtype C\n}\nfunc d() {}\n"
    #expect(
      lines(DocumentationRule.check(file("/// A.\npublic protocol A {\n\(body)"))) == [3, 7])
    #expect(DocumentationRule.check(file("package protocol A {\n\(body)")).isEmpty)
  }

  @Test func `what is not public, or states a standard protocol's meaning, needs no documentation`()
  {
    let text = """
      public import A
      func a() {}
      package struct B {}
      public static func == (a: A, b: A) -> Bool {
      public func hash(into hasher: inout Hasher) {
      public init(from decoder: any Decoder) throws {
      let text = "public func"

      """
    #expect(DocumentationRule.check(file(text)).isEmpty)
  }

  @Test func `a file that nothing uses is found`() {
    let user = file("let b = Used()\n", path: "Sources/A/User.swift")
    let used = file("struct Used {\n}\n", path: "Sources/A/Used.swift")
    let dead = file(
      "struct Dead {\n  let inner = 1\n  init() {}\n  static func of() {}\n}\n",
      path: "Sources/A/Dead.swift")
    let initial = file("extension Used {\n  init(one: Int) {\n", path: "Sources/A/Initial.swift")
    let empty = file("// Nothing but words.\n\n", path: "Tests/A/Empty.swift")
    let entry = file("@main struct Entry {\n}\nlet c = b\n", path: "Sources/A/Entry.swift")
    let found = DeadFiles.check([user, used, dead, initial, empty, entry]).map(\.path)
    #expect(found == ["Sources/A/Dead.swift", "Tests/A/Empty.swift"])
  }

  @Test func `a page or script that nothing names is found`() {
    let readme = file("See [guide](docs/guide.md), Tools/test.\n", path: "README.md")
    let guide = file("# Guide\n", path: "docs/guide.md")
    let lost = file("# Lost\n", path: "docs/lost.md")
    let test = file("#!/bin/sh\n", path: "Tools/test")
    let old = file("#!/bin/sh\n", path: "Tools/old")
    let found = DeadFiles.check([readme, guide, lost, test, old]).map(\.path)
    #expect(found == ["docs/lost.md", "Tools/old"])
  }
}
