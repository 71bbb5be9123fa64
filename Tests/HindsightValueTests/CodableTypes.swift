// Types for the coder's tests.

import Foundation
import HindsightValue

enum Ledger: Codable, Hashable {
  case deposited(account: String, cents: Int)
  case withdrawn(account: String, cents: Int)
}

indirect enum Shapes: Codable, Equatable {
  case plain
  case one(Int)
  case named(x: Int, y: String)
  case both(Int, named: Double?)
  case nested(Ledger)
  case list([Shapes])
  case map([String: Shapes])
  case box(Shapes)
}

enum Raw: String, Codable, CaseIterable, CodingKeyRepresentable { case north, south, east }

struct Point: Codable, Hashable {
  var x: Int
  var y: Int
}

struct OnlyName: Codable, Equatable {
  var name: String?
}

/// One field of everything, many of them optional.
struct Record: Codable, Equatable {
  var name: String
  var a: Int8?
  var b: UInt16?
  var c: Int32?
  var d: UInt64?
  var e: Float?
  var f: Bool?
  var g: Point?
  var h: [Int]?
  var i: [String: Point]?
  var j: Set<String>?
  var k: Ledger?
  var l: [Record]?
  var value: Value?
  var veryLongFieldName1: String
  var veryLongFieldName2: String
  var anotherVeryLongFieldNameWithMoreThanTwentyFourBytes: Int
  var when: Date?

  static func random(_ random: inout SeededGenerator, depth: Int = 2) -> Record {
    func maybe<T>(_ make: (inout SeededGenerator) -> T) -> T? {
      random.bool() ? make(&random) : nil
    }
    return Record(
      name: random.string(),
      a: maybe { Int8(truncatingIfNeeded: $0.bits()) },
      b: maybe { UInt16(truncatingIfNeeded: $0.bits()) },
      c: maybe { Int32(truncatingIfNeeded: $0.bits()) },
      d: maybe { $0.bits() },
      e: maybe { Float($0.below(1000)) / 16 },
      f: maybe { $0.bool() },
      g: maybe { Point(x: $0.below(10), y: -$0.below(10)) },
      h: maybe { random in (0..<random.below(40)).map { _ in Int(random.bits() >> 1) } },
      i: maybe { random in
        Dictionary(
          (0..<random.below(30)).map { _ in (random.string(), Point(x: 1, y: random.below(9))) },
          uniquingKeysWith: { $1 })
      },
      j: maybe { random in Set((0..<random.below(40)).map { _ in random.string() }) },
      k: maybe { .withdrawn(account: $0.string(), cents: $0.below(1000)) },
      l: depth > 0
        ? maybe { random in
          (0..<random.below(3)).map { _ in Record.random(&random, depth: depth - 1) }
        } : nil,
      value: maybe { $0.value(depth: 2) }.flatMap { $0 == .null || $0 == .undefined ? nil : $0 },
      veryLongFieldName1: random.string(), veryLongFieldName2: random.string(),
      anotherVeryLongFieldNameWithMoreThanTwentyFourBytes: random.below(100),
      when: maybe { Date(timeIntervalSinceReferenceDate: Double($0.bits()) / 1024) })
  }
}
