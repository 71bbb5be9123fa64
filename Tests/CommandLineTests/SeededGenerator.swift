// Random numbers that a seed repeats.

import Foundation

/// Random numbers from a seed, which is printed (SplitMix64).
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  /// Takes the seed from `HINDSIGHT_SEED` where that is set, and says which it took.
  init(_ purpose: String) {
    let given = ProcessInfo.processInfo.environment["HINDSIGHT_SEED"].flatMap { UInt64($0) }
    let seed = given ?? .random(in: 0...UInt64.max)
    print("\(purpose): HINDSIGHT_SEED=\(seed)")
    state = seed
  }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
