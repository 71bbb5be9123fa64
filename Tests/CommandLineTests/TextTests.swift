// The reducer `text` on a history whose texts are known from elsewhere.

import Foundation
import Testing

@Suite struct TextTests {
  @Test func `a text at any index is what a plain array of scalars is there`() async throws {
    var trace = GeneratedTrace("generated trace")
    var chooser = SeededGenerator("indexes")
    let eventCount = 2_000
    let indexes = Set((1...eventCount).shuffled(using: &chooser).prefix(200))
    var expected: [Int: [UInt8]] = [0: []]
    for index in 1...eventCount {
      trace.addEvent()
      if indexes.contains(index) { expected[index] = trace.text.utf8 }
    }
    try await withWorkspace { [trace, expected] work in
      let lines = trace.lines.map { $0 + "\n" }.joined()
      try await work.makeStore("a.hindsight", lines, reducer: "text")
      for (index, text) in expected {
        let outcome = try await work.hindsight("state", "a.hindsight", "\(index)", "--raw")
        #expect(outcome.status == 0 && outcome.bytes == text, "at index \(index)")
      }
      let export = try await work.hindsight("export", "a.hindsight")
      #expect(export.bytes == Array(lines.utf8))
    }
  }
}
