// Pointers as RFC 6901 has them: read, written, followed and changed through.

import HindsightValue
import Testing

@Suite struct JSONPointerTests {
  private let document = """
    {"foo":["bar","baz"],"":0,"a/b":1,"c%d":2,"e^f":3,"g|h":4,"i\\\\j":5,"k\\"l":6," ":7,"m~n":8}
    """

  @Test(arguments: [
    ("/foo", "[\"bar\",\"baz\"]"), ("/foo/0", "\"bar\""), ("/", "0"), ("/a~1b", "1"),
    ("/c%d", "2"), ("/e^f", "3"), ("/g|h", "4"), ("/i\\j", "5"), ("/k\"l", "6"), ("/ ", "7"),
    ("/m~0n", "8"),
  ]) func `the examples of RFC 6901 name what they name there`(text: String, json: String) throws {
    let pointer = try JSONPointer(parsing: text)
    #expect(try Value(json: document).value(at: pointer).json == json)
    #expect(pointer.description == text)
    #expect(try Value(json: document).value(at: .root) == Value(json: document))
  }

  @Test(arguments: ["a", "/a~", "/~2", "/~~0", "~0", "/a/~"])
  func `a text that is no pointer is refused`(text: String) {
    #expect(throws: JSONPointerError.self) { try JSONPointer(parsing: text) }
    #expect((try? JSONPointer(parsing: text)) == nil)
  }

  @Test func `every list of tokens reads back from its text`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<5_000 {
      let tokens = (0..<Int.random(in: 0...5, using: &generator)).map { _ in
        Value.randomString(&generator)
      }
      let pointer = JSONPointer(tokens)
      #expect(try JSONPointer(parsing: pointer.description) == pointer)
    }
    #expect(try JSONPointer(parsing: "/~01").tokens == ["~1"])
    #expect(JSONPointer(["e\u{301}"]) != JSONPointer(["\u{e9}"]))
  }

  @Test(
    arguments: [
      ("/x", .keyNotFound, 0, "\"/x\": there is no such key"),
      ("/foo/2", .indexOutOfRange, 1, "\"/foo/2\": the array has 2 elements"),
      ("/foo/-", .indexOutOfRange, 1, "\"/foo/-\": '-' is behind the last element"),
      ("/foo/01", .invalidIndex, 1, "\"/foo/01\": an index has digits only and no leading zeros"),
      ("/foo/", .invalidIndex, 1, nil), ("/foo/-1", .invalidIndex, 1, nil),
      ("/foo/+1", .invalidIndex, 1, nil), ("/foo/１", .invalidIndex, 1, nil),
      ("/foo/99999999999999999999", .indexOutOfRange, 1, nil),
      ("/foo/0/a", .notAContainer, 2, nil), ("/foo/a/b", .invalidIndex, 1, nil),
    ] as [(String, JSONPointerError.Code, Int, String?)])
  func `an error names the token that names nothing`(
    text: String, code: JSONPointerError.Code, tokenIndex: Int, message: String?
  ) throws {
    let value = try Value(json: document)
    let pointer = try JSONPointer(parsing: text)
    let error = #expect(throws: JSONPointerError.self) { try value.value(at: pointer) }
    #expect(error?.code == code)
    #expect(error?.tokenIndex == tokenIndex)
    if let message { #expect(error?.message == message) }
    #expect(value[at: pointer] == nil)
  }

  @Test func `adding, replacing and removing change one place`() throws {
    var value = try Value(json: "{\"a\":[1,{\"b\":2}],\"c\":3}")
    #expect(try value.add(.null, at: JSONPointer(parsing: "/a/0")) == nil)
    #expect(try value.add(.bool(true), at: JSONPointer(parsing: "/a/-")) == nil)
    #expect(try value.add(.unsigned(9), at: JSONPointer(parsing: "/a/4")) == nil)
    #expect(try value.add(.unsigned(5), at: JSONPointer(parsing: "/a/2/d")) == nil)
    #expect(try value.add(.unsigned(4), at: JSONPointer(parsing: "/c")) == .unsigned(3))
    #expect(value.json == "{\"a\":[null,1,{\"b\":2,\"d\":5},true,9],\"c\":4}")
    #expect(try value.replace(at: JSONPointer(parsing: "/a/2/b"), with: .null) == .unsigned(2))
    #expect(try value.remove(at: JSONPointer(parsing: "/a/1")) == .unsigned(1))
    #expect(try value.remove(at: JSONPointer(parsing: "/c")) == .unsigned(4))
    #expect(value.json == "{\"a\":[null,{\"b\":null,\"d\":5},true,9]}")
    try value.add(.unsigned(1), at: .root)
    #expect(value == .unsigned(1))
  }

  @Test(arguments: ["/a/5", "/a/x", "/b/c", "/a/0/x", "/a/1/b/c/d", "/a/1/x/y"])
  func `a change that is refused changes nothing`(text: String) throws {
    let original = try Value(json: "{\"a\":[1,{\"b\":{}}]}")
    let pointer = try JSONPointer(parsing: text)
    var value = original
    #expect(throws: JSONPointerError.self) { try value.add(.null, at: pointer) }
    #expect(throws: JSONPointerError.self) { try value.replace(at: pointer, with: .null) }
    #expect(throws: JSONPointerError.self) { try value.remove(at: pointer) }
    #expect(throws: JSONPointerError.self) { try value.remove(at: .root) }
    #expect(value == original)
  }

  @Test func `a key that isn't a string is named by its JSON`() throws {
    var value = try Value(json: "{\"$map\":[[7,\"seven\"],[{\"$bytes\":\"AAE=\"},\"bytes\"]]}")
    #expect(try value.value(at: JSONPointer(["7"])) == .string("seven"))
    #expect(try value.value(at: JSONPointer(["{\"$bytes\":\"AAE=\"}"])) == .string("bytes"))
    #expect(value[at: JSONPointer(["07"])] == nil)
    #expect(value[at: JSONPointer(["\"7\""])] == nil)
    try value.add(.null, at: JSONPointer(["8"]))
    #expect(value[at: JSONPointer(["8"])] == .null)
    guard case .map(let map) = value else { return }
    #expect(map[.unsigned(8)] == .null)

    try value.add(.unsigned(1), at: JSONPointer(["name"]))
    try value.add(.unsigned(2), at: JSONPointer(["9"]))
    guard case .map(let mixed) = value else { return }
    #expect(mixed["name"] == .unsigned(1))
    #expect(mixed["9"] == .unsigned(2))
  }

  @Test func `changing a deep place needs no deep stack`() async throws {
    let depth = Value.jsonDepthLimit - 1
    let text = String(repeating: "[", count: depth) + "1" + String(repeating: "]", count: depth)
    let changed = await onSmallStack {
      var value = (try? Value(json: text)) ?? .null
      let pointer = JSONPointer(Array(repeating: "0", count: depth))
      return (try? value.replace(at: pointer, with: .unsigned(2))) == .unsigned(1) ? value.json : ""
    }
    #expect(changed == text.replacing("1", with: "2"))
  }
}
