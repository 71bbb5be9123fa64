// How lines become events: what is refused, what is kept, and how it goes on.

import Testing

@Suite struct ImportTests {
  /// Lines that aren't events, with what is said of them.
  static let badLines: [(line: String, reason: String)] = [
    ("nope", "invalid JSON at column 2: expected 'null', found 'o'"),
    ("{\"type\":\"a\",\"data\":{}", "invalid JSON at column 22: the text ends"),
    ("{\"type\":\"a\",\"data\":{}} {}", "invalid JSON at column 24"),
    (
      "{\"type\":\"a\",\"data\":{},\"type\":\"b\"}", "invalid JSON at column 23: the object already"
    ),
    ("{\"type\":\"a\",\"data\":\"\\ud800\"}", "invalid JSON at column "),
    ("{\"type\":\"a\",\"data\":1e999}", "invalid JSON at column "),
    ("[1]", "the line isn't a JSON object"),
    ("\"a\"", "the line isn't a JSON object"),
    ("{\"data\":{}}", "the object has no type"),
    ("{\"type\":5,\"data\":{}}", "type isn't a text"),
    ("{\"type\":\"\",\"data\":{}}", "an event type's name has 0 bytes"),
    ("{\"type\":\"a\",\"data\":{},\"x\":1}", "the object has a key that an event hasn't: x"),
    ("{\"type\":\"a\"}", "an event of type a must have data"),
    ("{\"type\":\"hindsight.x\",\"data\":{}}", "the event type hindsight.x is reserved"),
    ("{\"type\":\"a\",\"data\":{},\"time\":\"today\"}", "time isn't a moment"),
    ("{\"type\":\"a\",\"data\":{},\"time\":\"2001-02-29T00:00:00Z\"}", "time isn't a moment"),
    ("{\"type\":\"a\",\"data\":{},\"time\":\"2001-01-01T00:00:00\"}", "time isn't a moment"),
    ("{\"type\":\"a\",\"data\":{},\"time\":1}", "time isn't a text"),
    (
      "{\"type\":\"a\",\"data\":{},\"time\":\"2001-01-01T00:00:00.0000001Z\"}",
      "time isn't a moment of at most microseconds"
    ),
    ("{\"type\":\"a\",\"data\":{},\"metadata\":[]}", "metadata isn't an object"),
    (
      "{\"type\":\"a\",\"data\":{},\"metadata\":{\"tags\":\"t\"}}",
      "metadata's tags aren't an array"
    ),
    (
      "{\"type\":\"a\",\"data\":{},\"metadata\":{\"tags\":[1]}}",
      "one of metadata's tags isn't a text"
    ),
    (
      "{\"type\":\"a\",\"data\":{},\"metadata\":{\"correlationId\":1}}",
      "correlationId isn't a text"
    ),
    (
      "{\"type\":\"a\",\"data\":" + String(repeating: "[", count: 2_000)
        + String(repeating: "]", count: 2_000) + "}", "invalid JSON at column "
    ),
  ]

  private func good(_ number: Int) -> String { "{\"type\":\"set\",\"data\":{\"n\":\(number)}}" }

  @Test(arguments: ["missing", "."])
  func `lines that can't be read leave no store behind`(file: String) async throws {
    try await withWorkspace { work in
      let outcome = try await work.hindsight(
        "import", "new.hindsight", file, "--reducer", "merge-patch")
      #expect(outcome.status != 0 && outcome.error.split(separator: "\n").count == 1)
      #expect(!work.exists("new.hindsight"))
    }
  }

  @Test(arguments: badLines.indices)
  func `a bad line stops the import and nothing of it or after it is kept`(
    position: Int
  ) async throws {
    let (bad, reason) = Self.badLines[position]
    try await withWorkspace { work in
      // The first line, in the middle of a batch, its last one, the first of the next one.
      for before in [0, 2, 4, 5] {
        let lines = (1...7).map { $0 == before + 1 ? bad : good($0) }
        let store = "\(before).hindsight"
        let outcome = try await work.hindsight(
          "import", store, "-", "--reducer", "merge-patch", "--batch", "5",
          input: lines.joined(separator: "\n"))
        #expect(outcome.status == 65 && outcome.bytes.isEmpty)
        #expect(outcome.error.hasPrefix("hindsight: line \(before + 1): \(reason)"), "\(outcome)")
        #expect(
          outcome.error.hasSuffix(
            "; the lines before it are kept, nothing of it or after it is\n"))
        #expect(outcome.error.split(separator: "\n").count == 1)
        let kept = try await work.hindsight("log", store, "--json", "--reverse")
        #expect(try kept.lines.map { try JSON($0)["data"]["n"].integer } == Array(1..<(before + 1)))
      }
    }
  }

  @Test(arguments: [1, 2, 3, 7, 4_096])
  func `a line that the reducer refuses stops the import`(batch: Int) async throws {
    try await withWorkspace { work in
      let lines = ["a", "b", "c", "d", "e", "f"].enumerated().map { number, letter in
        let position = number == 3 ? 9 : 0
        return "{\"type\":\"edited\",\"data\":{\"splices\":[{\"position\":\(position),"
          + "\"inserted\":\"\(letter)\"}]}}"
      }.joined(separator: "\n")
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "text", "--batch", "\(batch)", input: lines)
      #expect(
        outcome
          == Outcome(
            status: 65, text: "",
            error: "hindsight: line 4: refused by the reducer: splice 1 deletes 0 scalars at "
              + "position 9 of a text of 3; the lines before it are kept, nothing of it or after "
              + "it is\n"))
      #expect(try await work.hindsight("state", "a.hindsight", "--raw").output == "cba")
    }
  }

  @Test(arguments: [
    ("{}", "the data has no splices"), ("5", "the data isn't that of an event of type edited"),
    ("{\"splices\":5}", "the data isn't that of an event of type edited"),
    ("{\"splices\":[{\"inserted\":\"a\"}]}", "a splice has no position"),
    ("{\"splices\":[{\"position\":-1}]}", "a splice's position is below 0"),
    ("{\"splices\":[{\"position\":0,\"deleted\":1.5}]}", "the data isn't that of an event"),
    ("{\"splices\":[{\"position\":0,\"inserted\":7}]}", "the data isn't that of an event"),
    ("{\"splices\":[{\"position\":0,\"insert\":\"a\"}]}", "a splice has a key that isn't"),
    ("{\"splices\":[{\"position\":0,\"deleted\":1}]}", "refused by the reducer"),
    (
      "{\"splices\":[{\"position\":0,\"inserted\":\"ab\"},{\"position\":3}]}",
      "splice 2 deletes 0 scalars at position 3 of a text of 2"
    ),
  ])
  func `data that the reducer's events can't be stop the import`(
    data: String, reason: String
  ) async throws {
    try await withWorkspace { work in
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "text",
        input: "{\"type\":\"edited\",\"data\":\(data)}\n")
      #expect(outcome.status == 65)
      #expect(outcome.error.hasPrefix("hindsight: line 1: "))
      #expect(outcome.error.contains(reason), "\(outcome)")
      #expect(try await work.hindsight("log", "a.hindsight") == Outcome(status: 0))
    }
  }

  @Test func `bad lines can be skipped, and are counted and listed`() async throws {
    try await withWorkspace { work in
      var lines: [String] = []
      for number in 1...200 { lines.append(number % 20 == 7 ? "bad" : good(number)) }
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "merge-patch", "--skip-invalid", "--batch", "50",
        input: lines.joined(separator: "\n"))
      let listed = [7, 27, 47, 67, 87].map {
        "line \($0): invalid JSON at column 1: expected a value, found 'b'\n"
      }
      #expect(
        outcome
          == Outcome(
            status: 1, text: "imported 190 events; the head is 190\n",
            error: listed.joined() + "… and 5 more bad lines\nskipped 10 bad lines\n"))
    }
  }

  @Test(arguments: [1, 3, 100, 4_096])
  func `lines that the reducer refuses can be skipped wherever they are`(batch: Int) async throws {
    try await withWorkspace { work in
      // Every event inserts at the end of a text; refused are those that are one too far.
      var (lines, text, refused): ([String], String, Int) = ([], "", 0)
      for number in 0..<300 {
        let isBad = number % 7 == 0 || (100..<190).contains(number)
        let letter = String(UnicodeScalar(UInt8(97 + number % 26)))
        let position = text.count + (isBad ? 1 : 0)
        lines.append(
          "{\"type\":\"edited\",\"data\":{\"splices\":[{\"position\":\(position),"
            + "\"inserted\":\"\(letter)\"}]}}")
        if isBad { refused += 1 } else { text += letter }
      }
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "text", "--skip-invalid", "--batch", "\(batch)",
        input: lines.joined(separator: "\n"))
      #expect(outcome.status == 1)
      #expect(
        outcome.output == "imported \(text.count) events; the head is \(text.count)\n")
      #expect(outcome.error.hasSuffix("\nskipped \(refused) bad lines\n"))
      #expect(try await work.hindsight("state", "a.hindsight", "--raw").output == text)
    }
  }

  @Test func `a line that is too long is a bad line, and the next one is read`() async throws {
    try await withWorkspace { work in
      let long = "head -c 67108865 /dev/zero | tr '\\0' x"
      let outcome = try await work.shell(
        "{ echo '\(good(1))'; \(long); echo; echo '\(good(2))'; } | "
          + "\"$hindsight\" import a.hindsight - --reducer merge-patch --skip-invalid")
      #expect(
        outcome
          == Outcome(
            status: 1, text: "imported 2 events; the head is 2\n",
            error: "line 2: it is longer than the 67,108,864 bytes that a line may have\n"
              + "skipped 1 bad line\n"))
    }
  }

  @Test(arguments: [1, 2, 3, 10])
  func `each commit's durable head is printed with --verbose`(batch: Int) async throws {
    try await withWorkspace { work in
      let lines = (1...7).map(good).joined(separator: "\n")
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "merge-patch", "--verbose",
        "--batch=\(batch)", input: lines)
      let heads = stride(from: batch, to: 7, by: batch) + [7]
      let said = heads.map { "durable \($0)\n" }.joined()
      #expect(outcome == Outcome(status: 0, text: said + "imported 7 events; the head is 7\n"))
      let commits = try JSON(try await work.hindsight("verify", "a.hindsight", "--json").output)
      #expect(commits["commits"].integer == heads.count)
    }
  }

  @Test func `line ends, empty lines and a byte order mark are no part of events`() async throws {
    try await withWorkspace { work in
      let lines = "\u{feff}\(good(1))\r\n\r\n\(good(2))\n\n  \t\n\(good(3))\r\n\(good(4))"
      let outcome = try await work.hindsight(
        "import", "a.hindsight", "-", "--reducer", "merge-patch", input: lines)
      #expect(outcome == Outcome(status: 0, text: "imported 4 events; the head is 4\n"))
      let wrong = try await work.hindsight("import", "a.hindsight", "-", input: lines + "\n\nx\n")
      // They count as lines all the same.
      #expect(wrong.error.hasPrefix("hindsight: line 9: "))
    }
  }

  @Test func `an import goes on where another one ended`() async throws {
    try await withWorkspace { work in
      try await work.makeStore()
      try work.write(good(4), to: "more")
      let outcome = try await work.hindsight("import", "a.hindsight", "more")
      #expect(outcome == Outcome(status: 0, text: "imported 1 event; the head is 4\n"))
      let same = try await work.hindsight(
        "import", "a.hindsight", "more", "--reducer", "merge-patch")
      #expect(same == Outcome(status: 0, text: "imported 1 event; the head is 5\n"))
      let none = try await work.hindsight("import", "a.hindsight", "-", input: "")
      #expect(none == Outcome(status: 0, text: "imported 0 events; the head is 5\n"))
    }
  }

  @Test func `what events may carry comes back as it was`() async throws {
    // In the form that export writes.
    let lines = #"""
      {"data":null,"metadata":{"tags":["a","","a","é","e\#u{301}"]},"type":"x"}
      {"data":{},\#
      "metadata":{"causationId":"c","correlationId":"",\#
      "idempotencyKey":"k","traceparent":"00-1"},"type":"x.y"}
      {"data":[1,-1,18446744073709551615,-18446744073709551616,\#
      1180591620717411303424,1.5,1.0,-0.0,5e-324,1.7976931348623157e+308],"type":"numbers"}
      {"data":{"$bytes":"AAE="},\#
      "metadata":{"custom":{"$double":"NaN"},\#
      "other":[{"$tagged":[32,"u"]}]},"type":"forms"}
      {"data":{"$$bytes":"AAE="},"type":"looks like a form"}
      {"data":{"$map":[[1,"one"],[[2],{"$simple":99}]]},"type":"map"}
      {"data":{"$undefined":true},"time":"-000001-12-31T23:59:59.999999Z","type":"early"}
      {"data":{"":{"\u0000\n\"\\":"\#u{7f}/😀"}},"time":"+010000-01-01T00:00:00.000Z","type":" \t"}

      """#
    try await withWorkspace { work in
      try await work.makeStore("a.hindsight", lines)
      let outcome = try await work.hindsight("export", "a.hindsight")
      #expect(outcome == Outcome(status: 0, text: lines))
      try await work.makeStore("b.hindsight", outcome.output)
      #expect(try await work.hindsight("export", "b.hindsight") == outcome)
    }
  }
}
