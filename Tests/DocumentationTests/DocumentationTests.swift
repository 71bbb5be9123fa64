// What the documentation shows is so: its code compiles and runs, its terminals print that.

import Foundation
import Testing

@Suite struct DocumentationTests {
  @Test(.enabled(if: !isSanitized, "a sanitizer's objects don't link with plain ones"))
  func `every Swift example compiles, and every command prints what is shown`() async throws {
    for page in try Page.all() {
      let faults = await withCheckedContinuation { continuation in
        Thread.detachNewThread { continuation.resume(returning: Self.faults(of: page)) }
      }
      for fault in faults { Issue.record("\(fault)") }
    }
  }

  /// What of a page doesn't hold.
  private static func faults(of page: Page) -> [String] {
    do {
      return try withFolder { folder in
        let example = try Example(page)
        var compiler = try Compiler(into: folder)
        for manifest in example.manifests { try compiler.checkManifest(manifest) }
        for target in example.targets where !target.isExecutable {
          try compiler.compileLibrary(target)
        }
        for target in example.targets where target.isExecutable {
          _ = try compiler.compileProgram(target)
        }
        if let statements = example.statementsFile() { try compiler.check(statements) }
        for program in example.programs { try run(compiler.compileProgram(program), in: folder) }
        try link(into: folder)
        return try consoleFaults(of: page, in: folder)
      }
    } catch {
      return ["\(page.path): \(error)"]
    }
  }

  private static func run(_ program: String, in folder: String) throws {
    let outcome = try runProgram(program, [], in: folder)
    if outcome.status != 0 { throw Failure(description: "\(program) fails: \(outcome.output)") }
  }

  /// Puts the tool where the page's commands find it, and a `swift` that runs what is built.
  private static func link(into folder: String) throws {
    #if os(Linux)
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let tests = CommandLine.arguments[0]
    #endif
    let built = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("hindsight").path
    try FileManager.default.createSymbolicLink(
      atPath: "\(folder)/bin/hindsight", withDestinationPath: built)
    // Written by another process: while this one has the file open for writing, a program that
    // another thread starts has it open, too, and what is open for writing can't be run.
    let script = """
      printf '#!/bin/sh\\n# swift run --quiet NAME …: NAME is built already.\\n' >bin/swift
      printf 'shift 2\\nexec "$@"\\n' >>bin/swift
      chmod 755 bin/swift
      """
    let outcome = try runProgram("sh", ["-c", script], in: folder)
    if outcome.status != 0 { throw Failure(description: "no bin/swift: \(outcome.output)") }
  }

  private static func consoleFaults(of page: Page, in folder: String) throws -> [String] {
    var console = Console(folder: folder)
    var faults: [String] = []
    for block in page.blocks where block.language == "console" {
      for exchange in try Exchange.all(in: block) {
        guard let difference = try console.difference(exchange) else { continue }
        faults.append("\(page.path):\(exchange.line): \(difference)")
      }
    }
    return faults
  }

  @Test func `pages show examples`() throws {
    let pages = try Page.all()
    let guide = try #require(pages.first { $0.path == "docs/guide.md" })
    #expect(guide.blocks.count { $0.language == "swift" } >= 10)
    #expect(guide.blocks.count { $0.language == "console" } >= 4)
    let commandLine = try #require(pages.first { $0.path == "docs/command-line.md" })
    #expect(commandLine.blocks.count { $0.language == "console" } >= 8)
    let readMe = try #require(pages.first { $0.path == "README.md" })
    #expect(readMe.blocks.contains { $0.language == "swift" })
  }

  @Test func `an example with a mistake is found, and named by page and line`() throws {
    let page = Page(
      path: "page.md",
      text: """
        Text.
        <!-- given: count: Int -->
        ```swift
        print(count)
        let text: String = count
        ```
        """)
    try withFolder { folder in
      let compiler = try Compiler(into: folder)
      let statements = try #require(try Example(page).statementsFile())
      let error = #expect(throws: Failure.self) { try compiler.check(statements) }
      #expect(error?.description.hasPrefix("page.md:5:") == true)
    }
  }

  @Test func `an output that differs is found`() throws {
    let page = Page(
      path: "page.md",
      text: """
        ```console
        $ echo 1; echo 2 >&2; false
        1
        2
        $ echo $?
        1
        $ cat <<'END'
        > 2026-01-02T03:04:05.006Z and more
        > END
        2001-01-01T00:00:00.000001Z …ore
        $ echo 1; echo 2; echo 3
        …
        3
        $ (echo behind >behind.txt) &
        > wait; cat behind.txt
        behind
        $ echo a
        b
        ```
        """)
    try withFolder { folder in
      var console = Console(folder: folder)
      let differences = try Exchange.all(in: page.blocks[0]).map { try console.difference($0) }
      #expect(differences.dropLast().allSatisfy { $0 == nil })
      #expect(differences.last == "'echo a' prints\na\nand not\nb")
    }
  }
}

/// Whether this build is one that a sanitizer looks at.
private let isSanitized =
  dlsym(nil, "__tsan_init") != nil || dlsym(nil, "__asan_init") != nil
