// Equal values give equal bytes, in every process.

import Foundation
import HindsightTesting
import HindsightValue
import Testing

@Suite struct DeterminismTests {
  private struct Everything: Codable {
    var records: [Record]
    var points: Set<Point>
    var sets: Set<Set<Int>>
    var bySet: [Set<String>: [Raw: Set<Int>]]
    var byPoint: [Point: Ledger]
    var byDouble: [Double: Int?]
    var optional: Set<Int>?
    var shapes: [Shapes]
    var value: Value
  }

  private static func everything(seed: UInt64) -> Everything {
    var random = SeededGenerator(state: seed)
    func points() -> [Point] {
      (0..<200).map { _ in Point(x: random.below(1_000), y: Int(random.bits() >> 8)) }
    }
    return Everything(
      records: (0..<20).map { _ in Record.random(&random) },
      points: Set(points()),
      sets: Set((0..<40).map { _ in Set((0..<random.below(9)).map { _ in random.below(99) }) }),
      bySet: [["a", "b", "c"]: [.north: [1, 2, 3], .south: []], []: [:]],
      byPoint: Dictionary(
        points().map { ($0, .deposited(account: random.string(), cents: $0.x)) },
        uniquingKeysWith: { $1 }),
      byDouble: [1.5: nil, 2: 3, -0.25: 4, .infinity: 5],
      optional: Set(0..<50),
      shapes: [.map(["x": .plain, "y": .map(["z": .one(1), "a": .plain])])],
      value: random.value())
  }

  /// A set's order, to see that the processes' hash seeds do differ.
  private static var hashOrder: [UInt8] { Set(UInt8.min ... .max).map { $0 } }

  @Test(.enabled(if: isChild, "runs as a child of another test"))
  func `child hands over the bytes of everything`() throws {
    let seed = try #require(
      ProcessInfo.processInfo.environment["HINDSIGHT_SEED"].flatMap { UInt64($0) })
    let bytes = try CBOREncoder().encode(Self.everything(seed: seed))
    try handOver(Self.hashOrder + bytes)
  }

  #if os(Linux)
    @Test(.enabled(if: !isChild, "is the parent"))
    func `equal values give equal bytes in processes with other hash seeds`() async throws {
      let seed = SeededGenerator.forTest("everything").state
      let bytes = try CBOREncoder().encode(Self.everything(seed: seed))
      var orders: Set<[UInt8]> = [Self.hashOrder]
      for environment in [[:], [:], ["SWIFT_DETERMINISTIC_HASHING": "1"]] {
        let found = try await runChild(
          test: "child hands over the bytes of everything",
          environment: environment.merging(["HINDSIGHT_SEED": "\(seed)"]) { $1 })
        orders.insert(Array(found.prefix(256)))
        #expect(Array(found.dropFirst(256)) == bytes)
      }
      #expect(orders.count == 4)
    }
  #endif

  @Test func `the order of writing leaves no trace`() throws {
    var random = SeededGenerator.forTest("orders")
    for count in [2, 3, 10, 16, 17, 24, 25, 100, 300] {
      // Keys that differ in length, early, late, behind 16 bytes, and only in their last byte.
      var keys: [String] = []
      for index in 0..<count {
        keys.append(
          ["k\(index)", "aaaaaaa\(index)", String(repeating: "long", count: 6) + "\(index)"][
            index % 3])
      }
      let ordered = try keys.sorted {
        try CBOREncoder().encode($0).lexicographicallyPrecedes(CBOREncoder().encode($1))
      }
      for _ in 0..<5 {
        keys.shuffle(using: &random)
        let bytes = try CBOREncoder().encode(Dynamic(keys: keys))
        let tree = try Value(encoded: bytes)
        #expect(try tree.encoded() == bytes)
        guard case .map(let map) = tree else { return }
        #expect(map.pairs.map(\.key) == ordered.map { .string($0) })
        #expect(map[keys[0]] == .string(keys[0]))
        #expect(try CBORDecoder().decode(Dynamic.self, from: bytes).keys == ordered)
      }
    }
  }

  /// A keyed container with any keys, each with itself as the value.
  private struct Dynamic: Codable {
    var keys: [String]
    struct Key: CodingKey {
      var stringValue: String
      var intValue: Int? { nil }
      init(stringValue: String) { self.stringValue = stringValue }
      init?(intValue: Int) { nil }
    }
    init(keys: [String]) { self.keys = keys }
    func encode(to encoder: any Encoder) throws {
      var container = encoder.container(keyedBy: Key.self)
      for key in keys { try container.encode(key, forKey: Key(stringValue: key)) }
    }
    init(from decoder: any Decoder) throws {
      let container = try decoder.container(keyedBy: Key.self)
      keys = container.allKeys.map(\.stringValue)
      for key in keys.reversed() {
        #expect(try container.decode(String.self, forKey: Key(stringValue: key)) == key)
      }
      #expect(!container.contains(Key(stringValue: "no such key")))
    }
  }

  private struct ByHand: CBORCodable, Equatable {
    var name: String
    var count: Int?
    func encode(into writer: inout CBORWriter) {
      writer.appendMapHeader(count: count == nil ? 1 : 2)
      writer.append(key: "name")
      writer.append(name)
      if let count {
        writer.append(key: "count")
        writer.append(count)
      }
    }
    init(name: String, count: Int?) { (self.name, self.count) = (name, count) }
    init(from reader: inout CBORReader) throws {
      let pairs = try reader.readMapHeader()
      try reader.expectKey("name")
      name = try reader.readString()
      if pairs == 2 {
        try reader.expectKey("count")
        count = try reader.readInt()
      }
    }
  }

  private struct Wrong: CBORCodable {
    var b = 1
    var a = 2
    init() {}
    func encode(into writer: inout CBORWriter) {
      writer.appendMapHeader(count: 2)
      writer.append(key: "b")
      writer.append(b)
      writer.append(key: "a")
      writer.append(a)
    }
    init(from reader: inout CBORReader) throws {}
  }

  @Test func `a type that writes itself is found to agree with its Codable form, or not`() throws {
    try checkCBORAgreement(of: ByHand(name: "é", count: nil))
    try checkCBORAgreement(of: ByHand(name: "x", count: -5))
    try checkCBORAgreement(of: Value.array([.null, .string("x")]))
    #expect(throws: CBORDisagreement.self) { try checkCBORAgreement(of: Wrong()) }
    // It is used wherever it is met.
    let list = ["k": [ByHand(name: "a", count: 1), ByHand(name: "b", count: nil)]]
    #expect(try roundTrip(list) == list)
    let error = #expect(throws: DecodingError.self) {
      try CBORDecoder().decode([String: [ByHand]].self, from: unhex("a1616b81a1617801"))
    }
    guard case .dataCorrupted(let context) = error else { return }
    #expect(context.codingPath.map(\.stringValue) == ["k", "Index 0"])
    #expect((context.underlyingError as? CBORError)?.offset == 5)
  }
}
