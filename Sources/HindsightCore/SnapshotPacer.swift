// Decides when a snapshot is worth its cost, by what replaying and writing were measured to cost.

/// Weighs what a replay would cost against what a snapshot costs.
struct SnapshotPacer {
  /// A replay that takes longer than this is worth a snapshot.
  static let replayTarget = Duration.milliseconds(10)
  /// Snapshots take at most one part in so many of the time.
  static let timeShare = 20

  private let policy: SnapshotPolicy
  /// What replaying an event costs: decoding it, and reducing it.
  private var decodingCost = Duration.nanoseconds(1_000)
  private var reducingCost = Duration.nanoseconds(100)
  /// When the next automatic snapshot may be taken.
  private var notBefore: ContinuousClock.Instant?

  init(policy: SnapshotPolicy) { self.policy = policy }

  /// Whether a snapshot is due that many events after the last one.
  func isDue(eventCount: EventIndex, now: ContinuousClock.Instant) -> Bool {
    switch policy {
    case .never: return false
    case .every(let count): return eventCount >= count
    case .automatic:
      if let notBefore, now < notBefore { return false }
      return (decodingCost + reducingCost) * Double(eventCount) >= Self.replayTarget
    }
  }

  /// Takes in how long reducing events took.
  mutating func reduced(_ count: Int, in duration: Duration) {
    guard count > 0 else { return }
    let cost = duration / count
    // A moving average, so that one slow commit doesn't count for ever.
    reducingCost = (reducingCost * 7 + cost) / 8
  }

  /// Takes in how long decoding events took.
  mutating func decoded(_ count: Int, in duration: Duration) {
    if count > 0 { decodingCost = duration / count }
  }

  /// Takes in how long a snapshot took, copying the state included.
  mutating func wrote(in duration: Duration, now: ContinuousClock.Instant) {
    notBefore = now + duration * (Self.timeShare - 1)
  }
}
