// Whatever a `Codable` type does, it comes back as it was.

import Foundation
import HindsightValue
import Testing

@Suite struct CodableTests {
  @Test func `numbers of every width round-trip, and don't fit where they don't`() throws {
    var random = SeededGenerator.forTest("widths")
    func check<I: FixedWidthInteger & Codable>(_ type: I.Type, _ bits: UInt64) throws {
      let value = I(truncatingIfNeeded: bits)
      #expect(try roundTrip(value) == value)
      #expect(try roundTrip([value, .min, .max]) == [value, .min, .max])
      let bytes = try CBOREncoder().encode(bits)
      if let exact = I(exactly: bits) {
        #expect(try CBORDecoder().decode(I.self, from: bytes) == exact)
      } else {
        #expect(throws: DecodingError.self) { try CBORDecoder().decode(I.self, from: bytes) }
      }
    }
    for _ in 0..<300 {
      let bits = random.bits()
      try check(Int.self, bits)
      try check(Int8.self, bits)
      try check(Int16.self, bits)
      try check(Int32.self, bits)
      try check(Int64.self, bits)
      try check(UInt.self, bits)
      try check(UInt8.self, bits)
      try check(UInt16.self, bits)
      try check(UInt32.self, bits)
      try check(UInt64.self, bits)
      try check(Int128.self, bits)
      try check(UInt128.self, bits)
      let wide = UInt128(random.bits()) << 64 | UInt128(random.bits())
      #expect(try roundTrip(wide) == wide)
      #expect(try roundTrip(Int128(bitPattern: wide)) == Int128(bitPattern: wide))
      let double = random.double()
      #expect(Value.double(try roundTrip(double)) == .double(double))
      let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
      #expect(Value.double(Double(try roundTrip(float))) == .double(Double(float)))
    }
    #expect(try roundTrip([Int128.min, .max, -1, 0]) == [Int128.min, .max, -1, 0])
    #expect(try hex(CBOREncoder().encode(Int128(UInt64.max) + 1)) == "c249010000000000000000")
  }

  @Test func `a small enum event has the bytes that one expects`() throws {
    let event = Ledger.deposited(account: "alice", cents: 10_000)
    let bytes = try CBOREncoder().encode(event)
    #expect(hex(bytes) == "a1696465706f7369746564a26563656e7473192710676163636f756e7465616c696365")
    #expect(try CBORDecoder().decode(Ledger.self, from: bytes) == event)
  }

  @Test func `enums of all shapes round-trip`() throws {
    let all: [Shapes] = [
      .plain, .one(7), .named(x: -1, y: "é"), .both(1, named: nil), .both(1, named: 2.5),
      .nested(.deposited(account: "", cents: 0)), .list([.plain, .one(1)]), .map(["k": .plain]),
      .box(.box(.box(.plain))),
    ]
    for shape in all { #expect(try roundTrip(shape) == shape) }
    #expect(try roundTrip(all) == all)
    #expect(try roundTrip(Raw.allCases) == Raw.allCases)
  }

  @Test func `optionals, and fields that aren't there, round-trip`() throws {
    var random = SeededGenerator.forTest("records")
    for _ in 0..<500 {
      let record = Record.random(&random)
      let back = try roundTrip(record)
      #expect(try CBOREncoder().encode(back) == CBOREncoder().encode(record))
      #expect(back == record)
    }
    // An explicit null is nil, too.
    let bytes = unhex("a1 646e616d65 f6")
    #expect(try CBORDecoder().decode(OnlyName.self, from: bytes) == OnlyName(name: nil))
    #expect(try CBORDecoder().decode(OnlyName.self, from: [0xa0]) == OnlyName(name: nil))
  }

  @Test func `dictionaries with keys of any kind are maps, and round-trip`() throws {
    #expect(try roundTrip([3: "c", 1: "a", -1: "z"]) == [3: "c", 1: "a", -1: "z"])
    #expect(try hex(CBOREncoder().encode([3: "c", 1: "a"])) == "a2016161036163")
    #expect(try roundTrip([Raw.north: 1, .south: 2]) == [Raw.north: 1, .south: 2])
    let points = [Point(x: 1, y: 2): true, Point(x: -5, y: 0): false]
    #expect(try roundTrip(points) == points)
    #expect(try roundTrip([1.5: [UUID(): Int?.none]]).count == 1)
    #expect(try roundTrip([Int: Int]()) == [:])
    let optional: [String: Int?] = ["a": nil, "b": 1]
    #expect(try roundTrip(optional) == optional)
    #expect(try roundTrip([Ledger.deposited(account: "x", cents: 1): 1]).count == 1)
  }

  @Test func `a dictionary is read from every form`() throws {
    let decoder = CBORDecoder()
    // Text keys for numbers, an array in turn, indefinite lengths.
    #expect(try decoder.decode([Int: Int].self, from: unhex("a1 6135 06")) == [5: 6])
    #expect(try decoder.decode([Int: Int].self, from: unhex("84 05 06 07 08")) == [5: 6, 7: 8])
    #expect(try decoder.decode([Int: Int].self, from: unhex("bf 05 06 ff")) == [5: 6])
    #expect(try decoder.decode([String: Int].self, from: unhex("bf 7f6161ff 06 ff")) == ["a": 6])
    #expect(try decoder.decode([Raw: Int].self, from: unhex("a1 656e6f727468 06")) == [.north: 6])
    // What other encoders do: the standard library's own forms.
    struct Own<T: Codable>: Codable {
      let value: T
      init(_ value: T) { self.value = value }
      func encode(to encoder: any Encoder) throws { try value.encode(to: encoder) }
      init(from decoder: any Decoder) throws { value = try T(from: decoder) }
    }
    let encoder = CBOREncoder()
    let numbers = [3: "c", 1: "a", 300: "x"]
    #expect(try decoder.decode([Int: String].self, from: encoder.encode(Own(numbers))) == numbers)
    #expect(
      try decoder.decode(Own<[Int: String]>.self, from: encoder.encode(numbers)).value == numbers)
    let points = [Point(x: 1, y: 2): 1]
    #expect(try decoder.decode([Point: Int].self, from: encoder.encode(Own(points))) == points)
    #expect(try roundTrip(Own(points)).value == points)
  }

  @Test func `keys that are one in Swift but not in bytes don't collapse in silence`() throws {
    let bytes = unhex("a2 62c3a9 01 6365cc81 02")
    #expect(try Value(encoded: bytes).encoded() == bytes)
    #expect(throws: DecodingError.self) {
      try CBORDecoder().decode([String: Int].self, from: bytes)
    }
  }

  @Test func `Foundation's values come back exactly`() throws {
    var random = SeededGenerator.forTest("foundation")
    for _ in 0..<2_000 {
      let seconds = random.bool() ? random.double() : Double(random.below(2_000_000_000)) / 1e3
      let date = Date(timeIntervalSinceReferenceDate: seconds)
      let back = try roundTrip(date).timeIntervalSinceReferenceDate
      #expect(back.bitPattern == seconds.bitPattern || (back.isNaN && seconds.isNaN))
      let mantissa = Decimal(random.bits()) * Decimal(random.bits())
      let decimal = Decimal(
        sign: random.bool() ? .minus : .plus, exponent: random.below(200) - 100,
        significand: mantissa)
      let again = try roundTrip(decimal)
      #expect(again == decimal || (again.isNaN && decimal.isNaN))
      #expect(again.description == decimal.description)
    }
    for decimal in [Decimal.nan, .greatestFiniteMagnitude, .leastFiniteMagnitude, .zero, .pi] {
      #expect(try roundTrip(decimal).description == decimal.description)
    }
    let date = Date(timeIntervalSince1970: 1_363_896_240.5)
    #expect(try hex(CBOREncoder().encode(date)) == "c1fb41d452d9ec200000")
    let id = UUID()
    #expect(try roundTrip(id) == id)
    #expect(try CBOREncoder().encode(id).starts(with: [0xd8, 37, 0x50]))
    let data = Data(random.bytes(100))
    #expect(try roundTrip(data) == data)
    for text in [
      "https://example.com/a?b=c#d", "file:///tmp/x%20y", "relative/path", "mailto:a@b.c",
    ] {
      let url = try #require(URL(string: text))
      #expect(try roundTrip(url) == url)
    }
    let based = try #require(
      URL(string: "a/b", relativeTo: URL(string: "https://example.com/x/")))
    let back = try roundTrip(based)
    #expect(back == based)
    #expect(back.baseURL == based.baseURL)
  }

  @Test func `Foundation's values are read in the forms that they give others`() throws {
    let decoder = CBORDecoder()
    let id = UUID()
    #expect(try decoder.decode(UUID.self, from: CBOREncoder().encode(id.uuidString)) == id)
    #expect(try decoder.decode(Data.self, from: CBOREncoder().encode([1, 2])) == Data([1, 2]))
    #expect(
      try decoder.decode(Date.self, from: CBOREncoder().encode(1.25))
        == Date(timeIntervalSinceReferenceDate: 1.25))
    #expect(try decoder.decode(Decimal.self, from: unhex("18ff")) == 255)
    #expect(throws: DecodingError.self) { try decoder.decode(UUID.self, from: unhex("d8254100")) }
    #expect(throws: DecodingError.self) { try decoder.decode(Date.self, from: unhex("c06161")) }
    #expect(throws: DecodingError.self) {
      try decoder.decode(Decimal.self, from: unhex("c4821a7fffffff01"))
    }
    #expect(throws: DecodingError.self) { try decoder.decode(Decimal.self, from: unhex("c48101")) }
  }
}
