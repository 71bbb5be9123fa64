// What each verb prints of a small store, word for word, for a program that reads it.

import Testing

@Suite struct VerbTests {
  @Test func `import makes a store and says what it did`() async throws {
    try await withWorkspace { work in
      try work.write(accountLines, to: "a.ndjson")
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "a.ndjson", "--reducer", "merge-patch")
      #expect(outcome == Outcome(status: 0, text: "imported 3 events; the head is 3\n"))
    }
  }

  @Test func `log lists the newest event first, one a line`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.hindsight("log", "a.hindsight")
      #expect(
        outcome
          == Outcome(
            status: 0,
            text: #"""
              3  2001-01-02T22:00:00.000Z  closed  {"balance":null}
              2  2001-01-02T04:04:05.500Z  deposited  {"balance":100}  \#
              {"tags":["account:a", "big"], "source":{"ip":"::1"}, "correlationId":"r1"}
              1  2001-01-02T03:04:05.000Z  opened  {"owner":"alice", "balance":0}

              """#))
    }
  }

  @Test(arguments: [
    (["--reverse"], [1, 2, 3]), (["-n", "2"], [3, 2]), (["--number=1", "--reverse"], [1]),
    (["-n0"], []), (["--type", "closed", "--type", "opened"], [3, 1]), (["2"], [2, 1]),
    (["1..2"], [2]), (["HEAD~1.."], [3]), (["..HEAD~2"], [1]), (["2..2"], []),
    (["@{2001-01-02T04:04:05.5Z}"], [2, 1]), (["@{2001-01-02T04:04:05.499999Z}.."], [3, 2]),
    (["--since", "2001-01-02T04:04:05.5Z"], [3, 2]),
    (["--until", "2001-01-02T06:04:05.5+02:00"], [2, 1]), (["--type", "none"], []),
    (["--since", "2001-01-02T04:00:00Z", "--until", "2001-01-02T05:00:00Z"], [2]),
  ])
  func `log lists the events that were asked for`(
    options: [String], indexes: [Int]
  ) async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.run(Tool.path(), ["log", "a.hindsight"] + options)
      #expect(outcome.lines.map { Int($0.prefix(1)) } == indexes)
      #expect(outcome.status == 0 && outcome.error.isEmpty)
      let json = try await work.run(Tool.path(), ["log", "a.hindsight", "--json"] + options)
      #expect(try json.lines.map { try JSON($0)["index"].integer } == indexes)
    }
  }

  @Test func `log prints each event as a line of JSON`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.hindsight("log", "a.hindsight", "HEAD~2..2", "--json")
      #expect(
        outcome.masked == """
          {"data":{"balance":100},"index":2,\
          "metadata":{"correlationId":"r1","source":{"ip":"::1"},"tags":["account:a","big"]},\
          "recorded":"NOW","time":"2001-01-02T04:04:05.500Z","type":"deposited"}

          """)
    }
  }

  @Test func `log goes on with the events that come`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let channel = try Channel()
      let running = try RunningProgram(
        Tool.path(), ["log", "a.hindsight", "--follow", "--number", "5", "--type", "opened"],
        in: work.path, input: .file("/dev/null"), output: .descriptor(channel.writeEnd),
        error: .file("/dev/null"))
      channel.closeWriteEnd()
      let source = LineSource(channel.readEnd)
      let first = source.next()
      #expect(first?.hasPrefix("1  ") == true)
      for _ in 0..<4 { try await work.makeStore() }
      let more = (0..<4).map { _ in source.next()?.split(separator: " ").first }
      #expect(more == ["4", "7", "10", "13"])
      #expect(source.next() == nil)
      #expect(running.wait() == 0)
    }
  }

  @Test func `show prints one event whole and what it changed`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.hindsight("show", "a.hindsight", "2")
      #expect(
        outcome.masked == #"""
          event          2
          type           deposited
          occurred       2001-01-02T04:04:05.500Z
          recorded       NOW
          tags           ["account:a", "big"]
          source         {"ip":"::1"}
          correlationId  "r1"
          {
            "balance": 100
          }
          changed
          ~ /balance  0 → 100

          """#)
      let newest = try await work.hindsight("show", "a.hindsight")
      #expect(
        newest.masked == """
          event      3
          type       closed
          occurred   2001-01-02T22:00:00.000Z
          recorded   NOW
          {
            "balance": null
          }
          changed
          - /balance  100

          """)
      let json = try await work.hindsight("show", "a.hindsight", "HEAD~2", "--json")
      #expect(
        json.masked == """
          {"changes":[{"new":"alice","path":"/owner"},{"new":0,"path":"/balance"}],\
          "data":{"balance":0,"owner":"alice"},"index":1,"recorded":"NOW",\
          "time":"2001-01-02T03:04:05.000Z","type":"opened"}

          """)
    }
  }

  @Test(arguments: [
    ([], "{\n  \"owner\": \"alice\"\n}\n"), (["0"], "{}\n"), (["2", "/balance"], "100\n"),
    (["2", "--json"], "{\"balance\":100,\"owner\":\"alice\"}\n"), (["/owner", "--raw"], "alice"),
    (["HEAD~1", "/owner"], "\"alice\"\n"), (["@{2001-01-02T03:04:05Z}", "/balance"], "0\n"),
    (["1", ""], "{\n  \"owner\": \"alice\",\n  \"balance\": 0\n}\n"), (["@~3"], "{}\n"),
  ])
  func `state prints the state at an index or a part of it`(
    words: [String], text: String
  ) async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.run(Tool.path(), ["state", "a.hindsight"] + words)
      #expect(outcome == Outcome(status: 0, text: text))
    }
  }

  @Test func `diff prints what changed between two states`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let all = try await work.hindsight("diff", "a.hindsight", "0..2")
      #expect(all == Outcome(status: 0, text: "+ /owner  \"alice\"\n+ /balance  100\n"))
      let last = try await work.hindsight("diff", "a.hindsight", "--exit-code")
      #expect(last == Outcome(status: 1, text: "- /balance  100\n"))
      let none = try await work.hindsight("diff", "a.hindsight", "2..2", "--exit-code")
      #expect(none == Outcome(status: 0))
      let json = try await work.hindsight("diff", "a.hindsight", "2", "--json")
      #expect(
        json.output == """
          {"changes":[{"new":100,"old":0,"path":"/balance"}],"from":1,"to":2}

          """)
      let patch = try await work.hindsight("diff", "a.hindsight", "--json-patch")
      #expect(try JSON(patch.output)[0]["op"].text == "remove")
      #expect(try JSON(patch.output)[0]["path"].text == "/balance")
    }
  }

  @Test func `verify says that a store is sound`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      try await work.makeStore("-b.hindsight", "")
      let outcome = try await work.hindsight("verify", "a.hindsight")
      #expect(
        outcome
          == Outcome(
            status: 0, text: "a.hindsight is sound: 3 events in 1 commit, 0 snapshots\n"))
      let json = try await work.hindsight("verify", "--json", "a.hindsight")
      #expect(
        json.output
          == "{\"commits\":1,\"events\":3,\"findings\":[],\"head\":3,\"snapshots\":0}\n")
      // A name that looks like an option reaches the process that checks as a name.
      let dashed = try await work.hindsight("verify", "--", "-b.hindsight")
      #expect(dashed.output == "-b.hindsight is sound: 0 events in 0 commits, 0 snapshots\n")
      try work.remove("-b.hindsight")
    }
  }

  @Test func `export writes what import reads`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.hindsight("export", "a.hindsight")
      let lines = """
        {"data":{"balance":0,"owner":"alice"},"time":"2001-01-02T03:04:05.000Z","type":"opened"}
        {"data":{"balance":100},"metadata":{"correlationId":"r1","source":{"ip":"::1"},\
        "tags":["account:a","big"]},"time":"2001-01-02T04:04:05.500Z","type":"deposited"}
        {"data":{"balance":null},"time":"2001-01-02T22:00:00.000Z","type":"closed"}

        """
      #expect(outcome == Outcome(status: 0, text: lines))
      try await work.makeStore("b.hindsight", outcome.output)
      let again = try await work.hindsight("export", "b.hindsight")
      #expect(again == outcome)
      let part = try await work.hindsight("export", "a.hindsight", "HEAD~1..", "--recorded")
      #expect(
        part.masked == """
          {"data":{"balance":null},"recorded":"NOW","time":"2001-01-02T22:00:00.000Z",\
          "type":"closed"}

          """)
      // What it adds is read again, too, and the new store has its own recorded times.
      try await work.makeStore("c.hindsight", part.output)
    }
  }

  @Test func `version and help go to standard output`() async throws {
    try await withWorkspace { work in
      let version = try await work.hindsight("version")
      #expect(version.status == 0 && version.output.hasPrefix("hindsight "))
      #expect(try await work.hindsight("--version").output == version.output.dropFirst(10))
      let help = try await work.hindsight("help")
      #expect(help.status == 0 && help.error.isEmpty)
      #expect(try await work.hindsight() == help)
      #expect(try await work.hindsight("--help") == help)
      for verb in ["import", "export", "log", "show", "state", "diff", "verify", "stats"] {
        #expect(help.output.contains("\n  \(verb) "))
        let of = try await work.hindsight("help", verb)
        #expect(of.output.hasPrefix("hindsight \(verb): ") && of.error.isEmpty && of.status == 0)
        #expect(of.output.contains("USAGE: hindsight \(verb) "))
        #expect(of.output.split(separator: "\n").allSatisfy { $0.count <= 80 })
        #expect(try await work.hindsight(verb, "-h") == of)
      }
    }
  }
}
