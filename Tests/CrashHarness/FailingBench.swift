// Runs one process with failing calls on a store of its own, and looks at all that it left.
// It always holds: the store is looked at twice, as the system has it and as a disk would after a
// power cut.

package import CrashLedger
import Foundation

/// What a process does while its calls fail.
package enum FailingWorkload: String, CaseIterable, Sendable {
  case creation = "a new store"
  case reopening = "an existing store"
  case batches = "batches of several tasks"
  case beside = "beside another process"
}

/// Where runs with failing calls are made.
package struct FailingBench: Sendable {
  /// What was seen of one run.
  package struct Run: Sendable {
    /// Whether any call failed.
    package fileprivate(set) var isHit = false
    package fileprivate(set) var crash: String?
    package fileprivate(set) var problems: [String] = []
    /// The codes of all errors.
    package fileprivate(set) var codes: [String] = []
  }

  private let library: String
  private let template: FailingStore
  private let templateOracle: StoreOracle

  /// Longer than any run takes: one that takes so long hangs.
  private static let patienceMilliseconds: Int32 = 20_000

  /// Compiles the library and makes the store that runs begin with. Blocks.
  package init(in directory: String) throws {
    library = try TracingLibrary.compile("fail", into: directory)
    let place = directory + "/template"
    try FileManager.default.createDirectory(atPath: place, withIntermediateDirectories: true)
    template = try FailingStore(in: place)
    var task = ChildTask(.mixed, path: template.path)
    task.run = 1
    task.taskCount = 4
    task.stepCount = 6
    task.snapshotEvery = 9
    let child = try ChildProcess(task, environment: template.environment(library: library, nil))
    let lines = try child.remaining()
    guard child.wait() == .exited(0) else {
      throw ChildProcess.Failure(description: "the store can't be made: \(lines.suffix(1))")
    }
    var oracle = StoreOracle(path: template.path)
    oracle.add(lines)
    templateOracle = oracle
  }

  /// Lets calls fail in a process that opens the store once or twice.
  package func run(
    _ workload: FailingWorkload, _ failure: CallFailure, _ sessions: ChildTask.Stubbornness
  ) async throws -> Run {
    let directory = try TestDirectory()
    let place = directory.path
    var (run, oracle, cut) = try await onThread {
      try fail(workload, failure, sessions, in: place)
    }
    guard run.isHit, run.crash == nil else {
      if run.crash != nil { directory.isKept = true }
      return run
    }
    if let cut {
      var cutOracle = oracle.before
      cutOracle.path = cut
      run.problems += await Self.look("after a power cut", &cutOracle)
    }
    run.problems += await Self.look("afterwards", &oracle.after)
    if !run.problems.isEmpty {
      directory.isKept = true
      run.problems.append("kept at \(directory.path)")
    }
    return run
  }

  private static func look(_ when: String, _ oracle: inout StoreOracle) async -> [String] {
    do {
      var problems = try oracle.check().problems
      problems += try await oracle.checkState(usingSnapshots: true)
      problems += try await oracle.checkState(usingSnapshots: false)
      return problems.map { "\(when): \($0)" }
    } catch {
      return ["\(when): \(error)"]
    }
  }

  /// What must be there: after the failing process, and after one more without failures.
  private struct Oracles: Sendable {
    var before: StoreOracle
    var after: StoreOracle
  }

  /// Runs the process, and one after it. Blocks.
  ///
  /// - Returns: what was seen, what must be there now, and the path of what a disk would have.
  private func fail(
    _ workload: FailingWorkload, _ failure: CallFailure, _ sessions: ChildTask.Stubbornness,
    in directory: String
  ) throws -> (Run, Oracles, String?) {
    var oracle: StoreOracle
    let store: FailingStore
    if workload == .creation {
      store = try FailingStore(in: directory)
      oracle = StoreOracle(path: store.path)
    } else {
      store = try FailingStore(copying: template, to: directory)
      oracle = templateOracle
      oracle.path = store.path
    }
    let companion = try workload == .beside ? Companion(store, library: library) : nil
    var run = Run()
    let lines = try stubbornLines(workload, failure, sessions, store, &run)
    let companionLines = try companion?.end(&run, isToldOfLosses: store.hasLosses) ?? []
    run.isHit = !store.failedCalls().isEmpty
    guard run.isHit, run.crash == nil else {
      return (run, Oracles(before: oracle, after: oracle), nil)
    }
    let said = StubbornLines(lines)
    run.codes = said.sessions.flatMap(StubbornLines.codes)
    run.problems += said.problems(isOrdered: workload == .creation || workload == .reopening)
    run.problems += Self.problems(said, failure)
    oracle.add(said.successes + companionLines)
    // Until something is acknowledged, a new store needn't be there.
    let isThere = oracle.newestAcknowledged > 0
    let cut = isThere ? try store.powerCut() : nil
    if isThere, cut == nil { run.problems.append("after a power cut there is no log") }
    var before = oracle
    if let cut, store.hasSnapshotLosses {
      // Whoever opens the store for writing makes new snapshots in place of damaged ones.
      before.add(try goOn(cut, &run))
    }
    if workload != .creation, failure.effect != .short, try store.hasOtherSnapshots() {
      run.problems.append("the snapshots were taken for damaged, and replaced")
    }
    oracle.add(try goOn(store.path, &run))
    return (run, Oracles(before: before, after: oracle), cut)
  }

  /// What a certain failure must not do.
  private static func problems(_ said: StubbornLines, _ failure: CallFailure) -> [String] {
    let codes = said.sessions.map(StubbornLines.codes)
    var problems: [String] = []
    let stopped = codes.joined().filter { !$0.hasPrefix("snapshot/") }
    if failure.file == "snapshots.mdb", !stopped.isEmpty {
      problems.append("a failure of the snapshots' file stopped more than snapshots: \(stopped)")
    }
    if failure.extent == .once, codes.count(where: { !$0.isEmpty }) > 1 {
      problems.append("one failure is noticed after the store was opened anew: \(codes)")
    }
    if failure.kind == .allocate, stopped.contains(StubbornLines.unknown) {
      problems.append("a reservation that failed leaves the outcome unknown: \(codes)")
    }
    if failure.effect == .number(EINTR), failure.kind != .sync, !stopped.isEmpty {
      problems.append("an interrupted call wasn't tried again: \(codes)")
    }
    return problems
  }

  private func stubbornLines(
    _ workload: FailingWorkload, _ failure: CallFailure, _ sessions: ChildTask.Stubbornness,
    _ store: FailingStore, _ run: inout Run
  ) throws -> [ChildLine] {
    var task = ChildTask(workload == .batches ? .batch : .mixed, path: store.path)
    task.run = 10
    task.taskCount = workload == .batches ? 4 : 1
    task.stepCount = workload == .batches ? 3 : 5
    task.snapshotEvery = 7
    task.forcesSnapshots = true
    task.stubbornness = sessions
    let child = try ChildProcess(
      task, environment: store.environment(library: library, failure))
    child.patienceMilliseconds = Self.patienceMilliseconds
    do {
      let lines = try child.remaining()
      let ending = child.wait()
      if ending != .exited(0) || lines.last != .done {
        run.crash = "it ended with \(ending) after \(lines.suffix(2))"
      }
      return lines
    } catch {
      run.crash = "\(error)"
      return []
    }
  }

  /// Opens the store without failures and dispatches. Blocks.
  private func goOn(_ path: String, _ run: inout Run) throws -> [ChildLine] {
    var task = ChildTask(.mixed, path: path)
    task.run = 20
    task.taskCount = 1
    task.stepCount = 2
    let child = try ChildProcess(task)
    let lines = try child.remaining()
    if child.wait() != .exited(0) || lines.count(where: \.isAcknowledgement) != 2 {
      run.problems.append("it doesn't go on: \(lines)")
    }
    return lines.filter { if case .failed = $0 { false } else { true } }
  }
}

/// Another process on the same store, none of whose calls fail.
private struct Companion {
  private let child: ChildProcess
  private let endFile: String
  private var lines: [ChildLine] = []

  /// Starts it, and waits until it has dispatched. Blocks.
  init(_ store: FailingStore, library: String) throws {
    endFile = store.directory + "/end"
    var task = ChildTask(.single, path: store.path)
    task.run = 30
    task.taskCount = 1
    task.endFile = endFile
    child = try ChildProcess(task, environment: store.environment(library: library, nil))
    while let line = try child.next() {
      lines.append(line)
      if line.isAcknowledgement { break }
    }
  }

  /// Ends it, and says what it did. Blocks.
  ///
  /// - Parameter isToldOfLosses: whether a flush of its own may have failed, as pages were lost.
  func end(_ run: inout FailingBench.Run, isToldOfLosses: Bool) throws -> [ChildLine] {
    for name in [endFile, endFile + ".through"] {
      try Data().write(to: URL(fileURLWithPath: name))
    }
    let lines = try lines + child.remaining()
    let ending = child.wait()
    var isGood = ending == .exited(0) && lines.last == .done
    if isToldOfLosses, case .failed(StubbornLines.unknown, _, _, _) = lines.last {
      isGood = ending == .exited(1)
    }
    if !isGood { run.problems.append("the other process ended: \(ending), \(lines.suffix(2))") }
    return lines.filter { if case .failed = $0 { false } else { true } }
  }
}
