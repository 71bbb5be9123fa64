// When snapshots are due, and which are given up first.

import Testing

@testable import HindsightCore

@Suite struct SnapshotPolicyTests {
  private let start = ContinuousClock.now

  @Test func `an automatic snapshot is due when replaying would take longer than the target`() {
    var pacer = SnapshotPacer(policy: .automatic)
    for _ in 0..<100 {
      pacer.decoded(100, in: .microseconds(100))
      pacer.reduced(100, in: .microseconds(900))
    }
    // Ten microseconds an event: a thousand of them take a hundredth of a second.
    #expect(!pacer.isDue(eventCount: 900, now: start))
    #expect(pacer.isDue(eventCount: 1_100, now: start))
  }

  @Test func `automatic snapshots take a twentieth of the time at most`() {
    var pacer = SnapshotPacer(policy: .automatic)
    pacer.wrote(in: .seconds(1), now: start)
    #expect(!pacer.isDue(eventCount: 1_000_000_000, now: start + .seconds(18)))
    #expect(pacer.isDue(eventCount: 1_000_000_000, now: start + .seconds(19)))
  }

  @Test func `the other policies count events, or nothing`() {
    let every = SnapshotPacer(policy: .every(10))
    #expect(!every.isDue(eventCount: 9, now: start))
    #expect(every.isDue(eventCount: 10, now: start))
    #expect(!SnapshotPacer(policy: .never).isDue(eventCount: .max, now: start))
  }

  @Test func `thinning out keeps the newest and spreads the rest`() {
    var indexes: [EventIndex] = Array(1...64).map { $0 * 10 }
    while indexes.count > 8 {
      indexes.remove(at: SnapshotThinning.leastUseful(in: indexes))
    }
    #expect(indexes.last == 640)
    var gaps: [EventIndex] = []
    var before: EventIndex = 0
    for index in indexes {
      gaps.append(index - before)
      before = index
    }
    #expect(gaps.max()! <= 160, "\(gaps)")
  }
}
