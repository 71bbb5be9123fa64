// The verbs that look, run beside an import that goes on: each sees a whole, growing prefix.

import Foundation
import Testing

@Suite struct BesideImportTests {
  private static let sampleCount = Tool.isRelease ? 100 : 30
  /// How many lines are handed to the import for each sample, in commits of `batch`.
  private static let linesPerSample = 80
  private static let batch = 8

  @Test func `log, state, diff and verify see a whole and growing prefix beside an import`()
    async throws
  {
    var random = SeededGenerator("beside an import")
    var lines: [String] = []
    var letters: [(letter: Character, position: Int)] = []
    for number in 0..<(Self.sampleCount * Self.linesPerSample) {
      let letter = Character(UnicodeScalar(UInt8(97 + number % 26)))
      let position = number == 0 ? 0 : Int.random(in: 0...number, using: &random)
      letters.append((letter, position))
      lines.append(
        #"{"type":"edited","data":{"splices":[{"position":\#(position),"inserted":"\#(letter)"}]}}"#
      )
    }
    try await withWorkspace { [lines, letters] work in
      try await work.makeStore("live.hindsight", "", reducer: "text")
      let feed = try Feed(store: "live.hindsight", batch: Self.batch, in: work)
      var text: [Character] = []
      var heads: Set<Int> = []
      for sample in 0..<Self.sampleCount {
        let start = sample * Self.linesPerSample
        // The import works on these while the verbs run.
        try await feed.send(lines[start..<(start + Self.linesPerSample)])
        let head = try await Self.head(in: work)
        #expect(head >= text.count, "a head went back")
        for (letter, position) in letters[text.count..<head] {
          text.insert(letter, at: position)
        }
        heads.insert(head)
        try await Self.check(String(text), head, last: letters.prefix(head).last, in: work)
      }
      #expect(await feed.finish() == 0)
      #expect(try await Self.head(in: work) == lines.count)
      #expect(heads.count >= Self.sampleCount / 2, "\(heads.count) heads")
    }
  }

  private static func head(in work: Workspace) async throws -> Int {
    let outcome = try await work.hindsight("stats", "live.hindsight", "--json")
    return try #require(try JSON(outcome.output)["head"].integer)
  }

  private static func check(
    _ text: String, _ head: Int, last: (letter: Character, position: Int)?, in work: Workspace
  ) async throws {
    let state = try await work.hindsight("state", "live.hindsight", "\(head)", "--raw")
    #expect(state.output == text, "the text at \(head)")
    #expect(try await work.hindsight("verify", "live.hindsight").status == 0)
    guard head > 0, let last else { return }
    let log = try await work.hindsight("log", "live.hindsight", "..\(head)", "-n", "1", "--json")
    #expect(try JSON(log.output)["index"].integer == head)
    let diff = try await work.hindsight("diff", "live.hindsight", "\(head - 1)..\(head)")
    if text.count > 61 {
      // Where equal letters stand side by side, the difference is shown at the first of them.
      #expect(diff.output.hasSuffix(#": "" → "\#(last.letter)""# + "\n"), "\(diff.output)")
    }
  }
}

/// An import that reads what it is sent. Unchecked: one task uses it, step by step.
private final class Feed: @unchecked Sendable {
  private let channel: Channel
  private let running: RunningProgram

  init(store: String, batch: Int, in work: Workspace) throws {
    channel = try Channel()
    running = try RunningProgram(
      Tool.path(), ["import", store, "-", "--batch", "\(batch)"], in: work.path,
      input: .descriptor(channel.readEnd), output: .file("/dev/null"),
      error: .file(work.file("import-error")))
  }

  func send(_ lines: ArraySlice<String>) async throws {
    let bytes = Array(lines.map { $0 + "\n" }.joined().utf8)
    try await onThread { [self] in
      var start = 0
      while start < bytes.count {
        let count = bytes[start...].withUnsafeBytes {
          write(channel.writeEnd, $0.baseAddress, $0.count)
        }
        guard count > 0 else { throw Failure(description: "the import reads no more") }
        start += count
      }
    }
  }

  /// Ends the input, and waits for the import.
  func finish() async -> Int32 {
    channel.closeWriteEnd()
    defer { close(channel.readEnd) }
    return (try? await onThread { [self] in running.wait() }) ?? -1
  }
}
