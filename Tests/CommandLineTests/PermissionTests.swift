// A store that the user may not read or write: as another user where root runs the tests, as root
// may everything.

import Foundation
import Testing

@Suite(.enabled("needs a way to run the tool without privileges") { await Unprivileged.canRun() })
struct PermissionTests {
  /// Makes a store that isn't for everyone, and runs words on it without privileges.
  private func run(
    _ words: [String], folderMode: mode_t, fileMode: mode_t = 0o600
  ) async throws -> (outcome: Outcome, before: [UInt8], after: [UInt8]) {
    var result: (outcome: Outcome, before: [UInt8], after: [UInt8])?
    try await withWorkspace { work in
      try await work.makeStore()
      try work.write(accountLines, to: "lines")
      let before = try work.read("a.hindsight/log.mdb")
      let files = ["log.mdb", "snapshots.mdb"].filter { work.exists("a.hindsight/\($0)") }
      for name in files {
        chmod(work.file("a.hindsight/\(name)"), fileMode)
        // Who reads says so in the lock file.
        chmod(
          work.file("a.hindsight/\(name)-lock"), fileMode | (fileMode & 0o222 == 0 ? 0o222 : 0))
      }
      chmod(work.file("a.hindsight"), folderMode)
      let outcome = try await Unprivileged.run(words, in: work)
      chmod(work.file("a.hindsight"), 0o700)
      for name in files {
        for end in ["", "-lock"] { chmod(work.file("a.hindsight/\(name)\(end)"), 0o600) }
      }
      result = (outcome, before, try work.read("a.hindsight/log.mdb"))
    }
    return try #require(result)
  }

  @Test(arguments: [
    ["log"], ["show"], ["state"], ["diff"], ["export"], ["verify"], ["stats"],
    ["import", "a.hindsight", "lines"],
  ])
  func `a store that may not be read ends with 77`(words: [String]) async throws {
    let words = words.count == 1 ? words + ["a.hindsight"] : words
    let (outcome, before, after) = try await run(words, folderMode: 0)
    #expect(outcome.status == 77, "\(outcome)")
    #expect(outcome.bytes.isEmpty)
    #expect(outcome.error.hasPrefix("hindsight: "))
    #expect(outcome.error.contains("a.hindsight"))
    #expect(outcome.error.split(separator: "\n").count == 1)
    #expect(before == after)
  }

  @Test(arguments: [["import", "a.hindsight", "lines"], ["snapshots", "drop", "a.hindsight"]])
  func `a store that may be read but not written refuses to be changed with 77`(
    words: [String]
  ) async throws {
    let (outcome, before, after) = try await run(words, folderMode: 0o555, fileMode: 0o444)
    #expect(outcome.status == 77, "\(outcome)")
    #expect(outcome.error.split(separator: "\n").count == 1)
    #expect(before == after)
  }

  @Test(arguments: ["log", "state", "verify", "export"])
  func `a store that may only be read can be looked at`(verb: String) async throws {
    let (outcome, before, after) = try await run(
      [verb, "a.hindsight"], folderMode: 0o555, fileMode: 0o444)
    #expect(outcome.status == 0, "\(outcome)")
    #expect(!outcome.bytes.isEmpty)
    #expect(before == after)
  }

  @Test func `a folder that may not be written to refuses a new store with 77`() async throws {
    try await withWorkspace { work in
      try work.write(accountLines, to: "lines")
      try FileManager.default.createDirectory(
        atPath: work.file("closed"), withIntermediateDirectories: false)
      chmod(work.file("closed"), 0o555)
      let outcome = try await Unprivileged.run(
        ["import", "closed/a.hindsight", "lines", "--reducer", "merge-patch"], in: work)
      #expect(outcome.status == 77, "\(outcome)")
      #expect(!work.exists("closed/a.hindsight"))
      chmod(work.file("closed"), 0o755)
    }
  }

  @Test func `a file of events that may not be read ends with 77`() async throws {
    try await withWorkspace { work in
      try work.write(accountLines, to: "lines")
      chmod(work.file("lines"), 0)
      let outcome = try await Unprivileged.run(
        ["import", "a.hindsight", "lines", "--reducer", "merge-patch"], in: work)
      #expect(
        outcome
          == Outcome(
            status: 77, text: "", error: "hindsight: lines can't be read: Permission denied\n"))
    }
  }
}

/// Runs the tool as a user who may not everything.
enum Unprivileged {
  static func run(_ words: [String], in work: Workspace) async throws -> Outcome {
    guard geteuid() == 0 else { return try await work.run(Tool.path(), words) }
    // The build's folder may be closed to others, so the tool stands here for them.
    if !work.exists("hindsight") {
      // By another process: a program that is started meanwhile would keep a file open that this
      // one writes, and what is open for writing can't be run.
      _ = try await work.shell("cp \"$hindsight\" hindsight && chmod 755 hindsight")
    }
    let nobody = ["--reuid=65534", "--regid=65534", "--clear-groups", "--"]
    return try await work.run("/usr/bin/setpriv", nobody + [work.file("hindsight")] + words)
  }

  static func canRun() async -> Bool {
    var canRun = false
    try? await withWorkspace { work in
      canRun = try await run(["version"], in: work).status == 0
    }
    return canRun
  }
}
