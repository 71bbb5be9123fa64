// What `Codable` allows beyond the simple case: containers in turns, asked for twice, left empty.

import Foundation
import HindsightValue
import Testing

/// A type whose two halves are given as closures.
private struct Odd: Encodable {
  let body: (any Encoder) throws -> Void
  init(_ body: @escaping (any Encoder) throws -> Void) { self.body = body }
  func encode(to encoder: any Encoder) throws { try body(encoder) }
}

private enum Key: String, CodingKey { case a, b, c, d, longer }

private struct AnyKey: CodingKey {
  let stringValue: String
  let intValue: Int?
  init(stringValue: String) { (self.stringValue, intValue) = (stringValue, Int(stringValue)) }
  init(intValue: Int) { (stringValue, self.intValue) = ("\(intValue)", intValue) }
}

@Suite struct CodableTrapTests {
  private func encode(_ body: @escaping (any Encoder) throws -> Void) throws -> String {
    let bytes = try CBOREncoder().encode(Odd(body))
    #expect(try Value(encoded: bytes).encoded() == bytes)
    // The same when it is inside of something, before and after other things.
    let inside = try CBOREncoder().encode(["x": [Odd { _ in }, Odd(body), Odd { _ in }]])
    #expect(hex(inside) == "a1617883a0" + hex(bytes) + "a0")
    return hex(bytes)
  }

  @Test func `containers can be filled in turns`() throws {
    let text = try encode { encoder in
      var outer = encoder.container(keyedBy: Key.self)
      var first = outer.nestedContainer(keyedBy: Key.self, forKey: .b)
      var second = outer.nestedUnkeyedContainer(forKey: .a)
      try first.encode(1, forKey: .b)
      try second.encode("x")
      try first.encode(2, forKey: .a)
      try outer.encode(true, forKey: .c)
      var third = second.nestedContainer(keyedBy: Key.self)
      try second.encode(7)
      try third.encode(Ledger.deposited(account: "", cents: 0), forKey: .d)
      #expect(second.count == 3)
      try first.encode([1, 2], forKey: .c)
    }
    #expect(
      text == "a3 6161 83 6178 a1 6164 a1 69 6465706f7369746564 a2 65 63656e7473 00"
        .replacing(" ", with: "") + "67 6163636f756e74 60".replacing(" ", with: "")
        + "07" + "6162a3616102616201616382010261 63f5".replacing(" ", with: ""))
  }

  @Test func `a super encoder can be used late, or not at all`() throws {
    let late = try encode { encoder in
      var outer = encoder.container(keyedBy: Key.self)
      let parent = outer.superEncoder()
      try outer.encode(1, forKey: .a)
      let named = outer.superEncoder(forKey: .b)
      var other = parent.container(keyedBy: Key.self)
      try other.encode(2, forKey: .a)
      try named.singleValueContainer().encodeOne(3)
    }
    #expect(late == "a3616101616203657375706572a1616102")
    #expect(
      try encode { encoder in
        var outer = encoder.container(keyedBy: Key.self)
        _ = outer.superEncoder()
        _ = outer.nestedUnkeyedContainer(forKey: .b)
        _ = outer.nestedContainer(keyedBy: Key.self, forKey: .a)
      } == "a36161a061628065" + "7375706572a0")
    #expect(
      try encode { encoder in
        var outer = encoder.unkeyedContainer()
        let first = outer.superEncoder()
        _ = outer.superEncoder()
        try outer.encode(1)
        try first.singleValueContainer().encodeOne("é")
      } == "8362c3a9a001")
  }

  @Test func `an encoder asked twice gives the same container`() throws {
    #expect(
      try encode { encoder in
        var first = encoder.container(keyedBy: Key.self)
        try first.encode(1, forKey: .b)
        var second = encoder.container(keyedBy: AnyKey.self)
        try second.encode(2, forKey: AnyKey(stringValue: "aa"))
        try first.encode(3, forKey: .a)
      } == "a361610361620162616102")
    #expect(
      try encode { encoder in
        var first = encoder.unkeyedContainer()
        var inner = first.nestedUnkeyedContainer()
        try inner.encode(1)
        var second = encoder.unkeyedContainer()
        try second.encode(2)
      } == "82810102")
    #expect(
      try encode { encoder in
        try ["b": 1].encode(to: encoder)
        try ["a": 2].encode(to: encoder)
      } == "a2616102616201")
  }

  @Test func `the last value of a key counts, and its container is one`() throws {
    #expect(
      try encode { encoder in
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .b)
        try container.encode(2, forKey: .a)
        try container.encode("x", forKey: .b)
      } == "a26161026162617 8".replacing(" ", with: ""))
    #expect(
      try encode { encoder in
        var container = encoder.container(keyedBy: Key.self)
        var first = container.nestedContainer(keyedBy: Key.self, forKey: .a)
        try first.encode(1, forKey: .a)
        var again = container.nestedContainer(keyedBy: Key.self, forKey: .a)
        try again.encode(2, forKey: .b)
        try first.encode(3, forKey: .c)
      } == "a16161a3616101616202616303")
  }

  @Test func `an intValue is never used`() throws {
    #expect(
      try encode { encoder in
        var container = encoder.container(keyedBy: AnyKey.self)
        try container.encode(1, forKey: AnyKey(stringValue: "05"))
        try container.encode(2, forKey: AnyKey(intValue: 5))
      } == "a261350262303501")
  }

  @Test func `two values in one place are an error, not broken bytes`() throws {
    let misuses: [(any Encoder) throws -> Void] = [
      { encoder in
        try encoder.singleValueContainer().encodeOne(1)
        try encoder.singleValueContainer().encodeOne(2)
      },
      { encoder in
        _ = encoder.unkeyedContainer()
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
      },
      { encoder in
        var container = encoder.container(keyedBy: Key.self)
        try container.encode(1, forKey: .a)
        try encoder.singleValueContainer().encodeOne(2)
      },
      { encoder in
        try encoder.singleValueContainer().encodeOne(2)
        _ = encoder.unkeyedContainer()
      },
    ]
    for misuse in misuses {
      #expect(throws: EncodingError.self) { try CBOREncoder().encode(Odd(misuse)) }
      #expect(throws: EncodingError.self) { try CBOREncoder().encode([Odd(misuse)]) }
    }
    // The encoder is as good as new after an error.
    #expect(try hex(CBOREncoder().encode([1])) == "8101")
  }

  @Test func `an error that is caught leaves no bytes`() throws {
    struct Failure: Error {}
    let failing = Odd { encoder in
      var container = encoder.container(keyedBy: Key.self)
      try container.encode([1, 2], forKey: .b)
      var inner = container.nestedUnkeyedContainer(forKey: .a)
      try inner.encode(3)
      throw Failure()
    }
    #expect(throws: Failure.self) { try CBOREncoder().encode(failing) }
    #expect(
      try encode { encoder in
        var container = encoder.container(keyedBy: Key.self)
        try? container.encode(failing, forKey: .b)
        try container.encode(1, forKey: .a)
        try? container.encode([failing], forKey: .c)
        try? container.encode(["x": failing], forKey: .d)
      } == "a46161016162a06163a06164a0")
    var writer = CBORWriter()
    writer.append(1)
    #expect(throws: Failure.self) { try CBOREncoder().encode(failing, into: &writer) }
    #expect(writer.bytes == [1])
  }

  @Test func `a container that outlives its call throws, and harms nothing`() throws {
    final class Leak: @unchecked Sendable {
      var keyed: [KeyedEncodingContainer<Key>] = []
      var unkeyed: (any UnkeyedEncodingContainer)?
      var encoder: (any Encoder)?
      var reading: [KeyedDecodingContainer<Key>] = []
      var items: (any UnkeyedDecodingContainer)?
      var decoder: (any Decoder)?
    }
    let leak = Leak()
    let leaking = Odd { encoder in
      var container = encoder.container(keyedBy: Key.self)
      leak.unkeyed = container.nestedUnkeyedContainer(forKey: .a)
      leak.keyed.append(container)
      leak.encoder = encoder
    }
    for _ in 0..<50 { #expect(try hex(CBOREncoder().encode(leaking)) == "a1616180") }
    let during = Odd { encoder in
      var container = encoder.container(keyedBy: Key.self)
      for index in leak.keyed.indices {
        #expect(throws: EncodingError.self) { try leak.keyed[index].encode(1, forKey: .b) }
        var dead = leak.keyed[index].nestedContainer(keyedBy: Key.self, forKey: .c)
        #expect(throws: (any Error).self) { try dead.encode(1, forKey: .b) }
      }
      #expect(throws: EncodingError.self) { try leak.unkeyed?.encode(1) }
      #expect(throws: EncodingError.self) { try leak.encoder?.singleValueContainer().encodeOne(1) }
      try container.encode(2, forKey: .b)
    }
    #expect(try hex(CBOREncoder().encode(during)) == "a1616202")
    #expect(leak.unkeyed?.count == 0)
    #expect(leak.encoder?.codingPath.count == 0)

    struct Reading: Decodable {
      init(from decoder: any Decoder) throws {
        let leak = decoder.userInfo[CodingUserInfoKey(rawValue: "leak")!] as! Leak
        let container = try decoder.container(keyedBy: Key.self)
        leak.items = try container.nestedUnkeyedContainer(forKey: .a)
        leak.reading.append(container)
        leak.decoder = decoder
      }
    }
    var decoder = CBORDecoder()
    decoder.userInfo[CodingUserInfoKey(rawValue: "leak")!] = leak
    for _ in 0..<50 { _ = try decoder.decode(Reading.self, from: unhex("a1 6161 8101")) }
    for container in leak.reading {
      #expect(throws: DecodingError.self) { try container.decode([Int].self, forKey: .a) }
      #expect(container.allKeys.isEmpty)
      #expect(!container.contains(.a))
    }
    #expect(throws: DecodingError.self) { try leak.items?.decode(Int.self) }
    #expect(throws: DecodingError.self) {
      try leak.decoder?.singleValueContainer().decode(Int.self)
    }
    #expect(throws: DecodingError.self) { try leak.decoder?.container(keyedBy: Key.self) }
  }

  @Test func `a coder can be used inside of a type's own coding`() throws {
    let nested = Odd { encoder in
      var container = encoder.singleValueContainer()
      let inner = try CBOREncoder().encode(["k": [1, 2, 3]])
      let back = try CBORDecoder().decode([String: [Int]].self, from: inner)
      try container.encode(back)
    }
    #expect(try hex(CBOREncoder().encode([nested, nested])) == "82a1616b83010203a1616b83010203")
  }

  @Test func `classes flatten or nest their superclass`() throws {
    class Base: Codable {
      var a = 1
      init() {}
    }
    final class Derived: Base {
      var b = 2
      private enum CodingKeys: CodingKey { case b }
      override init() { super.init() }
      override func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(b, forKey: .b)
        try super.encode(to: container.superEncoder())
      }
      required init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        b = try container.decode(Int.self, forKey: .b)
        try super.init(from: container.superDecoder())
      }
    }
    let value = Derived()
    (value.a, value.b) = (7, 8)
    let back = try roundTrip(value)
    #expect((back.a, back.b) == (7, 8))
    #expect(throws: DecodingError.self) {
      try CBORDecoder().decode(Derived.self, from: unhex("a1 6162 01"))
    }
  }
}

extension SingleValueEncodingContainer {
  fileprivate func encodeOne<T: Encodable>(_ value: T) throws {
    var copy = self
    try copy.encode(value)
  }
}
