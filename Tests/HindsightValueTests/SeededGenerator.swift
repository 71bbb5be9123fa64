// Random numbers for tests, which a printed seed repeats.

import Foundation
import HindsightValue

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  var state: UInt64

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A generator of the seed in `HINDSIGHT_SEED`, or of a new one; prints which.
  static func forTest(_ name: String = #function) -> SeededGenerator {
    let given = ProcessInfo.processInfo.environment["HINDSIGHT_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    print("\(name): HINDSIGHT_SEED=\(seed)")
    return SeededGenerator(state: seed)
  }

  mutating func chance(_ percent: Int) -> Bool { below(100) < percent }
  mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
  mutating func bool() -> Bool { Bool.random(using: &self) }

  /// Any 64 bits, with all magnitudes equally likely, and the edges of each width often.
  mutating func bits() -> UInt64 {
    if below(3) == 0 {
      let edges: [UInt64] = [
        0, 1, 23, 24, 0x7f, 0x80, 0xff, 0x100, 0x7fff, 0x8000, 0xffff, 0x1_0000, 0x7fff_ffff,
        0x8000_0000, 0xffff_ffff, 0x1_0000_0000, UInt64.max >> 1, UInt64.max >> 1 + 1, .max,
      ]
      return edges[below(edges.count)]
    }
    return next() >> UInt64(below(64))
  }

  mutating func double() -> Double {
    switch below(6) {
    case 0: Double(bits()) / 8
    case 1: Double(Float(bitPattern: UInt32(truncatingIfNeeded: next())))
    case 2: [0.0, -0.0, .infinity, -.infinity, .nan, 1.5, 5.960464477539063e-08][below(7)]
    default: Double(bitPattern: next())
    }
  }

  mutating func string() -> String {
    let alphabet: [String] = [
      "a", "b", "z", "\u{0}", "é", "e\u{301}", "水", "🧑‍🚀", "\u{202e}", "\r\n", "\u{1f1e9}\u{1f1ea}",
      ".",
    ]
    let length = below(5) == 0 ? below(300) : below(12)
    return (0..<length).map { _ in alphabet[below(alphabet.count)] }.joined()
  }

  mutating func bytes(_ bound: Int) -> [UInt8] {
    (0..<below(bound)).map { _ in UInt8(truncatingIfNeeded: next()) }
  }

  mutating func value(depth: Int = 4) -> Value {
    switch below(depth > 0 ? 13 : 9) {
    case 0: return .null
    case 1: return .undefined
    case 2: return .bool(bool())
    case 3: return .unsigned(bits())
    case 4: return .negative(bits())
    case 5: return .double(double())
    case 6: return .string(string())
    case 7: return .bytes(bytes(40))
    case 8: return .simple([0, 19, 32, 255][below(4)])
    case 9: return .tagged(bits(), value(depth: depth - 1))
    case 10: return .array((0..<below(9)).map { _ in value(depth: depth - 1) })
    default:
      var map = ValueMap()
      for _ in 0..<below(9) { map[value(depth: max(depth - 3, 0))] = value(depth: depth - 1) }
      return .map(map)
    }
  }
}
