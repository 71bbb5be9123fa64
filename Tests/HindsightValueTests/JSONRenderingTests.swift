// Renderings are JSON up to their limits, and say what is beyond.

import HindsightValue
import Testing

@Suite struct JSONRenderingTests {
  @Test func `without limits a rendering is the JSON text`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<2_000 {
      let value = Value.random(depth: 4, &generator)
      for style in [JSONWriter.Style.compact, .pretty] {
        let rendering = value.rendering(.none, style: style)
        #expect(!rendering.isCut)
        #expect(rendering.note == nil)
        #expect(try Value(json: rendering.text) == value)
        if style == .pretty && !rendering.text.contains("\\u") {
          #expect(rendering.text == JSONWriter(style: style).string(value))
        }
      }
    }
  }

  @Test func `what is beyond the limits is marked and counted`() throws {
    let value = try Value(
      json: """
        {"a":[1,2,3,4],"b":"éa\\nlong","c":{"d":{"e":[1]}},"d":{"$bytes":"AAECAwQFBgc="}}
        """)
    let limits = JSONRendering.Limits(stringScalars: 3, bytesSizeBytes: 4, elements: 3, depth: 2)
    let rendering = value.rendering(limits)
    #expect(
      rendering.text == """
        {
          "a": [
            1,
            2,
            3,
            … 1 more element
          ],
          "b": "éa\\n…" (4 more characters),
          "c": {
            "d": {… 1 key}
          },
          … 1 more key
        }
        """)
    #expect(rendering.note == "1 string cut, 3 elements left out")
    #expect(
      Value.array([.bytes(Array(0..<8))]).rendering(limits, style: .compact).text
        == "[{\"$bytes\":\"AAEC…\"} (5 more bytes)]")
  }

  @Test func `a rendering is not much larger than its limit`() {
    var value = Value.string("leaf")
    for _ in 0..<6 { value = .array(Array(repeating: value, count: 30)) }
    let rendering = value.rendering(JSONRendering.Limits(sizeBytes: 1_000))
    #expect(rendering.text.utf8.count < 2_000)
    #expect(rendering.isCut)
  }

  @Test func `characters that disturb a terminal are escaped`() throws {
    let value = Value.string("\u{9b}2J\u{7f}\u{202e}\u{2028}\u{2066}\u{1b}é")
    let text = value.rendering(.none).text
    #expect(text == "\"\\u009b2J\\u007f\\u202e\\u2028\\u2066\\u001bé\"")
    #expect(try Value(json: text) == value)
  }
}
