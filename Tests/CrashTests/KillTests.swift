// Processes that are killed in the middle of their work, again and again on the same store: nothing
// that was acknowledged is ever lost, and nothing is torn.

import CrashLedger
import Foundation
import Hindsight
import Testing

/// What the killed processes do.
enum Workload: String, CaseIterable, CustomTestStringConvertible {
  case singles = "single dispatches"
  case batches = "batches"
  case transactions = "transactions"
  case snapshots = "everything, with snapshots in flight"

  var testDescription: String { rawValue }

  func task(path: String, run: Int) -> ChildTask {
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
struct KillLoop: Sendable {
  private(set) var oracle: StoreOracle
  private(set) var killsWhileOpening = 0
  private(set) var acknowledgementCount = 0
  private let workload: Workload
  private var generator: SeededGenerator
  private var run = 0
  /// How long opening took last, so that kills hit it.
  private var openingDuration = Duration.milliseconds(20)

  init(_ workload: Workload, path: String, generator: SeededGenerator) {
    self.workload = workload
    self.generator = generator
    oracle = StoreOracle(path: path)
  }

  /// Starts a process, kills it at a random moment, and looks at what it left. Blocks.
  ///
  /// - Parameter head: what the log ended with before; nil where no process has opened it yet.
  /// - Returns: what it ends with now, and what is wrong.
  mutating func killOne(openedAt head: EventIndex?) throws -> (EventIndex?, [String]) {
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
  var summary: String {
    "\(run) processes killed, \(killsWhileOpening) of them before the store was open, "
      + "\(acknowledgementCount) acknowledgements, none lost"
  }

  /// Starts two processes, kills one, lets the other go on, and kills that. Blocks.
  mutating func killOneOfTwo() throws -> (EventIndex?, [String]) {
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
  var isAcknowledgement: Bool { if case .acknowledged = self { true } else { false } }
  var isOpening: Bool { if case .opened = self { true } else { false } }
}

@Suite struct KillTests {
  /// How many processes are killed for each workload; `HINDSIGHT_KILLS` says how many.
  private static let killCount =
    ProcessInfo.processInfo.environment["HINDSIGHT_KILLS"].flatMap { Int($0) } ?? 25
  /// After so many kills a new store is begun, as each is looked at as a whole after each kill.
  private static let killsPerStore = 50

  @Test(arguments: Workload.allCases)
  func `whenever a process is killed, what it acknowledged is there, whole and in order`(
    workload: Workload
  ) async throws {
    try await repeatKills("kills during \(workload)", workload) { loop, head in
      try loop.killOne(openedAt: head)
    }
  }

  @Test func `a writer goes on where another one is killed beside it`() async throws {
    try await repeatKills("kills beside another writer", .snapshots) { loop, _ in
      try loop.killOneOfTwo()
    }
  }

  /// Kills as often as asked, on a store that grows from kill to kill; looks at all after each.
  private func repeatKills(
    _ name: String, _ workload: Workload,
    _ kill: @escaping @Sendable (inout KillLoop, EventIndex?) throws -> (EventIndex?, [String])
  ) async throws {
    var generator = SeededGenerator.forTest(name)
    for start in stride(from: 0, to: Self.killCount, by: Self.killsPerStore) {
      let directory = try TestDirectory()
      var loop = KillLoop(
        workload, path: directory.path + "/killed.hindsight",
        generator: SeededGenerator(seed: generator.next()))
      var head: EventIndex?
      let end = min(start + Self.killsPerStore, Self.killCount)
      for number in start..<end {
        var problems: [String]
        (loop, head, problems) = try await onThread { [loop, head] in
          var loop = loop
          let (newHead, problems) = try kill(&loop, head)
          return (loop, newHead, problems)
        }
        if head != nil { problems += try await loop.oracle.checkState(usingSnapshots: true) }
        if head != nil, number.isMultiple(of: 8) || number == end - 1 {
          problems += try await loop.oracle.checkState(usingSnapshots: false)
        }
        if !problems.isEmpty {
          directory.isKept = true
          Issue.record("\(name), store kept at \(directory.path): \(problems.prefix(5))")
          return
        }
      }
      print("\(name): \(loop.summary), head \(head ?? 0)")
      #expect(loop.acknowledgementCount > 0)
      try await goOn(loop.oracle, head: head ?? 0)
    }
  }

  /// The snapshots are removed, and the store is written to once more.
  private func goOn(_ oracle: StoreOracle, head: EventIndex) async throws {
    for name in ["snapshots.mdb", "snapshots.mdb-lock"] {
      try? FileManager.default.removeItem(atPath: oracle.path + "/" + name)
    }
    let store = try await Store(MarkedLedger(), at: oracle.path)
    #expect(store.recovery.snapshotIndex == nil)
    #expect(store.recovery.replayedEventCount == head)
    let receipt = try await store.dispatch(.moved(EventMark(run: 1_000_000, task: 0, step: 0)))
    #expect(receipt.index == head + 1)
    try await store.close()
  }
}
