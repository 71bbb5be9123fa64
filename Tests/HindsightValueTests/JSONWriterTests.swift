// Whatever is written reads back the same, and real JSON passes through unchanged.

import Foundation
import HindsightValue
import Testing

@Suite struct JSONWriterTests {
  @Test(
    arguments: [
      (.null, "null"), (.bool(true), "true"), (.unsigned(.max), "18446744073709551615"),
      (.negative(0), "-1"), (.negative(.max), "-18446744073709551616"), (.double(5), "5.0"),
      (.double(-0.0), "-0.0"), (.double(1e100), "1e+100"), (.double(0.1), "0.1"),
      (.string("a\"\\\u{1}\u{1f}\n/é\u{7f}"), "\"a\\\"\\\\\\u0001\\u001f\\n/é\u{7f}\""),
      (.bytes([0, 1]), "{\"$bytes\":\"AAE=\"}"), (.double(.nan), "{\"$double\":\"NaN\"}"),
      (.double(-.infinity), "{\"$double\":\"-Infinity\"}"), (.undefined, "{\"$undefined\":true}"),
      (.simple(99), "{\"$simple\":99}"), (.tagged(32, .string("x")), "{\"$tagged\":[32,\"x\"]}"),
      (.tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])), "18446744073709551616"),
      (.tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])), "-18446744073709551617"),
      (.tagged(2, .bytes([1])), "{\"$tagged\":[2,{\"$bytes\":\"AQ==\"}]}"),
      (
        .tagged(2, .bytes([0, 1, 0, 0, 0, 0, 0, 0, 0])),
        "{\"$tagged\":[2,{\"$bytes\":\"AAEAAAAAAAAA\"}]}"
      ),
      (.array([]), "[]"), (.map(ValueMap()), "{}"),
    ] as [(Value, String)])
  func `each kind of value has its text`(value: Value, text: String) throws {
    #expect(value.json == text)
    #expect(try Value(json: text) == value)
  }

  @Test func `a map that looks like a form gets one more dollar`() throws {
    for name in ["$bytes", "$$bytes", "$$$$bytes"] {
      let map = try Value(json: "{\"\(name)\":\"AAE=\"}", mapping: .plain)
      #expect(map.json == "{\"$\(name)\":\"AAE=\"}")
      #expect(try Value(json: map.json) == map)
      #expect(JSONWriter(mapping: .plain).string(map) == "{\"\(name)\":\"AAE=\"}")
    }
  }

  @Test(arguments: [
    "{\"$bytes\":\"AAE\"}", "{\"$bytes\":\"AAF=\"}", "{\"$bytes\":1}",
    "{\"a\":1,\"$bytes\":\"AAE=\"}", "{\"$double\":\"nan\"}", "{\"$undefined\":false}",
    "{\"$simple\":20}", "{\"$simple\":256}", "{\"$simple\":1.0}", "{\"$tagged\":[1]}",
    "{\"$tagged\":[-1,1]}", "{\"$tagged\":[2,{\"$bytes\":\"AQAAAAAAAAAA\"}]}",
    "{\"$map\":[[\"a\",1]]}", "{\"$map\":[]}", "{\"$map\":[[2,1],[1,1]]}",
    "{\"$map\":[[1,1],[1,1]]}", "{\"$map\":[[1,1,1]]}", "{\"$\":1}", "{\"$other\":1}",
    "{\"$$double\":\"nan\"}", "{\"$\u{301}bytes\":\"AAE=\"}",
  ])
  func `what isn't exactly a form is a map and is written as it was`(text: String) throws {
    let value = try Value(json: text)
    guard case .map = value else {
      Issue.record("\(text) was read as \(value)")
      return
    }
    #expect(value.json == text)
  }

  @Test func `every value reads back from what is written`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      let value = Value.random(depth: 4, &generator)
      for style in [JSONWriter.Style.compact, .pretty] {
        for order in [JSONWriter.KeyOrder.map, .bytes] {
          let bytes = JSONWriter(style: style, keyOrder: order).bytes(value)
          let read = try Value(json: bytes)
          guard read == value else {
            Issue.record("\(String(decoding: bytes, as: UTF8.self))\nread as \(read), not \(value)")
            return
          }
        }
      }
    }
  }

  @Test func `JSON passes through unchanged with either mapping`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      let value = Value.random(depth: 4, jsonOnly: true, &generator)
      let text = JSONWriter(mapping: .plain).string(value)
      #expect(try Value(json: text, mapping: .plain) == value)
      #expect(try Value(json: text).json == text)
    }
  }

  @Test func `pretty text has two spaces a level`() throws {
    let value = try Value(
      json: "{\"bb\":[1,{}],\"a\":[],\"c\":{\"$tagged\":[9,{\"$bytes\":\"\"}]}}")
    #expect(
      JSONWriter(style: .pretty).string(value) == """
        {
          "a": [],
          "c": {
            "$tagged": [
              9,
              {"$bytes": ""}
            ]
          },
          "bb": [
            1,
            {}
          ]
        }
        """)
  }

  @Test func `keys are in map order or in byte order`() throws {
    let value = try Value(json: "{\"b\":1,\"aa\":2,\"é\":3,\"\":4}")
    #expect(value.json == "{\"\":4,\"b\":1,\"aa\":2,\"é\":3}")
    #expect(JSONWriter(keyOrder: .bytes).string(value) == "{\"\":4,\"aa\":2,\"b\":1,\"é\":3}")
  }

  @Test func `the deepest value that is read can be written on a small stack`() async throws {
    let depth = Value.jsonDepthLimit
    let text = String(repeating: "[", count: depth) + String(repeating: "]", count: depth)
    let written = await onSmallStack { (try? Value(json: text))?.json }
    #expect(written == text)
  }

  @Test(
    .enabled(if: Corpus.isAvailable, "HINDSIGHT_CORPUS is not set"),
    arguments: ["webhooks/webhooks.ndjson.gz", "editing/sveltecomponent.ndjson.gz"])
  func `real JSON lines export as they were, but for the order of keys`(name: String) throws {
    let lines = try Corpus.lines(name)
    #expect(lines.count > 200)
    var output: [UInt8] = []
    for line in lines {
      JSONWriter().write(try Value(json: line), to: &output)
      output.append(UInt8(ascii: "\n"))
    }
    let input = Array(lines.joined(separator: [UInt8(ascii: "\n")])) + [UInt8(ascii: "\n")]
    let expected = try Corpus.run("jq", ["-cS", "."], input: input)
    #expect(try Corpus.run("jq", ["-cS", "."], input: output) == expected)
  }
}
