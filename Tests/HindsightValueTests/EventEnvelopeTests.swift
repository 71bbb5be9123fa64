// Events are taken apart and put together again without a byte of difference.

import HindsightValue
import Testing

@Suite struct EventEnvelopeTests {
  private enum Outer: Codable {
    case ledger(Ledger)
    case plain
    case number(Int)
    case point(Point)
    case deep(Middle)
  }
  private enum Middle: Codable {
    case inner(Ledger)
    case record(Holder)
  }
  private struct Holder: Codable {
    var held: Point
  }

  private func probe(_ bytes: [UInt8]) -> (EventEnvelope.Form, String, [UInt8]) {
    var name: [UInt8] = Array("something from before".utf8)
    return bytes.withUnsafeBytes { buffer in
      let envelope = EventEnvelope.probe(buffer, name: &name)
      var writer = CBORWriter()
      let payload = UnsafeRawBufferPointer(rebasing: buffer[envelope.payload])
      name.withUnsafeBytes {
        EventEnvelope.append(envelope.form, name: $0, payload: payload, to: &writer)
      }
      #expect(writer.bytes == bytes)
      return (envelope.form, String(decoding: name, as: UTF8.self), Array(payload))
    }
  }

  private func probe(_ event: some Encodable) throws -> (EventEnvelope.Form, String, Value?) {
    let (form, name, payload) = probe(try CBOREncoder().encode(event))
    return (form, name, payload.isEmpty ? nil : try Value(encoded: payload))
  }

  private func map(_ pairs: [String: Value]) -> Value {
    var map = ValueMap()
    for (key, value) in pairs { map[key] = value }
    return .map(map)
  }

  @Test func `an enum's case is the type, its values the payload`() throws {
    let found = try probe(Ledger.deposited(account: "alice", cents: 5))
    #expect(
      found == (.enveloped, "deposited", map(["account": .string("alice"), "cents": .integer(5)])))
    #expect(try probe(Outer.plain) == (.enveloped, "plain", map([:])))
    #expect(try probe(Outer.number(7)) == (.enveloped, "number", map(["_0": .integer(7)])))
    #expect(try probe(Outer.point(Point(x: 1, y: 2))).1 == "point")
  }

  @Test func `an enum of enums joins its cases' names`() throws {
    let found = try probe(Outer.ledger(.withdrawn(account: "bob", cents: 1)))
    #expect(
      found == (
        .nested, "ledger.withdrawn", map(["account": .string("bob"), "cents": .integer(1)])
      ))
    let deep = try probe(Outer.deep(.inner(.deposited(account: "", cents: 0))))
    #expect(deep.0 == .nested)
    #expect(deep.1 == "deep.inner.deposited")
    let held = try probe(Outer.deep(.record(Holder(held: Point(x: 1, y: 2)))))
    #expect(held == (.nested, "deep.record.held", map(["x": .integer(1), "y": .integer(2)])))
  }

  @Test func `a raw value is the type, without a payload`() throws {
    #expect(try probe(Raw.north) == (.bare, "north", nil))
    let long = String(repeating: "é", count: 300)
    #expect(try probe(long) == (.bare, long, nil))
  }

  @Test(arguments: [
    "", "60", "05", "a0", "f6", "80", "a1 6161 05", "a1 60 a0", "a1 01 a0", "a2 6161 a0 6162 a0",
    "7801 61", "a1 7801 61 a0", "bf 6161 a0 ff", "a1 7f 6161 ff a0", "61ff", "a1 61ff a0", "a1",
    "a1 61", "a1 6161", "6161 00", "62 61", "c1 a1 6161 a0",
  ])
  func `what isn't recognised is the whole`(_ text: String) {
    let bytes = unhex(text)
    #expect(probe(bytes) == (.whole, "", bytes))
  }

  @Test func `a key with a dot isn't joined`() {
    #expect(probe(unhex("a1 63612e62 a1 625f30 a1 6163 a0")).0 == .enveloped)
    let partly = probe(unhex("a1 6161 a1 625f30 a1 6162 a1 625f30 a1 632e6363 a0"))
    #expect(partly.0 == .nested)
    #expect(partly.1 == "a.b")
    #expect(probe(unhex("a1 6161 a1 625f30 a1 60 a0")).0 == .enveloped)
  }

  @Test func `any bytes come back as they were`() throws {
    var random = SeededGenerator.forTest("envelopes")
    let keys = ["a", "", "_0", "x.y", ".", "é", String(repeating: "k", count: 30)]
    func nest(_ depth: Int) -> Value {
      guard depth > 0, random.below(6) > 0 else { return random.value(depth: 1) }
      let key: Value =
        random.below(8) == 0 ? random.value(depth: 0) : .string(keys[random.below(7)])
      var map = ValueMap()
      map[key] = nest(depth - 1)
      if random.below(8) == 0 { map["other"] = .null }
      return .map(map)
    }
    var seen: Set<EventEnvelope.Form> = []
    for _ in 0..<5_000 {
      var bytes = try nest(8).encoded()
      seen.insert(probe(bytes).0)
      if !bytes.isEmpty { bytes[random.below(bytes.count)] = UInt8(random.below(256)) }
      _ = probe(Array(bytes.prefix(random.below(bytes.count + 1))))
      _ = probe(bytes)
    }
    #expect(seen == [.whole, .enveloped, .nested, .bare])
  }
}
