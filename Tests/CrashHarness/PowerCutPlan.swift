// Which states of a trace are looked at: at which moments the power is cut, and with what choices.
// It always holds: a plan follows from its trace, seed and size alone, so that a process which
// takes over after another one's death goes on with the same plan.

/// The states of one recording that are looked at, in the order of the trace.
package struct PowerCutPlan {
  /// One moment at which the power is cut.
  package struct Point: Sendable, Equatable {
    /// How many moments of the trace have been.
    package let position: Int
    /// The number of the first of its states.
    package fileprivate(set) var first = 0
    /// How many states with whole pages: all, where it is exhaustive.
    package let wholeCount: Int
    /// How many states with torn pages.
    package let tornCount: Int
    package let isExhaustive: Bool

    package var count: Int { wholeCount + tornCount }
  }

  package private(set) var points: [Point] = []
  package let seed: UInt64

  private static let randomWholeCount = 32
  private static let tornCount = 16

  /// The number of states.
  package var count: Int { points.last.map { $0.first + $0.count } ?? 0 }

  /// Draws one moment, however many choices it has, and more as far as there is room for theirs: so
  /// moments with few choices aren't crowded out, and those with many come in turn.
  ///
  /// - Parameter countMax: the number of states that there is room for beside the first moment's.
  package init(
    _ trace: SystemCallTrace, store: String, seed: UInt64, countMax: Int
  ) throws {
    self.seed = seed
    var candidates = try Self.candidates(trace, store: store)
    var generator = SeededGenerator(seed: seed)
    candidates.shuffle(using: &generator)
    points = Array(candidates.prefix(1))
    var count = 0
    for candidate in candidates.dropFirst() where count + candidate.count <= countMax {
      count += candidate.count
      points.append(candidate)
    }
    points.sort { $0.position < $1.position }
    count = 0
    for place in points.indices {
      points[place].first = count
      count += points[place].count
    }
  }

  /// All moments that can differ from others in what they end with.
  ///
  /// What becomes certain ends an epoch. Of long epochs, the moments of acknowledgements are taken,
  /// too: a random choice at the end rarely is one that was possible in the middle.
  private static func candidates(
    _ trace: SystemCallTrace, store: String
  ) throws -> [Point] {
    var replay = DiskReplay(trace, store: store)
    var found: [Point] = []
    for position in 0...replay.count {
      try replay.advance(to: position)
      let turn = replay.isBeforeTurn
      guard turn.certain || turn.said else { continue }
      let cut = DiskCut(replay.disk, store: store)
      guard cut.changeCount > 0, turn.certain || !cut.isExhaustive else { continue }
      let hasPages = cut.units.contains { if case .page = $0 { true } else { false } }
      found.append(
        Point(
          position: position,
          wholeCount: cut.isExhaustive ? cut.wholeChoiceCount : randomWholeCount,
          tornCount: hasPages ? tornCount : 0, isExhaustive: cut.isExhaustive))
    }
    return found
  }

  /// Which of the points a state belongs to.
  package func point(of state: Int) -> Point? {
    points.last { $0.first <= state }
  }

  /// What is on the disk in one of the plan's states.
  package func choice(of state: Int, at point: Point, _ cut: DiskCut) -> DiskCut.Choice {
    let number = state - point.first
    if point.isExhaustive, number < point.wholeCount { return cut.choice(number) }
    var generator = SeededGenerator(
      seed: seed ^ (UInt64(point.position) << 20 &+ UInt64(number)) &* 0x9e37_79b9_7f4a_7c15)
    return cut.choice(isTorn: number >= point.wholeCount, using: &generator)
  }
}
