// How the output is: cut where it is large, plain for programs, coloured for people.

import Foundation
import Testing

@Suite struct OutputTests {
  private static let long = String(repeating: "abcdefghij", count: 60)

  @Test func `large values are cut with a note, and whole with --full`() async throws {
    try await withWorkspace { work in
      let numbers = (0..<300).map(String.init).joined(separator: ",")
      try await work.makeStore(
        "a.hindsight",
        "{\"type\":\"set\",\"data\":{\"text\":\"\(Self.long)\",\"list\":[\(numbers)]}}\n")
      for words in [["state", "a.hindsight"], ["show", "a.hindsight"]] {
        let cut = try await work.run(Tool.path(), words)
        #expect(cut.output.contains("(1 string cut, 260 elements left out; --full prints all)"))
        #expect(cut.output.contains("…\" (360 more characters)"))
        #expect(cut.output.contains("… 260 more"))
        #expect(!cut.output.contains(Self.long))
        let full = try await work.run(Tool.path(), words + ["--full"])
        #expect(full.output.contains(Self.long) && full.output.contains("299"))
        #expect(!full.output.contains("…"))
        let json = try await work.run(Tool.path(), words + ["--json"])
        #expect(json.output.contains(Self.long) && json.lines.count == 1)
      }
      let raw = try await work.hindsight("state", "a.hindsight", "/text", "--raw")
      #expect(raw.output == Self.long)
      let log = try await work.hindsight("log", "a.hindsight")
      #expect(log.output.count < 200 && log.output.hasSuffix(" more)\n"))
      let full = try await work.hindsight("log", "a.hindsight", "--full")
      #expect(full.output.contains(Self.long) && full.lines.count == 1)
      let diff = try await work.hindsight("diff", "a.hindsight", "--full")
      #expect(diff.output.contains(Self.long))
    }
  }

  @Test func `names and texts can't break lines or move the cursor`() async throws {
    try await withWorkspace { work in
      try await work.makeStore(
        "a.hindsight",
        #"""
        {"type":"a\nb\u001b[31m",\#
        "data":{"x\u001b[2J":"\u001b]0;t\u0007\u202e"},\#
        "metadata":{"k\n":"\u009b"}}

        """#)
      for verb in ["log", "show", "state", "diff", "stats"] {
        let outcome = try await work.hindsight(verb, "a.hindsight")
        let isSafe = outcome.output.unicodeScalars.allSatisfy {
          $0 == "\n" || ($0.value >= 0x20 && !(0x7f...0x9f).contains($0.value) && $0 != "\u{202e}")
        }
        #expect(isSafe, "\(verb): \(outcome)")
        if verb == "log" { #expect(outcome.lines.count == 1) }
      }
    }
  }

  @Test func `a reader that goes away is nothing to complain about`() async throws {
    try await withWorkspace { work in
      let lines = (1...5_000).map { "{\"type\":\"set\",\"data\":{\"n\":\($0)}}\n" }.joined()
      try await work.makeStore("a.hindsight", lines)
      for words in ["log a.hindsight", "export a.hindsight", "log a.hindsight --json"] {
        let outcome = try await work.shell(
          "{ \"$hindsight\" \(words); echo \"status $?\" >&2; } | head -n 1")
        #expect(outcome.lines.count == 1)
        #expect(outcome.error == "status 0\n")
      }
    }
  }

  @Test func `an import goes on when nobody reads its progress`() async throws {
    try await withWorkspace { work in
      let lines = (1...2_000).map { "{\"type\":\"set\",\"data\":{\"n\":\($0)}}\n" }.joined()
      try work.write(lines, to: "lines")
      let outcome = try await work.shell(
        "{ \"$hindsight\" import a.hindsight lines --reducer merge-patch --verbose --batch 2; "
          + "echo \"status $?\" >&2; } | head -n 1")
      #expect(outcome == Outcome(status: 0, text: "durable 2\n", error: "status 0\n"))
      let state = try await work.hindsight("state", "a.hindsight", "/n")
      #expect(state.output == "2000\n")
    }
  }

  @Test(.enabled(if: access("/dev/ptmx", W_OK) == 0 && isLinux, "needs Linux's /dev/ptmx"))
  func `a terminal gets colour and columns, unless they aren't wanted`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      let coloured = try await work.terminal(
        ["log", "a.hindsight"], ["TERM": "xterm", "NO_COLOR": nil])
      #expect(coloured.contains("\u{1b}[33m3\u{1b}[0m"))
      for variables in [
        ["TERM": "xterm", "NO_COLOR": "1"], ["TERM": "dumb"], ["TERM": nil],
      ] as [[String: String?]] {
        let plain = try await work.terminal(["log", "a.hindsight"], variables)
        #expect(!plain.contains("\u{1b}"))
        #expect(plain.contains("3  2001-01-02T22:00:00.000Z  closed"))
      }
      let narrow = try await work.terminal(
        ["log", "a.hindsight", "2"], ["TERM": "dumb", "COLUMNS": "70"])
      let widths = narrow.split(separator: "\r\n").map(\.count)
      #expect(widths.allSatisfy { $0 <= 70 } && widths.contains(70))
    }
  }

  @Test func `a program gets neither colour nor progress`() async throws {
    try await withWorkspace { work in
      try work.write(accountLines, to: "lines")
      let variables: [String: String?] = ["TERM": "xterm", "NO_COLOR": nil, "COLUMNS": "20"]
      let importing = try await work.hindsight(
        "import", "a.hindsight", "lines", "--reducer", "merge-patch", environment: variables)
      #expect(importing.error.isEmpty)
      for verb in ["log", "show", "state", "diff", "export", "verify", "stats"] {
        let outcome = try await work.hindsight(verb, "a.hindsight", environment: variables)
        #expect(!outcome.bytes.contains(0x1b) && outcome.error.isEmpty)
        #expect(try await work.hindsight(verb, "a.hindsight") == outcome)
      }
    }
  }

  @Test func `everything for programs is JSON`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      for words in [
        ["log"], ["show"], ["state"], ["diff"], ["verify"], ["stats"], ["snapshots", "list"],
      ] {
        let outcome = try await work.run(Tool.path(), words + ["a.hindsight", "--json"])
        #expect(outcome.status == 0 && outcome.error.isEmpty)
        for line in outcome.lines { #expect(try JSON(line).keys != nil) }
      }
      let stats = try JSON(try await work.hindsight("stats", "a.hindsight", "--json").output)
      #expect(stats["head"].integer == 3 && stats["commits"].integer == 1)
      #expect(stats["reducer"].text == "merge-patch")
      #expect(stats["types"].keys == ["opened", "deposited", "closed"])
    }
  }
}

#if os(Linux)
  private let isLinux = true
#else
  private let isLinux = false
#endif

extension Workspace {
  /// What a program writes on a terminal of 24 lines of 100 columns.
  func terminal(_ words: [String], _ environment: [String: String?]) async throws -> String {
    let tool = try Tool.path()
    return try await onThread { [path] in
      // Swift doesn't see posix_openpt and its relatives: these are what they do on Linux.
      let (lock, getNumber): (UInt, UInt) = (0x4004_5431, 0x8004_5430)
      let terminal = open("/dev/ptmx", O_RDWR | O_NOCTTY | O_CLOEXEC)
      var (unlocked, number): (Int32, Int32) = (0, -1)
      guard terminal >= 0, ioctl(terminal, lock, &unlocked) == 0,
        ioctl(terminal, getNumber, &number) == 0
      else {
        throw Failure(description: "there is no terminal: \(String(cString: strerror(errno)))")
      }
      let source = LineSource(terminal)
      var size = winsize(ws_row: 24, ws_col: 100, ws_xpixel: 0, ws_ypixel: 0)
      _ = ioctl(terminal, UInt(TIOCSWINSZ), &size)
      let running = try RunningProgram(
        tool, words, in: path, environment: environment, input: .file("/dev/null"),
        output: .file("/dev/pts/\(number)"), error: .file("/dev/null"))
      running.wait()
      // Nobody else has the terminal open any more: what is read ends.
      return String(decoding: source.rest(), as: UTF8.self)
    }
  }
}
