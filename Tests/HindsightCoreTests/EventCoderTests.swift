// How events become a type and a payload, and come back.

import HindsightCore
import HindsightValue
import Testing

@Suite struct EventCoderTests {
  enum Flat: Codable, Sendable, Equatable {
    case opened
    case moved(x: Int, y: Int)
    case named(String)
  }

  enum Outer: Codable, Sendable, Equatable {
    case flat(Flat)
    case other(value: Int)
  }

  enum Raw: String, Codable, Sendable, Equatable {
    case on
    case off
  }

  struct Plain: Codable, Sendable, Equatable {
    var a = 1
    var b = "two"
  }

  private func check<Event: Codable & Sendable & Equatable>(
    _ event: Event, _ name: String, _ form: EventForm
  ) throws {
    let coder = EventCoder<Event>(eventTypeName: "plain")
    var frames = EventFrames()
    try coder.encode(event, metadata: .none, into: &frames)
    #expect(frames.frames[0].type == EventType(name: name, form: form))
    var scratch = CBORWriter()
    let decoded = try coder.decode(
      type: frames.frames[0].type, payload: frames.arena.span.bytes, scratch: &scratch)
    #expect(decoded == event)
    let imported = try coder.importedEvent(
      typeName: name, payload: form == .bare ? nil : frames.arena)
    #expect(imported == event)
  }

  @Test func `the type is the case's name where the encoding names one`() throws {
    try check(Flat.opened, "opened", .enveloped)
    try check(Flat.moved(x: 1, y: -2), "moved", .enveloped)
    try check(Flat.named("x"), "named", .enveloped)
    try check(Outer.flat(.moved(x: 1, y: 2)), "flat.moved", .nested)
    try check(Outer.other(value: 3), "other", .enveloped)
    try check(Raw.off, "off", .bare)
    try check(Plain(), "plain", .whole)
    try check(42, "plain", .whole)
    try check(["a": ["b": 1]], "a", .enveloped)
  }

  @Test func `an unknown case and a payload that doesn't fit are told apart`() throws {
    func kind<Event: Codable & Sendable>(
      _ type: Event.Type, _ name: String, _ form: EventForm, _ payload: Value
    ) throws -> EventDecodingError.Kind? {
      let bytes = try payload.encoded()
      var scratch = CBORWriter()
      let error = #expect(throws: EventDecodingError.self) {
        _ = try EventCoder<Event>(eventTypeName: "plain").decode(
          type: EventType(name: name, form: form), payload: bytes.span.bytes, scratch: &scratch)
      }
      return error?.kind
    }
    let empty = Value.map(ValueMap())
    #expect(try kind(Flat.self, "closed", .enveloped, empty) == .unknownType)
    #expect(try kind(Flat.self, "moved", .enveloped, empty) == .undecodable)
    #expect(try kind(Outer.self, "flat.closed", .nested, empty) == .unknownType)
    #expect(try kind(Outer.self, "round.moved", .nested, empty) == .unknownType)
    #expect(try kind(Outer.self, "flat.moved", .nested, empty) == .undecodable)
    #expect(try kind(Raw.self, "dim", .bare, empty) == .unknownType)
    #expect(try kind(Plain.self, "plain", .whole, empty) == .undecodable)
    #expect(try kind(Flat.self, "hindsight.rewind", .control, empty) == .unknownControlEvent)
  }

  @Test func `an import that would lose a part of the payload is refused`() throws {
    var map = ValueMap()
    map["x"] = .unsigned(1)
    map["y"] = .unsigned(2)
    map["z"] = .unsigned(3)
    let payload = try Value.map(map).encoded()
    let error = #expect(throws: HindsightError.self) {
      try EventCoder<Flat>(eventTypeName: "plain").importedEvent(
        typeName: "moved", payload: payload)
    }
    #expect(error?.code == .undecodableEvent)
  }
}
