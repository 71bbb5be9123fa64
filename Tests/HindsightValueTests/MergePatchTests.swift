// Merge patches do what RFC 7396 says, in place.

import HindsightValue
import Testing

@Suite struct MergePatchTests {
  @Test(arguments: [
    ("{\"a\":\"b\"}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"),
    ("{\"a\":\"b\"}", "{\"b\":\"c\"}", "{\"a\":\"b\",\"b\":\"c\"}"),
    ("{\"a\":\"b\"}", "{\"a\":null}", "{}"),
    ("{\"a\":\"b\",\"b\":\"c\"}", "{\"a\":null}", "{\"b\":\"c\"}"),
    ("{\"a\":[\"b\"]}", "{\"a\":\"c\"}", "{\"a\":\"c\"}"),
    ("{\"a\":\"c\"}", "{\"a\":[\"b\"]}", "{\"a\":[\"b\"]}"),
    ("{\"a\":{\"b\":\"c\"}}", "{\"a\":{\"b\":\"d\",\"c\":null}}", "{\"a\":{\"b\":\"d\"}}"),
    ("{\"a\":[{\"b\":\"c\"}]}", "{\"a\":[1]}", "{\"a\":[1]}"),
    ("[\"a\",\"b\"]", "[\"c\",\"d\"]", "[\"c\",\"d\"]"),
    ("{\"a\":\"b\"}", "[\"c\"]", "[\"c\"]"),
    ("{\"a\":\"foo\"}", "null", "null"),
    ("{\"a\":\"foo\"}", "\"bar\"", "\"bar\""),
    ("{\"e\":null}", "{\"a\":1}", "{\"a\":1,\"e\":null}"),
    ("[1,2]", "{\"a\":\"b\",\"c\":null}", "{\"a\":\"b\"}"),
    ("{}", "{\"a\":{\"bb\":{\"ccc\":null}}}", "{\"a\":{\"bb\":{}}}"),
    ("{\"a\":1}", "{\"a\":{\"b\":[null,{\"c\":null}]}}", "{\"a\":{\"b\":[null,{\"c\":null}]}}"),
    (
      "{\"a\":{\"b\":{\"x\":1},\"c\":2}}", "{\"a\":{\"b\":{},\"c\":{}}}",
      "{\"a\":{\"b\":{\"x\":1},\"c\":{}}}"
    ),
    ("{\"a\":1}", "{}", "{\"a\":1}"),
    (
      "{\"$map\":[[1,{\"a\":1}],[2,2]]}", "{\"$map\":[[1,{\"b\":2}],[2,null]]}",
      "{\"$map\":[[1,{\"a\":1,\"b\":2}]]}"
    ),
  ]) func `a patch merges as RFC 7396 says`(target: String, patch: String, result: String) throws {
    var value = try Value(json: target)
    value.applyMergePatch(try Value(json: patch))
    #expect(value == (try Value(json: result)))
  }

  /// The function of RFC 7396, section 2, as it stands there.
  private func merged(_ target: Value, _ patch: Value) -> Value {
    guard case .map(let changes) = patch else { return patch }
    var result = ValueMap()
    if case .map(let map) = target { result = map }
    for pair in changes.pairs {
      if pair.value == .null {
        result[pair.key] = nil
      } else {
        result[pair.key] = merged(result[pair.key] ?? .undefined, pair.value)
      }
    }
    return .map(result)
  }

  @Test func `merging in place gives what the RFC's function gives`() {
    var generator = SeededGenerator.forTest()
    for _ in 0..<10_000 {
      let target = Value.random(depth: 4, &generator)
      let patch = generator.chance(30) ? target : Value.random(depth: 4, &generator)
      var value = target
      value.applyMergePatch(patch)
      guard value == merged(target, patch) else {
        Issue.record("\(patch.json) applied to \(target.json) gave \(value.json)")
        return
      }
    }
  }

  @Test func `a deep patch needs no deep stack`() async throws {
    let depth = Value.jsonDepthLimit
    let text =
      String(repeating: "{\"a\":", count: depth) + "1" + String(repeating: "}", count: depth)
    let merged = await onSmallStack {
      guard let patch = try? Value(json: text) else { return "" }
      var value = Value.null
      value.applyMergePatch(patch)
      value.applyMergePatch(patch)
      return value.json
    }
    #expect(merged == text)
  }
}
