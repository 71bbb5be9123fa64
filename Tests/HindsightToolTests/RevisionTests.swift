// The names of indexes: what is read, what is refused, and where they lead.
// It always holds: a message quotes what was written.

import HindsightCore
import Testing

@testable import HindsightTool

@Suite struct RevisionTests {
  private let noon = "2026-11-30T12:00:00Z"

  private func time() throws -> Timestamp { try #require(Timestamp(noon)) }

  private func refusal(_ text: String) -> String? {
    do {
      _ = try RevisionRange(parsing: text)
      return nil
    } catch { return (error as? ValidationError)?.description }
  }

  @Test func `numbers, the head and times are read, with steps back`() throws {
    let expected: [(String, Revision)] = [
      ("0", Revision(.index(0))), ("42", Revision(.index(42))),
      ("18446744073709551615", Revision(.index(.max))),
      ("HEAD", .head), ("@", .head), ("HEAD~3", Revision(.head, back: 3)),
      ("HEAD~", Revision(.head, back: 1)), ("HEAD~~", Revision(.head, back: 2)),
      ("HEAD~0", .head), ("@~2~3", Revision(.head, back: 5)),
      ("42~2", Revision(.index(42), back: 2)),
      ("@{\(noon)}", Revision(.time(try time()))),
      ("@{\(noon)}~", Revision(.time(try time()), back: 1)),
    ]
    for (text, revision) in expected {
      #expect(try Revision(parsing: text) == revision, "\(text)")
    }
  }

  @Test func `a revision's description names it again`() throws {
    for text in ["0", "42", "HEAD", "HEAD~3", "7~2", "@{\(noon)}", "@{\(noon)}~2"] {
      let revision = try Revision(parsing: text)
      #expect(try Revision(parsing: revision.description) == revision)
    }
  }

  @Test(arguments: [
    "", "head", "HEAD^", "HEAD~x", "-1", "4 2", "~1", "42x", "HEADS", "+1", "1.5", "@5", "٣",
  ])
  func `what names no index is refused`(text: String) {
    let error = #expect(throws: ValidationError.self) { try Revision(parsing: text) }
    #expect(error?.description.contains("'\(text)' is no index") == true)
  }

  @Test func `numbers too large and times that are none are refused`() {
    for text in ["18446744073709551616", "HEAD~18446744073709551616", "@~18446744073709551615~1"] {
      #expect(refusal(text) == "'\(text)' has a number that is too large")
    }
    #expect(refusal("@{noon}") == "'noon' is no time such as \(noon)")
    #expect(refusal("@{\(noon)") == "'@{\(noon)' lacks its closing brace")
  }

  @Test func `ranges are read, with either end left out`() throws {
    let expected: [(String, RevisionRange)] = [
      ("40..42", RevisionRange(after: Revision(.index(40)), through: Revision(.index(42)))),
      ("HEAD~10..", RevisionRange(after: Revision(.head, back: 10), through: .head)),
      ("..42", RevisionRange(after: Revision(.index(0)), through: Revision(.index(42)))),
      ("42", RevisionRange(after: Revision(.index(0)), through: Revision(.index(42)))),
      (
        "@{\(noon)}..@{\(noon)}~1",
        RevisionRange(
          after: Revision(.time(try time())), through: Revision(.time(try time()), back: 1))
      ),
    ]
    for (text, range) in expected {
      #expect(try RevisionRange(parsing: text) == range, "\(text)")
    }
    for text in ["..", "1...2", "1..2..3", "a..b", "1..x"] {
      #expect(refusal(text) != nil, "\(text)")
    }
  }

  @Test func `a revision leads to an index of the log`() throws {
    func index(_ text: String, head: EventIndex) throws -> EventIndex {
      try Revision(parsing: text).resolve(head: head) { _ in 7 }
    }
    #expect(try index("HEAD", head: 42) == 42)
    #expect(try index("HEAD~42", head: 42) == 0)
    #expect(try index("@{\(noon)}~2", head: 42) == 5)
    #expect(try index("44~2", head: 42) == 42)
    #expect(try index("HEAD", head: 0) == 0)
    let beyond = #expect(throws: HindsightError.self) { try index("43", head: 42) }
    #expect(beyond?.code == .indexBeyondHead && beyond?.index == 43)
    #expect(beyond.map { ExitStatus(for: $0) } == .noInput)
    let before = #expect(throws: ToolError.self) { try index("HEAD~43", head: 42) }
    #expect(before?.status == .noInput)
  }
}
