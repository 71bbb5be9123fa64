// Random numbers for kill moments, which a printed seed repeats as far as moments can be repeated.

import Foundation

/// SplitMix64: the same numbers for the same seed, everywhere.
package struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  package init(seed: UInt64) { state = seed }

  package mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }

  /// A generator of the seed in `HINDSIGHT_SEED`, or of a new one; prints which.
  package static func forTest(_ name: String) -> SeededGenerator {
    let given = ProcessInfo.processInfo.environment["HINDSIGHT_SEED"].flatMap { UInt64($0) }
    let seed = given ?? UInt64.random(in: 0 ... .max)
    print("\(name): HINDSIGHT_SEED=\(seed)")
    return SeededGenerator(seed: seed)
  }

  package mutating func below(_ bound: Int) -> Int { Int.random(in: 0..<bound, using: &self) }
}
