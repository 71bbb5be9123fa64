// Processes on one store that are killed one after the other, each followed by a look at the store.
// It always holds: what a process acknowledged is known here before the store is looked at.

package import CrashLedger
package import HindsightCore

/// What the killed processes do.
package enum Workload: String, CaseIterable, Sendable {
  case singles = "single dispatches"
  case batches = "batches"
  case transactions = "transactions"
  case snapshots = "everything, with snapshots in flight"

  package func task(path: String, run: Int) -> ChildTask {
    let kind: ChildTask.Kind =
      switch self {
      case .singles: .single
      case .batches: .batch
      case .transactions: .transact
      case .snapshots: .mixed
      }
    var task = ChildTask(kind, path: path)
    task.run = run
    task.snapshotEvery = self == .snapshots ? 3 : 500
    task.forcesSnapshots = self == .snapshots
    return task
  }
}

/// Starts processes on one store and kills them, one after the other.
package struct KillLoop: Sendable {
  package private(set) var oracle: StoreOracle
  package private(set) var killsWhileOpening = 0
  package private(set) var acknowledgementCount = 0
  private let workload: Workload
  private var generator: SeededGenerator
  private var run = 0
  /// How long opening took last, so that kills hit it.
  private var openingDuration = Duration.milliseconds(20)

  package init(_ workload: Workload, path: String, generator: SeededGenerator) {
    self.workload = workload
    self.generator = generator
    oracle = StoreOracle(path: path)
  }

  /// Starts a process, kills it at a random moment, and looks at what it left. Blocks.
  ///
  /// - Parameter head: what the log ended with before; nil where no process has opened it yet.
  /// - Returns: what it ends with now, and what is wrong.
  package mutating func killOne(openedAt head: EventIndex?) throws -> (EventIndex?, [String]) {
    run += 1
    let child = try ChildProcess(workload.task(path: oracle.path, run: run))
    var lines = try generator.below(3) == 0 ? killWhileOpening(child) : killWhileDispatching(child)
    child.kill()
    lines += try child.remaining()
    oracle.add(lines)
    acknowledgementCount += lines.count(where: \.isAcknowledgement)
    if !lines.contains(where: \.isOpening) {
      killsWhileOpening += 1
      // Until a process has opened it, there needn't be a store; the next one makes it.
      if head == nil { return (nil, []) }
    }
    var (newHead, problems) = try oracle.check()
    for line in lines {
      guard case .opened(let index, _, _) = line, let head, index != head else { continue }
      problems.append("it opened at \(index), though the log ended at \(head)")
    }
    return (newHead, problems)
  }

  private mutating func killWhileOpening(_ child: ChildProcess) throws -> [ChildLine] {
    guard let first = try child.next() else { return [] }
    spin(openingDuration * generator.below(130) / 100)
    return [first]
  }

  private mutating func killWhileDispatching(_ child: ChildProcess) throws -> [ChildLine] {
    var lines: [ChildLine] = []
    var remaining = 1 + generator.below(generator.below(4) == 0 ? 300 : 64)
    let clock = ContinuousClock()
    var startTime = clock.now
    while remaining > 0, let line = try child.next() {
      lines.append(line)
      if line == .starting { startTime = clock.now }
      if line.isOpening { openingDuration = clock.now - startTime }
      if line.isAcknowledgement { remaining -= 1 }
    }
    // Anywhere between two acknowledgements.
    spin(.microseconds(generator.below(2_000)))
    return lines
  }

  /// What was done, in figures.
  package var summary: String {
    "\(run) processes killed, \(killsWhileOpening) of them before the store was open, "
      + "\(acknowledgementCount) acknowledgements, none lost"
  }

  /// Starts two processes, kills one, lets the other go on, and kills that. Blocks.
  package mutating func killOneOfTwo() throws -> (EventIndex?, [String]) {
    run += 2
    let children = try [run - 1, run].map {
      try ChildProcess(workload.task(path: oracle.path, run: $0))
    }
    var lines = try killWhileDispatching(children[0])
    children[0].kill()
    lines += try children[0].remaining()
    oracle.add(lines)
    acknowledgementCount += lines.count(where: \.isAcknowledgement)
    lines = try killWhileDispatching(children[1])
    // More than the two could have had in flight: it commits after the other one's death.
    var remaining = 80
    while remaining > 0, let line = try children[1].next() {
      lines.append(line)
      if line.isAcknowledgement { remaining -= 1 }
    }
    children[1].kill()
    lines += try children[1].remaining()
    oracle.add(lines)
    acknowledgementCount += lines.count(where: \.isAcknowledgement)
    return try oracle.check()
  }
}

extension ChildLine {
  package var isAcknowledgement: Bool { if case .acknowledged = self { true } else { false } }
  package var isOpening: Bool { if case .opened = self { true } else { false } }
}

/// Lets time go by without a condition: a kill's moment is to be any.
package func spin(_ duration: Duration) {
  let clock = ContinuousClock()
  let end = clock.now + duration
  while clock.now < end {}
}
