// Errors say where in the value, and nesting is limited by them.

import Foundation
import HindsightValue
import Testing

@Suite struct CodableErrorTests {
  private struct Inner: Codable, Equatable { var numbers: [Int8] }
  private struct Outer: Codable, Equatable { var list: [[String: Inner]] }
  private final class Node: Codable {
    var next: Node?
    init(_ next: Node?) { self.next = next }
  }
  private indirect enum Chain: Codable {
    case end
    case link(to: Chain)
  }

  private func path(_ error: any Error) -> [String] {
    switch error {
    case DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context),
      DecodingError.keyNotFound(_, let context), DecodingError.dataCorrupted(let context):
      context.codingPath.map(\.stringValue)
    case EncodingError.invalidValue(_, let context): context.codingPath.map(\.stringValue)
    default: ["?"]
    }
  }

  private func decodingPath<T: Decodable>(_ type: T.Type, _ value: Value) throws -> [String] {
    let bytes = try value.encoded()
    do {
      _ = try CBORDecoder().decode(type, from: bytes)
      return ["none"]
    } catch {
      return path(error)
    }
  }

  private func map(_ key: String, _ value: Value) -> Value {
    var map = ValueMap()
    map[key] = value
    return .map(map)
  }

  @Test func `a decoding error has the path to what is wrong`() throws {
    func outer(_ numbers: Value) -> Value {
      map(
        "list", .array([map("ok", map("numbers", .array([]))), map("k", map("numbers", numbers))]))
    }
    let here = ["list", "Index 1", "k", "numbers"]
    #expect(try decodingPath(Outer.self, outer(.array([.unsigned(1)]))) == ["none"])
    #expect(try decodingPath(Outer.self, outer(.string("x"))) == here)
    #expect(try decodingPath(Outer.self, outer(.null)) == here)
    let wide = Value.array([.unsigned(1), .unsigned(2), .unsigned(128)])
    #expect(try decodingPath(Outer.self, outer(wide)) == here + ["Index 2"])
    #expect(
      try decodingPath(Outer.self, map("list", .array([map("k", map("x", .null))])))
        == ["list", "Index 0", "k"])
    #expect(try decodingPath(Outer.self, .array([])) == [])
  }

  @Test func `null is a missing value, another type a mismatch, too large a number corrupt`() throws
  {
    func kind(_ text: String) -> String {
      do {
        _ = try CBORDecoder().decode(Int8.self, from: unhex(text))
        return "none"
      } catch DecodingError.valueNotFound {
        return "not found"
      } catch DecodingError.typeMismatch {
        return "mismatch"
      } catch DecodingError.dataCorrupted {
        return "corrupted"
      } catch { return "?" }
    }
    #expect(kind("f6") == "not found")
    #expect(kind("6161") == "mismatch")
    #expect(kind("1880") == "corrupted")
    #expect(kind("18") == "corrupted")
    #expect(kind("") == "corrupted")
    #expect(kind("f97e00") == "corrupted")
    #expect(kind("f93e00") == "corrupted")
    #expect(kind("f94000") == "none")
    #expect(kind("d9d9f705") == "none")
  }

  @Test func `containers know their paths while encoding and decoding`() throws {
    enum Key: String, CodingKey { case a, b }
    struct Probe: Codable {
      init() {}
      func encode(to encoder: any Encoder) throws {
        #expect(encoder.codingPath.map(\.stringValue) == ["k", "Index 1"])
        var outer = encoder.container(keyedBy: Key.self)
        try outer.encode(1, forKey: .b)
        var inner = outer.nestedUnkeyedContainer(forKey: .a)
        try inner.encode(2)
        #expect(outer.codingPath.map(\.stringValue) == ["k", "Index 1"])
        #expect(inner.codingPath.map(\.stringValue) == ["k", "Index 1", "a"])
        #expect(
          inner.superEncoder().codingPath.map(\.stringValue) == ["k", "Index 1", "a", "Index 1"])
      }
      init(from decoder: any Decoder) throws {
        #expect(decoder.codingPath.map(\.stringValue) == ["k", "Index 1"])
        let outer = try decoder.container(keyedBy: Key.self)
        var inner = try outer.nestedUnkeyedContainer(forKey: .a)
        #expect(inner.codingPath.map(\.stringValue) == ["k", "Index 1", "a"])
        #expect(inner.count == 2)
        _ = try inner.decode(Int.self)
        #expect(inner.currentIndex == 1)
        #expect(
          try inner.superDecoder().codingPath.map(\.stringValue) == [
            "k", "Index 1", "a", "Index 1",
          ])
        #expect(inner.isAtEnd)
        #expect(throws: DecodingError.self) { try inner.decode(Int.self) }
      }
    }
    let first: [Probe?] = [nil, Probe()]
    let bytes = try CBOREncoder().encode(["k": first])
    #expect(hex(bytes) == "a1616b82f6a261618202a0616201")
    _ = try CBORDecoder().decode([String: [Probe?]].self, from: bytes)
  }

  @Test func `different keys of one encoding are an error with a path`() throws {
    struct Same: Codable, Hashable {
      var hidden: Int
      func encode(to encoder: any Encoder) throws {}
      init(_ hidden: Int) { self.hidden = hidden }
      init(from decoder: any Decoder) throws { hidden = 0 }
    }
    let error = #expect(throws: EncodingError.self) {
      try CBOREncoder().encode(["a": [Same(1): 1, Same(2): 2]])
    }
    #expect(path(try #require(error)) == ["a"])
  }

  @Test func `nesting is limited by an error, on the smallest of stacks`() async throws {
    func chain(_ length: Int) -> Node { (0..<length).reduce(Node(nil)) { node, _ in Node(node) } }
    func links(_ length: Int) -> Chain {
      (0..<length).reduce(.end) { chain, _ in .link(to: chain) }
    }
    func check() throws {
      #expect(throws: EncodingError.self) { try CBOREncoder().encode(chain(700)) }
      #expect(throws: EncodingError.self) { try CBOREncoder().encode(links(700)) }
      _ = try CBORDecoder().decode(Node.self, from: CBOREncoder().encode(chain(40)))
      for text in ["a1646e657874", "a1646c696e6ba162746f", "81", "c1", "9f", "a100", "bf00"] {
        let bytes = [UInt8]((0..<100_000).map { _ in unhex(text) }.joined())
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Node.self, from: bytes) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Chain.self, from: bytes) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(Value.self, from: bytes) }
        #expect(throws: CBORError.self) { try Value(encoded: bytes) }
        #expect(throws: DecodingError.self) { try CBORDecoder().decode([Int].self, from: bytes) }
      }
      var value = Value.null
      for _ in 0..<512 { value = .array([value]) }
      #expect(try CBORDecoder().decode(Value.self, from: CBOREncoder().encode(value)) == value)
      #expect(throws: EncodingError.self) { try CBOREncoder().encode([value]) }
      #expect(throws: CBORError.self) { try Value.array([value]).encoded() }
      let deep = [UInt8](repeating: 0x81, count: 513) + [0]
      #expect(throws: CBORError.self) { try Value(encoded: deep) }
      #expect(try Value(encoded: Array(deep.dropFirst())).encoded() == Array(deep.dropFirst()))
    }
    try await onThread(stackSizeBytes: 512 << 10, check)
    try await onThread(stackSizeBytes: 8 << 20) {
      // Where the stack is not what limits, 512 levels are.
      _ = try CBORDecoder().decode(Node.self, from: CBOREncoder().encode(chain(511)))
      _ = try CBORDecoder().decode(Chain.self, from: CBOREncoder().encode(links(255)))
    }
  }

  private func onThread(
    stackSizeBytes: Int, _ body: @escaping () throws -> Void
  ) async throws {
    nonisolated(unsafe) let body = body
    let result = await withCheckedContinuation { continuation in
      let thread = Thread { continuation.resume(returning: Result { try body() }) }
      thread.stackSize = stackSizeBytes
      thread.start()
    }
    try result.get()
  }
}
