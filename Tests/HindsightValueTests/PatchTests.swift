// Patches do what RFC 6902 says, all or nothing.

import HindsightValue
import Testing

@Suite struct PatchTests {
  private func patched(_ document: String, _ patch: String) throws -> Value {
    var value = try Value(json: document)
    try value.apply(JSONPatch(try Value(json: patch)))
    return value
  }

  private func error(_ document: String, _ patch: String) -> JSONPatchError? {
    do {
      _ = try patched(document, patch)
      return nil
    } catch { return error as? JSONPatchError }
  }

  @Test(
    .enabled(if: Corpus.isAvailable, "HINDSIGHT_CORPUS is not set"),
    arguments: [("spec_tests", 16), ("tests", 92)])
  func `all enabled records of the json-patch suite pass`(name: String, count: Int) throws {
    var text = String(decoding: try Corpus.bytes("json-patch/\(name).json"), as: UTF8.self)
    // Two disabled records have the key `op` twice, which the reader refuses.
    text.replace(/("value": "qux",\s*)"op"/) { "\($0.1)\"op2\"" }
    guard case .array(let records) = try Value(json: text, mapping: .plain) else { return }
    var done = 0
    for case .map(let record) in records where record["disabled"] != .bool(true) {
      var value = try #require(record["doc"])
      let original = value
      let comment = "\(record["comment"] ?? .null): \(record["patch"]?.json ?? "")"
      if record["error"] != nil {
        #expect(throws: JSONPatchError.self, "\(comment)") {
          try value.apply(JSONPatch(try #require(record["patch"])))
        }
        #expect(value == original, "\(comment)")
      } else {
        let patch = try JSONPatch(try #require(record["patch"]))
        try value.apply(patch)
        if let expected = record["expected"] { #expect(value == expected, "\(comment)") }
        #expect(try JSONPatch(patch.value) == patch)
      }
      done += 1
    }
    #expect(done == count)
  }

  @Test(
    arguments: [
      ("{}", "{}", .invalidDocument, nil, nil), ("{}", "[1]", .invalidDocument, 0, nil),
      ("{}", "[{\"path\":\"/a\"}]", .invalidDocument, 0, nil),
      ("{}", "[{\"op\":\"add\",\"path\":\"a\",\"value\":1}]", .invalidDocument, 0, "a"),
      (
        "{\"a\":1}",
        "[{\"op\":\"test\",\"path\":\"/a\",\"value\":1},{\"op\":\"remove\",\"path\":\"/b\"}]",
        .placeNotFound, 1, "/b"
      ),
      ("[1]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":2}]", .testFailed, 0, "/0"),
      ("[1]", "[{\"op\":\"remove\",\"path\":\"\"}]", .placeNotFound, 0, ""),
      (
        "{\"a\":{}}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a/b\"}]", .moveIntoItself, 0,
        "/a/b"
      ),
      ("{}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]", .placeNotFound, 0, "/a"),
    ] as [(String, String, JSONPatchError.Code, Int?, String?)])
  func `an error names the operation and the pointer`(
    document: String, patch: String, code: JSONPatchError.Code, index: Int?, pointer: String?
  ) {
    let found = error(document, patch)
    #expect(found?.code == code)
    #expect(found?.operationIndex == index)
    #expect(found?.pointer == pointer)
  }

  @Test(arguments: [
    ("1", "1.0", true), ("-0.0", "0", true),
    ("18446744073709551616", "18446744073709551616.0", true),
    ("-18446744073709551616", "-18446744073709551616.0", true),
    ("-18446744073709551617", "-18446744073709551616.0", false),
    ("-36893488147419103232", "-36893488147419103232.0", true),
    ("9007199254740993", "9007199254740992.0", false), ("1", "1.5", false), ("1", "\"1\"", false),
    ("{\"a\":[1,{\"b\":2}]}", "{\"a\":[1.0,{\"b\":2e0}]}", true), ("[1]", "[1,1]", false),
    ("1e30", "1000000000000000019884624838656", true),
    ("1e30", "1" + String(repeating: "0", count: 30), false),
    ("{\"e\u{301}\":1}", "{\"\u{e9}\":1}", false),
    ("{\"$double\":\"NaN\"}", "{\"$double\":\"NaN\"}", true),
    ("{\"$double\":\"Infinity\"}", "0", false),
  ]) func `a test compares numbers by what they count`(left: String, right: String, isEqual: Bool) {
    for (a, b) in [(left, right), (right, left)] {
      let found = error("[\(a)]", "[{\"op\":\"test\",\"path\":\"/0\",\"value\":\(b)}]")
      #expect(found?.code == (isEqual ? nil : .testFailed))
    }
  }

  @Test func `a move goes where the removal leaves room`() throws {
    #expect(
      try patched("[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/2\"}]").json
        == "[2,3,1]")
    #expect(
      try patched("{\"a\":1}", "[{\"op\":\"move\",\"from\":\"/a\",\"path\":\"/a\"}]").json
        == "{\"a\":1}")
    #expect(
      error("[1,2,3]", "[{\"op\":\"move\",\"from\":\"/0\",\"path\":\"/3\"}]")?.code
        == .placeNotFound)
  }

  @Test func `a patch that fails at its end leaves everything as it was`() throws {
    var generator = SeededGenerator.forTest()
    var count = 0
    for _ in 0..<5_000 {
      let original = Value.random(depth: 4, &generator)
      var value = original
      var patch = JSONPatch(from: original, to: Value.random(depth: 4, &generator))
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        guard let (pointer, inner) = value.randomPlace(&generator) else { continue }
        let operations: [JSONPatch.Operation] = [
          .remove(pointer), .replace(pointer, .null), .add(pointer, inner),
          .copy(from: pointer, to: .root),
          .move(from: pointer, to: JSONPointer(["a"])), .copy(from: .root, to: pointer),
          .move(from: pointer, to: pointer),
        ]
        patch.operations.append(operations.randomElement(using: &generator)!)
      }
      patch.operations.append(.test(.root, .string("never")))
      #expect(throws: JSONPatchError.self) { try value.apply(patch) }
      guard value == original else {
        Issue.record("\(patch.value.json) changed \(original.json) to \(value.json)")
        return
      }
      count += patch.operations.count
    }
    #expect(count > 5_000)
  }

  @Test func `a short patch can't make a value deep or large without bound`() throws {
    let add = JSONPatch.Operation.add(JSONPointer(["a"]), .map(ValueMap()))
    let deep = JSONPatch.Operation.copy(from: .root, to: JSONPointer(["a"]))
    var value = Value.map(ValueMap())
    try value.apply(JSONPatch([add] + Array(repeating: deep, count: Value.jsonDepthLimit - 2)))
    #expect(try Value(json: value.json) == value)
    let before = value
    let tooDeep = #expect(throws: JSONPatchError.self) { try value.apply(JSONPatch([deep])) }
    #expect(tooDeep?.code == .tooDeep)
    #expect(value == before)

    var wide = Value.array([.array([])])
    let double = JSONPatch.Operation.copy(from: .root, to: JSONPointer(["-"]))
    let tooLarge = #expect(throws: JSONPatchError.self) {
      try wide.apply(JSONPatch(Array(repeating: double, count: 60)))
    }
    #expect(tooLarge?.code == .tooLarge)
    #expect(wide.json == "[[]]")
  }
}

extension Value {
  /// A random place inside this value.
  func randomPlace(_ generator: inout SeededGenerator) -> (JSONPointer, Value)? {
    switch self {
    case .array(let items):
      guard let index = items.indices.randomElement(using: &generator) else { return nil }
      return items[index].placed(JSONPointer([String(index)]), &generator)
    case .map(let map):
      guard let pair = map.pairs.randomElement(using: &generator) else { return nil }
      let token = if case .string(let text) = pair.key { text } else { pair.key.json }
      return pair.value.placed(JSONPointer([token]), &generator)
    default: return nil
    }
  }

  private func placed(
    _ pointer: JSONPointer, _ generator: inout SeededGenerator
  ) -> (JSONPointer, Value) {
    guard generator.chance(50), let (inner, value) = randomPlace(&generator) else {
      return (pointer, self)
    }
    return (JSONPointer(pointer.tokens + inner.tokens), value)
  }
}
