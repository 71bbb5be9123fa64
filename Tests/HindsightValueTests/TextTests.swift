// Editing a text is editing an array of its scalars, however it is divided.

import Foundation
import HindsightValue
import Testing

@Suite struct TextTests {
  private static let fragments = [
    "a", "hello ", "\r\n", "\r", "\n", "e\u{301}", "\u{301}", "\u{e9}", "👩‍👩‍👧‍👦", "\u{200d}", "🇩🇪", "🇩",
    "שלום", "\u{202e}", "مرحبا", "漢字", "\u{10ffff}", "\u{0}", "\u{fe0f}", "𝔘",
  ]

  private func randomString(_ generator: inout SeededGenerator) -> String {
    let repeats = generator.chance(3) ? 3_000 : generator.chance(20) ? 200 : 1
    var string = ""
    for _ in 0..<Int.random(in: 1...repeats, using: &generator) {
      string += Self.fragments.randomElement(using: &generator)!
    }
    return string
  }

  @Test func `edits give what they give on an array of scalars`() throws {
    var generator = SeededGenerator.forTest()
    for round in 0..<12 {
      var model: [Unicode.Scalar] = []
      var text = EditableText()
      var copies: [(EditableText, String)] = []
      // Some rounds grow, some shrink, and most edits are near the last one.
      let growth = [30, 50, 70][round % 3]
      var near = 0
      for step in 0..<800 {
        let inserted =
          generator.chance(growth) || model.isEmpty ? randomString(&generator) : ""
        let position =
          generator.chance(20)
          ? Int.random(in: 0...model.count, using: &generator)
          : min(model.count, max(0, near + Int.random(in: -20...20, using: &generator)))
        let most = min(model.count - position, generator.chance(10) ? 20_000 : 30)
        let count = generator.chance(60) ? Int.random(in: 0...most, using: &generator) : 0
        model.replaceSubrange(position..<position + count, with: inserted.unicodeScalars)
        try text.replace(position: position, count: count, with: inserted)
        near = position + inserted.unicodeScalars.count
        #expect(text.brokenInvariant == nil)
        #expect(text.scalarCount == model.count)
        if step % 100 == 99 {
          let expected = string(model)
          #expect(text.string.utf8.elementsEqual(expected.utf8))
          #expect(text.utf8Count == expected.utf8.count)
          #expect(text == EditableText(expected))
          copies.append((text, expected))
        }
      }
      for (copy, expected) in copies {
        #expect(copy.brokenInvariant == nil)
        #expect(copy.string.utf8.elementsEqual(expected.utf8))
      }
    }
  }

  private func string(_ scalars: [Unicode.Scalar]) -> String {
    var view = String.UnicodeScalarView()
    view.append(contentsOf: scalars)
    return String(view)
  }

  @Test func `scalars stay apart however they combine`() throws {
    var text = EditableText("e\u{301}")
    #expect(text.scalarCount == 2)
    #expect(text != EditableText("\u{e9}"))
    try text.replace(position: 0, count: 1, with: "a")
    #expect(text.string.unicodeScalars.elementsEqual("a\u{301}".unicodeScalars))
    try text.replace(position: 1, count: 1, with: "\r")
    try text.replace(position: 2, count: 0, with: "\n")
    #expect(text.scalarCount == 3)
    try text.replace(position: 1, count: 1, with: "")
    #expect(text.string == "a\n")
  }

  @Test(arguments: [
    (-1, 0), (0, -1), (4, 0), (0, 4), (3, 1), (1, Int.max), (Int.max, 1), (Int.min, 0),
  ])
  func `an edit of scalars that aren't there is refused and changes nothing`(
    position: Int, count: Int
  ) throws {
    var text = EditableText("abc")
    let error = #expect(throws: TextRangeError.self) {
      try text.replace(position: position, count: count, with: "x")
    }
    #expect(error == TextRangeError(position: position, count: count, scalarCount: 3))
    #expect(text.string == "abc")
    try text.replace(position: 3, count: 0, with: "d")
    try text.replace(position: 0, count: 4, with: "")
    #expect(text == EditableText())
    #expect(text.brokenInvariant == nil)
  }

  @Test func `a copy shares all chunks but those that are edited`() throws {
    var text = EditableText(String(repeating: "zażółć gęślą jaźń ", count: 10_000))
    let copy = text
    let original = copy.string
    try text.replace(position: 100_000, count: 1, with: "x")
    let (count, shared) = text.sharedChunks(with: copy)
    #expect(count > 50)
    #expect(shared == count - 1)
    #expect(copy.string == original)
    #expect(text != copy)
  }

  @Test func `a text is coded as a string`() throws {
    let text = EditableText("e\u{301}\r\n👩‍👩‍👧‍👦")
    let data = try JSONEncoder().encode([text])
    #expect(try JSONDecoder().decode([String].self, from: data) == [text.string])
    #expect(try JSONDecoder().decode([EditableText].self, from: data) == [text])
  }

  @Test func `a text's own CBOR is that of a string`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<50 {
      let text = EditableText(randomString(&generator))
      let bytes = try CBOREncoder().encode(text)
      #expect(bytes == (try CBOREncoder().encode(text.string)))
      #expect(try CBORDecoder().decode(EditableText.self, from: bytes) == text)
    }
    #expect(try CBOREncoder().encode(EditableText()) == [0x60])
  }

  @Test(.enabled(if: Corpus.isAvailable, "HINDSIGHT_CORPUS is not set"))
  func `the history of a real document ends with that document`() throws {
    let name = "sveltecomponent"
    var text = EditableText()
    for line in try Corpus.lines("editing/\(name).ndjson.gz") {
      let splices = try Value(json: line).value(at: JSONPointer(["data", "splices"]))
      guard case .array(let splices) = splices else { continue }
      for splice in splices {
        let position = try #require(try splice.value(at: JSONPointer(["position"])).int64)
        let deleted = try #require(try splice.value(at: JSONPointer(["deleted"])).int64)
        guard case .string(let inserted) = try splice.value(at: JSONPointer(["inserted"])) else {
          Issue.record("no text in \(splice)")
          return
        }
        try text.replace(position: Int(position), count: Int(deleted), with: inserted)
      }
    }
    #expect(text.brokenInvariant == nil)
    #expect(text.string.utf8.elementsEqual(try Corpus.bytes("editing/\(name).end.txt")))
  }
}
