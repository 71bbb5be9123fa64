// Random numbers that can be had again: each run prints its seed and takes it from HINDSIGHT_SEED.
// It always holds: one seed gives one sequence, on every machine.

import Foundation

/// The generator of SplitMix64, which is a counter and a mixing function.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9E37_79B9_7F4A_7C15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
    return mixed ^ (mixed >> 31)
  }
}

/// A generator with the seed from the environment, or else a new one; prints it.
func seededGenerator(_ test: String = #function) -> SeededGenerator {
  let given = ProcessInfo.processInfo.environment["HINDSIGHT_SEED"].flatMap(UInt64.init)
  let seed = given ?? UInt64.random(in: 0...UInt64.max)
  print("\(test): HINDSIGHT_SEED=\(seed)")
  return SeededGenerator(seed: seed)
}
