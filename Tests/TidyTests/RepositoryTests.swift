// The rules applied to this repository.
// It always holds: a failure names file, line and what to do.

import Testing

@Suite struct RepositoryTests {
  private static func report(_ findings: [Finding]) {
    for finding in findings { Issue.record("\(finding)") }
  }

  @Test func `the rules see the sources`() throws {
    let files = try Repository.ofThisFile().files
    #expect(files.contains { $0.path == "Tests/TidyTests/RepositoryTests.swift" })
    #expect(files.contains { $0.path == "Package.swift" })
    #expect(files.filter(\.isProduct).count >= 10)
  }

  @Test func `the top level holds what a reader expects, and nothing else`() throws {
    let expected: Set = [
      "Package.swift", "Sources", "Tests", "Benchmarks", "Tools", "docs",
      "README.md", "LICENSE", "CHANGELOG.md", "CONTRIBUTING.md",
    ]
    let found = try Repository.topLevel(of: Repository.ofThisFile().root)
    #expect(Set(found.filter { !$0.hasPrefix(".") }).symmetricDifference(expected).isEmpty)
  }

  @Test func `lines and files have a readable length`() throws {
    for file in try Repository.ofThisFile().files { Self.report(LineRules.lengths(file)) }
  }

  @Test func `functions can be seen whole`() throws {
    for file in try Repository.ofThisFile().files { Self.report(FunctionRules.lengths(file)) }
  }

  @Test func `files say first what they are for`() throws {
    for file in try Repository.ofThisFile().files { Self.report(LineRules.opening(file)) }
  }

  @Test func `nothing unfinished or careless is in the sources`() throws {
    for file in try Repository.ofThisFile().files {
      Self.report(LineRules.forbiddenWords(file) + LineRules.uncheckedPromises(file))
    }
  }

  @Test func `no file knows one machine's paths`() throws {
    for file in try Repository.ofThisFile().files { Self.report(LineRules.machinePaths(file)) }
  }

  @Test func `everything public is documented`() throws {
    for file in try Repository.ofThisFile().files { Self.report(DocumentationRule.check(file)) }
  }

  @Test func `nothing dead lies around`() throws {
    Self.report(DeadFiles.check(try Repository.ofThisFile().files))
  }
}
