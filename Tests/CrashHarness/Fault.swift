// What all kinds of fault have in common: how much is tried, and what is said of it.
// It always holds: every try is counted once, as survived, refused, lost or crashed.

import Foundation

/// How much is tried of each fault.
package enum TortureSize: String, Sendable {
  /// So little that it can run with every change: some minutes in all.
  case quick
  /// As much as the promises rest on.
  case full
}

/// What a fault is tried with.
package struct FaultContext: Sendable {
  /// How much is tried.
  package let size: TortureSize
  /// Where every random choice comes from.
  package let seed: UInt64
  /// Says how far it is, on one line.
  package let progress: @Sendable (String) -> Void

  package init(
    size: TortureSize, seed: UInt64, progress: @escaping @Sendable (String) -> Void = { _ in }
  ) {
    self.size = size
    self.seed = seed
    self.progress = progress
  }

  /// One of two counts, by size.
  package func count(quick: Int, full: Int) -> Int { size == .full ? full : quick }

  /// The generator of a part of a fault, which depends on nothing but seed and name.
  package func generator(_ name: String) -> SeededGenerator {
    let hash = name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return SeededGenerator(seed: seed ^ hash)
  }
}

/// How one try ended.
package enum FaultOutcome: Sendable, Equatable {
  /// Everything that was acknowledged is there, and the store goes on.
  case survived
  /// The store says with a typed error what is damaged, as it really is.
  case refused
  /// Something that was acknowledged is gone, torn, doubled or wrong; with what was seen.
  case lost(String)
  /// A process ended in another way than it should; with what was seen.
  case crashed(String)
}

/// What became of all tries of a fault.
package struct FaultReport: Sendable {
  package private(set) var survivedCount = 0
  package private(set) var refusedCount = 0
  package private(set) var lostCount = 0
  package private(set) var crashedCount = 0
  /// What went wrong, of the first few tries where something did.
  package private(set) var problems: [String] = []
  /// Figures that say what the tries consisted of, such as "312 of them while opening".
  package var details: [String] = []
  /// Why nothing, or a part of it, could be tried here; nil where all was.
  package var skipped: String?

  private static let problemCountMax = 20

  package init() {}

  /// The number of tries.
  package var triedCount: Int { survivedCount + refusedCount + lostCount + crashedCount }
  /// Whether nothing was lost, nothing crashed, and something was tried.
  package var isGood: Bool {
    lostCount == 0 && crashedCount == 0 && (triedCount > 0 || skipped != nil)
  }

  /// Counts a try.
  package mutating func add(_ outcome: FaultOutcome, count: Int = 1) {
    switch outcome {
    case .survived: survivedCount += count
    case .refused: refusedCount += count
    case .lost(let problem):
      lostCount += count
      addProblem("LOST: \(problem)")
    case .crashed(let problem):
      crashedCount += count
      addProblem("CRASHED: \(problem)")
    }
  }

  /// Counts the tries of another report, too.
  package mutating func add(_ other: FaultReport) {
    survivedCount += other.survivedCount
    refusedCount += other.refusedCount
    lostCount += other.lostCount
    crashedCount += other.crashedCount
    for problem in other.problems { addProblem(problem) }
    details += other.details
    skipped = [skipped, other.skipped].compactMap(\.self).joined(separator: "; ")
    if skipped == "" { skipped = nil }
  }

  private mutating func addProblem(_ problem: String) {
    if problems.count < Self.problemCountMax { problems.append(problem) }
  }
}

/// One kind of fault, which can be brought about as often as asked.
package protocol Fault: Sendable {
  /// The word that selects it on the command line.
  static var name: String { get }
  /// What is done to the store, as the command's help says it.
  static var summary: String { get }
  init()
  /// Brings it about, and looks at what is left.
  ///
  /// - Throws: where the harness itself doesn't work, which is never a result.
  func run(_ context: FaultContext) async throws -> FaultReport
}
