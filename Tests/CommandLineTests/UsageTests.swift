// What is said, and with which exit status, where a command can't be done.

import Foundation
import Testing

@Suite struct UsageTests {
  /// Runs words, and checks the one line on standard error.
  private func expect(_ words: [String], _ status: Int32, _ message: String) async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      try work.write("plain\n", to: "plain")
      try await work.makeStore("app.hindsight", "", reducer: "text")
      let outcome = try await work.run(Tool.path(), words)
      #expect(outcome == Outcome(status: status, text: "", error: message + "\n"))
    }
  }

  @Test(arguments: [
    (["lgo"], "hindsight: there is no command 'lgo'; did you mean 'log'? (see 'hindsight help')"),
    (["nonsense"], "hindsight: there is no command 'nonsense'; see 'hindsight help'"),
    (["log"], "hindsight log: STORE is missing; see 'hindsight help log'"),
    (
      ["log", "a.hindsight", "--tpe", "x"],
      "hindsight log: there is no option '--tpe'; did you mean '--type'? "
        + "(see 'hindsight help log')"
    ),
    (
      ["log", "a.hindsight", "here"],
      "hindsight log: RANGE: 'here' is no index: write 42, HEAD, HEAD~3 or @{TIME}; "
        + "see 'hindsight help log'"
    ),
    (
      ["log", "a.hindsight", "--since", "yesterday"],
      "hindsight log: --since: write it as 2026-11-30T12:00:00Z; see 'hindsight help log'"
    ),
    (["log", "a.hindsight", "-n"], "hindsight log: -n needs a value; see 'hindsight help log'"),
    (
      ["log", "a.hindsight", "-n", "-1"],
      "hindsight log: --number can't be below 0; see 'hindsight help log'"
    ),
    (
      ["log", "a.hindsight", "3..1"],
      "hindsight: the range 3..1 ends before it begins: write the smaller index first"
    ),
    (
      ["log", "a.hindsight", "--follow", "--until", "2001-01-01T00:00:00Z"],
      "hindsight log: --follow has no end but -n: leave --until out; see 'hindsight help log'"
    ),
    (
      ["log", "a.hindsight", "..2", "--follow"],
      "hindsight log: --follow goes on from the head: leave the range's end out; "
        + "see 'hindsight help log'"
    ),
    (
      ["state", "a.hindsight", "1", "/a", "b"],
      "hindsight state: 'b' is one argument too many; see 'hindsight help state'"
    ),
    (
      ["state", "a.hindsight", "--raw", "--json"],
      "hindsight state: --json and --raw exclude each other; see 'hindsight help state'"
    ),
    (
      ["import", "a.hindsight", "-", "--batch", "0"],
      "hindsight import: --batch must be at least 1; see 'hindsight help import'"
    ),
    (
      ["import", "new.hindsight", "-"],
      "hindsight: there is no store at new.hindsight yet: say what it is for with --reducer "
        + "merge-patch or json-patch or text"
    ),
    (
      ["import", "new.hindsight", "-", "--reducer", "bank"],
      "hindsight: this tool has no reducer bank: choose merge-patch or json-patch or text"
    ),
    (
      ["show", "a.hindsight", "99999999999999999999"],
      "hindsight show: INDEX: '99999999999999999999' has a number that is too large; "
        + "see 'hindsight help show'"
    ),
    (["verify"], "hindsight verify: STORE is missing; see 'hindsight help verify'"),
  ])
  func `a wrong command line ends with 64`(words: [String], message: String) async throws {
    try await expect(words, 64, message)
  }

  @Test(arguments: ["export", "log", "show", "state", "diff", "verify", "stats"])
  func `what isn't a store ends with 66`(verb: String) async throws {
    try await expect(
      [verb, "none.hindsight"], 66, "hindsight: none.hindsight isn't a store: it doesn't exist")
    try await expect(
      [verb, "plain"], 66, "hindsight: plain isn't a store: it isn't a directory")
    try await expect([verb, "."], 66, "hindsight: . isn't a store: it has no log.mdb")
  }

  @Test(arguments: [
    (["log", "a.hindsight", "..4"], "index 4 is beyond the head, which is 3"),
    (["show", "a.hindsight", "4"], "index 4 is beyond the head, which is 3"),
    (["show", "a.hindsight", "0"], "there is no event 0: the first has index 1"),
    (["state", "a.hindsight", "4"], "index 4 is beyond the head, which is 3"),
    (["diff", "a.hindsight", "3..4"], "index 4 is beyond the head, which is 3"),
    (["export", "a.hindsight", "4.."], "index 4 is beyond the head, which is 3"),
    (
      ["state", "a.hindsight", "HEAD~4"],
      "HEAD~4 is before the beginning: 3 events are all there is up to there"
    ),
    (
      ["state", "a.hindsight", "1", "/nobody"],
      "the state at index 1 has no /nobody: \"/nobody\": there is no such key"
    ),
    (["import", "a.hindsight", "none"], "none can't be read: No such file or directory"),
    (["import", "a.hindsight", "."], ". can't be read: Is a directory"),
    (
      ["import", "plain", "plain", "--reducer", "text"],
      "plain isn't a store: it isn't a directory"
    ),
  ])
  func `what isn't there ends with 66`(words: [String], message: String) async throws {
    try await expect(words, 66, "hindsight: " + message)
  }

  @Test(arguments: [
    (
      ["import", "a.hindsight", "plain", "--reducer", "text"],
      "a.hindsight belongs to the reducer merge-patch, not to text: leave --reducer out"
    ),
    (
      ["state", "a.hindsight", "1", "--raw"],
      "the value at '' isn't a text: leave --raw out to print it as JSON"
    ),
    (
      ["import", "app.hindsight", "plain"],
      "line 1: invalid JSON at column 1: expected a value, found 'p'; the lines before it are "
        + "kept, nothing of it or after it is"
    ),
  ])
  func `data that doesn't fit ends with 65`(words: [String], message: String) async throws {
    try await expect(words, 65, "hindsight: " + message)
  }

  @Test(.enabled(if: access("/dev/full", W_OK) == 0, "needs /dev/full, which Linux has"))
  func `an output that can't be written ends with 74`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let outcome = try await work.shell("\"$hindsight\" export a.hindsight >/dev/full")
      #expect(outcome.status == 74)
      #expect(
        outcome.error
          == "hindsight: the output can't be written: No space left on device\n")
    }
  }

  @Test func `damage ends with 1, and each verb that meets it with 65`() async throws {
    try await withWorkspace(damaged: ["a.hindsight"]) { work in
      try await work.makeStore()
      // One letter of a payload is another one.
      var bytes = try work.read("a.hindsight/log.mdb")
      let place = try #require(bytes.firstRange(of: Array("alice".utf8)))
      bytes[place.lowerBound] = UInt8(ascii: "A")
      try work.write(bytes, to: "a.hindsight/log.mdb")
      let verify = try await work.hindsight("verify", "a.hindsight")
      #expect(verify.status == 1)
      #expect(verify.lines.last?.hasPrefix("a.hindsight is damaged: see above; found ") == true)
      #expect(verify.lines.count >= 2)
      let json = try await work.hindsight("verify", "a.hindsight", "--json")
      #expect(json.status == 1)
      #expect(try JSON(json.output)["findings"].count.map { $0 > 0 } == true)
      for verb in ["log", "show", "state", "export", "diff"] {
        let outcome = try await work.hindsight(verb, "a.hindsight")
        #expect(outcome.status == 65, "\(verb)")
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(outcome.error.hasPrefix("hindsight: "))
      }
    }
  }

  @Test func `a log whose first page is gone is damaged, not something else`() async throws {
    try await withWorkspace(damaged: ["a.hindsight"]) { work in
      try await work.makeStore()
      var bytes = try work.read("a.hindsight/log.mdb")
      bytes.replaceSubrange(0..<4_096, with: [UInt8](repeating: 0, count: 4_096))
      try work.write(bytes, to: "a.hindsight/log.mdb")
      for verb in ["log", "state", "verify"] {
        let outcome = try await work.hindsight(verb, "a.hindsight")
        #expect(outcome.status == (verb == "verify" ? 1 : 65), "\(verb): \(outcome)")
      }
    }
  }

  @Test func `what an error quotes from data can't pass for lines of the tool`() async throws {
    try await withWorkspace { work in
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "merge-patch",
        input: #"{"type":"a","data":{},"foo\nhindsight: all is well\u001b[2J\u2028":2}"# + "\n")
      #expect(outcome.status == 65)
      #expect(outcome.error.hasSuffix("\n"))
      #expect(outcome.error.dropLast().allSatisfy { !$0.isNewline && $0 != "\u{1b}" })
      #expect(outcome.error.contains(#"foo\u000ahindsight: all is well\u001b[2J\u2028"#))
    }
  }

  @Test(arguments: [0, 1, 4_096, 8_192])
  func `a file that was cut off is an error, not a crash`(sizeBytes: Int) async throws {
    try await withWorkspace(damaged: ["a.hindsight"]) { work in
      try await work.makeStore()
      let bytes = try work.read("a.hindsight/log.mdb")
      try work.write(Array(bytes.prefix(sizeBytes)), to: "a.hindsight/log.mdb")
      for verb in ["log", "state", "export", "verify", "stats"] {
        let outcome = try await work.hindsight(verb, "a.hindsight")
        let expected: Int32 = sizeBytes < 4_096 ? 66 : verb == "verify" ? 1 : 65
        #expect(outcome.status == expected, "\(verb): \(outcome)")
        let said = verb == "verify" && expected == 1 ? outcome.output : outcome.error
        #expect(said.split(separator: "\n").count == 1)
      }
    }
  }
}
