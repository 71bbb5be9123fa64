// `backup`: a copy of a store that is in use.

import Foundation
import Testing

@Suite struct BackupTests {
  @Test func `a backup has every event, and goes on as a store of its own`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.hindsight("backup", "a.hindsight", "b.hindsight/")
      #expect(outcome == Outcome(status: 0, text: "copied 3 events to b.hindsight/\n"))
      for verb in [["log", "--json"], ["export"], ["state", "--json"]] {
        let first = try await work.run(Tool.path(), [verb[0], "a.hindsight"] + verb.dropFirst())
        let second = try await work.run(Tool.path(), [verb[0], "b.hindsight"] + verb.dropFirst())
        #expect(first.status == 0 && first == second, "\(verb)")
      }
      let names = Set(try Self.names(in: "b.hindsight", work))
      #expect(names.subtracting(Self.lockFiles) == ["log.mdb"])
      try await work.makeStore("b.hindsight", accountLines)
      let log = try await work.hindsight("log", "b.hindsight", "HEAD~1..", "--json")
      #expect(try JSON(log.output)["index"].integer == 6)
      #expect(try await work.hindsight("log", "a.hindsight", "6").status == 66)
    }
  }

  private static let lockFiles = ["log.mdb-lock", "snapshots.mdb-lock"]

  private static func names(in store: String, _ work: Workspace) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: work.file(store))
  }

  @Test func `a backup is for its owner alone`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      #expect(try await work.hindsight("backup", "a.hindsight", "b.hindsight").status == 0)
      for (name, mode) in [("b.hindsight", 0o700), ("b.hindsight/log.mdb", 0o600)] {
        let attributes = try FileManager.default.attributesOfItem(atPath: work.file(name))
        #expect(attributes[.posixPermissions] as? Int == mode)
      }
    }
  }

  @Test(arguments: ["a.hindsight", "lines", "folder"])
  func `a backup never replaces anything`(destination: String) async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      try work.write("lines", to: "lines")
      try FileManager.default.createDirectory(
        atPath: work.file("folder"), withIntermediateDirectories: false)
      let outcome = try await work.hindsight("backup", "a.hindsight", destination)
      #expect(
        outcome
          == Outcome(
            status: 73, text: "",
            error: "hindsight: there is something at \(destination) already: "
              + "name a place that is free\n"))
      #expect(try work.read("lines") == Array("lines".utf8))
      #expect(try Self.names(in: "folder", work).isEmpty)
      #expect(try await work.hindsight("verify", "a.hindsight").status == 0)
    }
  }

  @Test func `what can't be copied leaves nothing behind`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let before = Set(try Self.names(in: ".", work))
      #expect(try await work.hindsight("backup", "a.hindsight", "no/b.hindsight").status == 66)
      #expect(try await work.hindsight("backup", "missing.hindsight", "b.hindsight").status == 66)
      #expect(Set(try Self.names(in: ".", work)) == before)
    }
  }

  @Test func `a backup beside an import has a whole prefix, at least what was durable before`()
    async throws
  {
    try await withWorkspace { work in
      try await work.makeStore("a.hindsight", "", reducer: "merge-patch")
      let lines = (1...20_000).map { #"{"type":"set","data":{"n":\#($0)}}"# + "\n" }.joined()
      try work.write(lines, to: "lines")
      let importing = Task {
        try await work.hindsight("import", "a.hindsight", "lines", "--batch", "16")
      }
      var heads: Set<Int> = []
      for number in 0..<8 {
        let before = try await Self.head("a.hindsight", work)
        let copy = "copy-\(number).hindsight"
        #expect(try await work.hindsight("backup", "a.hindsight", copy).status == 0)
        let head = try await Self.head(copy, work)
        #expect(head >= before)
        let state = try await work.hindsight("state", copy, "--json")
        #expect(state.output == (head == 0 ? "{}\n" : "{\"n\":\(head)}\n"))
        heads.insert(head)
      }
      // Each copy is verified when the test ends.
      #expect(try await importing.value.status == 0)
      print("backups at \(heads.sorted())")
    }
  }

  private static func head(_ store: String, _ work: Workspace) async throws -> Int {
    let outcome = try await work.hindsight("stats", store, "--json")
    return try #require(try JSON(outcome.output)["head"].integer)
  }
}
