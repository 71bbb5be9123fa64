// Several processes that write to one store at the same time, and readers beside them.

import CrashHarness
import CrashLedger
import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

@Suite struct ManyWritersTests {
  /// How long the processes write; `HINDSIGHT_SECONDS` says how long.
  private static let duration = Duration.seconds(
    ProcessInfo.processInfo.environment["HINDSIGHT_SECONDS"].flatMap { Int($0) } ?? 5)

  @Test func `four processes write, two of them are killed, and all agree in the end`()
    async throws
  {
    var generator = SeededGenerator.forTest("four writers")
    let directory = try TestDirectory()
    let writers = Writers(path: directory.path + "/shared.hindsight")
    let deadline = ContinuousClock.now + Self.duration
    let reports = try await withThrowingTaskGroup(of: WriterReport.self) { group in
      for number in 0..<4 {
        let seed = generator.next()
        group.addTask {
          try await onThread {
            try writers.run(
              number, killedUntil: number < 2 ? deadline : nil,
              generator: SeededGenerator(seed: seed))
          }
        }
      }
      group.addTask {
        try await onThread {
          try writers.endAll(at: deadline)
          return WriterReport()
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    var oracle = StoreOracle(path: writers.path)
    for report in reports { oracle.add(report.lines) }
    let (head, problems) = try oracle.check()
    #expect(problems.prefix(5) == [])
    #expect(try await oracle.checkState(usingSnapshots: true) == [])
    #expect(try await oracle.checkState(usingSnapshots: false) == [])
    let kills = reports.reduce(0) { $0 + $1.killCount }
    #expect(kills >= 4)
    let ends = reports.compactMap(\.end)
    #expect(ends.count == 4)
    #expect(Set(ends.map(\.text)).count == 1, "\(ends)")
    if case .ended(let index, let count, _)? = ends.first {
      #expect(index == head)
      #expect(count == Int(head))
    }
    print("four writers: \(kills) kills, \(oracle.acknowledged.count) acknowledged, head \(head)")
  }

  @Test func `a subscriber gets each event of two other processes once and in order`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.path + "/shared.hindsight"
    let store = try await Store(MarkedLedger(), at: path)
    let (taskCount, stepCount) = (4, 60)
    let total = EventIndex(2 * taskCount * stepCount)
    let producers = Task {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for run in 1...2 {
          group.addTask {
            var task = ChildTask(.single, path: path)
            (task.run, task.taskCount, task.stepCount) = (run, taskCount, stepCount)
            let lines = try await onThread { [task] in try ChildProcess(task).remaining() }
            #expect(lines.last == .done)
          }
        }
        try await group.waitForAll()
      }
    }
    let follower = try Timeline(MarkedLedger(), at: path)
    let others = Task {
      // The same from a timeline, of one type that is never recorded: nothing comes.
      for try await _ in follower.events(ofTypes: ["decided"], isFollowing: true) { return true }
      return false
    }
    var next: EventIndex = 1
    for try await event in store.events() {
      #expect(event.index == next)
      #expect(event.typeName == "moved")
      // Whoever sees an event sees it in the state, too.
      #expect(store.read { _, index in index >= event.index })
      next += 1
      if event.index == total { break }
    }
    try await producers.value
    #expect(store.current.index == total)
    others.cancel()
    await #expect(throws: CancellationError.self) { try await others.value }
    try follower.close()
    let receipt = try await store.transact { state in
      [.decided(mark: EventMark(run: 9, task: 0, step: 0).text, seenCount: state.eventCount)]
    }
    #expect(receipt.index == total + 1)
    #expect(store.current.state.balances["decided"] == Int(total))
    try await store.close()
    #expect(try LogVerifier(path: path).verify().findings.isEmpty)
  }

  @Test func `an idle store sees what another process appends`() async throws {
    let directory = try TestDirectory()
    let path = directory.path + "/shared.hindsight"
    let store = try await Store(MarkedLedger(), at: path)
    let reader = try await Store(
      MarkedLedger(), at: path, options: StoreOptions(isReadOnly: true))
    var changes = [store, reader].map { $0.changes { $0.eventCount }.makeAsyncIterator() }
    for position in changes.indices { #expect(await changes[position].next()?.value == 0) }
    var task = ChildTask(.batch, path: path)
    (task.run, task.taskCount, task.stepCount) = (1, 1, 1)
    let lines = try await onThread { [task] in try ChildProcess(task).remaining() }
    #expect(lines.last == .done)
    for position in changes.indices {
      // The one commit of the other process, and never a part of it.
      let change = try #require(await changes[position].next())
      #expect(change.index == EventIndex(change.value))
      #expect(change.value == lines.compactMap(\.acknowledgedCount).first)
    }
    let error = await #expect(throws: HindsightError.self) {
      try await reader.dispatch(.moved(EventMark(run: 2, task: 0, step: 0)))
    }
    #expect(error?.code == .readOnly)
    try await reader.close()
    try await store.close()
  }
}

extension ChildLine {
  /// The number of events of an acknowledgement.
  fileprivate var acknowledgedCount: Int? {
    if case .acknowledged(let mark, _) = self { mark.partCount } else { nil }
  }
}

/// What became of one writer's processes.
private struct WriterReport: Sendable {
  var lines: [ChildLine] = []
  var killCount = 0
  /// The state that the last process ended in.
  var end: ChildLine?
}

/// Processes that write to one store until they are told to end.
private struct Writers: Sendable {
  let path: String

  private var endFile: String { path + ".end" }
  private var idleFile: String { path + ".idle" }
  private var killedFile: String { path + ".killed" }
  /// How often each of two writers is killed at least, however slow the machine is.
  private static let killCountMin = 2

  /// Runs one writer; with a deadline, its process is killed and started anew until then. Blocks.
  func run(
    _ number: Int, killedUntil deadline: ContinuousClock.Instant?, generator: SeededGenerator
  ) throws -> WriterReport {
    var generator = generator
    var report = WriterReport()
    while true {
      var task = ChildTask(.mixed, path: path)
      task.run = (number + 1) * 1_000 + report.killCount
      task.taskCount = 16
      task.snapshotEvery = 200
      task.endFile = endFile
      let child = try ChildProcess(task)
      var startCount = 0
      if let deadline, ContinuousClock.now < deadline || report.killCount < Self.killCountMin {
        var remaining = 1 + generator.below(400)
        while remaining > 0, let line = try child.next() {
          report.lines.append(line)
          if line.isAcknowledgement { remaining -= 1 }
          if line == .starting { startCount += 1 }
          // The second time, its tasks have ended, and no more is acknowledged.
          if startCount == 2 { break }
        }
        child.kill()
        report.killCount += 1
        report.lines += try child.remaining()
        if report.killCount == Self.killCountMin { create("\(killedFile).\(number)") }
        continue
      }
      while let line = try child.next() {
        report.lines.append(line)
        if line == .starting { startCount += 1 }
        if line == .starting, startCount == 2 {
          create("\(idleFile).\(number)")
        }
        if case .ended = line { report.end = line }
      }
      // Also where it failed, which its lines tell.
      create("\(idleFile).\(number)")
      return report
    }
  }

  /// Tells all to end at a time, if two of them were killed often enough by then; and when all
  /// tasks have ended, that they have. Blocks.
  func endAll(at deadline: ContinuousClock.Instant) throws {
    wait(until: deadline)
    try wait(for: (0..<2).map { "\(killedFile).\($0)" })
    create(endFile)
    try wait(for: (0..<4).map { "\(idleFile).\($0)" })
    create(endFile + ".through")
  }

  private func wait(for files: [String]) throws {
    let patience = ContinuousClock.now + .seconds(300)
    while !files.allSatisfy({ FileManager.default.fileExists(atPath: $0) }) {
      guard ContinuousClock.now < patience else {
        throw ChildProcess.Failure(description: "a writer doesn't go on: \(files)")
      }
      wait(until: .now + .milliseconds(5))
    }
  }

  private func create(_ file: String) {
    #expect(FileManager.default.createFile(atPath: file, contents: nil))
  }

  /// Leaves the processors to the writers until a time has come.
  private func wait(until deadline: ContinuousClock.Instant) {
    let (seconds, attoseconds) = (deadline - .now).components
    let nanoseconds = Int(seconds) * 1_000_000_000 + Int(attoseconds / 1_000_000_000)
    _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .nanoseconds(max(0, nanoseconds)))
  }
}
