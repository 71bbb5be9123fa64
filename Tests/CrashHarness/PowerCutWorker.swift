// Makes the files as they can be after a power cut, one state after the other, and looks at each.

import CrashLedger
import Foundation
import Hindsight
import HindsightCore

/// A traced run, and everything that is known of what came before it.
package struct PowerCutScenario: Sendable {
  let trace: SystemCallTrace
  /// The store's path in the trace.
  let store: String
  /// What its files held before, by name; none where there was no store.
  let base: [String: [UInt8]]
  /// What was acknowledged before.
  let earlier: [ChildLine]

  static let fileNames = ["log.mdb", "snapshots.mdb"]
  private static let pathFile = "path"
  private static let earlierFile = "earlier"
  static let traceFile = "trace"

  /// Reads a scenario from the folder that it was written to.
  package init(folder: String) throws {
    func text(_ name: String) throws -> String {
      try String(contentsOfFile: "\(folder)/\(name)", encoding: .utf8)
    }
    trace = try SystemCallTrace(contentsOf: "\(folder)/\(Self.traceFile)")
    store = try text(Self.pathFile)
    earlier = try text(Self.earlierFile).split(separator: "\n").compactMap { ChildLine(String($0)) }
    var base: [String: [UInt8]] = [:]
    for name in Self.fileNames {
      let url = URL(fileURLWithPath: "\(folder)/\(name)")
      if let data = try? Data(contentsOf: url) { base[name] = [UInt8](data) }
    }
    self.base = base
  }

  /// Writes what belongs to a run beside its trace.
  static func write(to folder: String, store: String, earlier: [ChildLine]) throws {
    try store.write(toFile: "\(folder)/\(pathFile)", atomically: false, encoding: .utf8)
    let lines = earlier.map { $0.text + "\n" }.joined()
    try lines.write(toFile: "\(folder)/\(earlierFile)", atomically: false, encoding: .utf8)
  }

  /// The moments at which the power can go: in the middle of each call, and after it.
  var times: [UInt64] {
    trace.calls.filter { $0.path.hasPrefix(store) || $0.descriptor == 1 }
      .flatMap { [$0.begin + 1, $0.end + 1] }
  }

  /// What the process had said before a moment: what it began to write is durable by then.
  func acknowledged(before time: UInt64) -> [ChildLine] {
    trace.calls.filter { $0.kind == .write && $0.descriptor == 1 && $0.begin < time }
      .flatMap { String(decoding: $0.data, as: UTF8.self).split(separator: "\n") }
      .compactMap { ChildLine(String($0)) }
  }

  /// Whether a file's name, and its directory's, survive a cut at a moment.
  func isNameDurable(_ name: String, at time: UInt64) -> Bool {
    func isFlushed(_ directory: String, after made: UInt64) -> Bool {
      trace.calls.contains {
        $0.kind == .sync && $0.result == 0 && $0.path == directory && $0.begin > made
          && $0.end <= time
      }
    }
    let made = trace.calls.last {
      $0.kind == .makeDirectory && $0.path == store && $0.result == 0
    }
    let parent = URL(fileURLWithPath: store).deletingLastPathComponent().path
    if let made, !isFlushed(parent, after: made.end) { return false }
    guard base[name] == nil else { return true }
    guard
      let opened = trace.calls.first(where: { $0.kind == .open && $0.path == "\(store)/\(name)" })
    else { return false }
    return isFlushed(store, after: opened.end)
  }
}

/// How many states of a scenario are tried.
struct PowerCutLimits: Sendable {
  /// In all.
  var total: Int
  /// Of one cut; where it has no more, all are.
  var ofOneCut: Int
}

/// The states of a scenario that are tried: cuts drawn by a seed, each with all of its states or
/// some, until there are enough.
struct PowerCutStates: Sendable {
  struct Cut: Sendable {
    let time: UInt64
    let cut: DiskCut
    let states: DiskStates
    /// Which of its states are tried.
    let numbers: [Int]
    /// How many states are tried of the cuts before.
    let first: Int
  }

  private(set) var cuts: [Cut] = []
  private(set) var count = 0
  /// How many cuts have all of their states tried.
  private(set) var exhaustiveCutCount = 0

  init(_ scenario: PowerCutScenario, _ limits: PowerCutLimits, seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    let log = DiskFile(
      scenario.trace, path: scenario.store + "/log.mdb", base: scenario.base["log.mdb"] ?? [])
    for time in scenario.times.shuffled(using: &generator) {
      guard count < limits.total else { break }
      let cut = log.cut(at: time)
      let states = DiskStates(cut)
      var numbers = Array(0..<states.count)
      if numbers.count > limits.ofOneCut {
        numbers = Array(numbers.shuffled(using: &generator).prefix(limits.ofOneCut))
      } else if states.isExhaustive {
        exhaustiveCutCount += 1
      }
      cuts.append(Cut(time: time, cut: cut, states: states, numbers: numbers, first: count))
      count += numbers.count
    }
    count = min(count, limits.total)
  }

  func find(_ number: Int) -> (cut: Cut, state: Int) {
    var (low, high) = (0, cuts.count)
    while high - low > 1 {
      let middle = (low + high) / 2
      if cuts[middle].first <= number { low = middle } else { high = middle }
    }
    return (cuts[low], cuts[low].numbers[number - cuts[low].first])
  }
}

/// Looks at states of a scenario in a process of its own.
package struct PowerCutWorker {
  package static let name = "powercut"

  private let scenario: PowerCutScenario
  private let states: PowerCutStates
  private let snapshots: DiskFile
  private let copy: String
  private let seed: UInt64

  /// - Parameters:
  ///   - folder: where the scenario is.
  ///   - copy: the path of the store that is made anew for each state.
  package init(
    folder: String, copy: String, limit: Int, ofOneCut: Int, seed: UInt64
  ) throws {
    scenario = try PowerCutScenario(folder: folder)
    states = PowerCutStates(
      scenario, PowerCutLimits(total: limit, ofOneCut: ofOneCut), seed: seed)
    snapshots = DiskFile(
      scenario.trace, path: scenario.store + "/snapshots.mdb",
      base: scenario.base["snapshots.mdb"] ?? [])
    self.copy = copy
    self.seed = seed
  }

  /// Looks at the states of a range of numbers, and says one line for each step and result.
  package func work(_ range: Range<Int>, say: (String) -> Void) async throws {
    for number in range {
      say("step \(number) making")
      var generator = SeededGenerator(seed: seed &+ UInt64(number) &* 0x9e37)
      let (cut, state) = states.find(number)
      let files = try make(cut, state, &generator)
      say("step \(number) looking")
      let outcome = await look(at: cut.time, files: files)
      say(WorkerProcess.line(outcome, of: number))
    }
  }

  /// Makes the store's directory as it can be, and returns the names of its files.
  private func make(
    _ cut: PowerCutStates.Cut, _ state: Int, _ generator: inout SeededGenerator
  ) throws -> Set<String> {
    try? FileManager.default.removeItem(atPath: copy)
    var names: Set<String> = []
    let log = cut.states.versions(state, &generator)
    let snapshotCut = snapshots.cut(at: cut.time)
    let snapshotVersions = snapshotCut.versionCounts.map { generator.below($0) }
    for name in PowerCutScenario.fileNames {
      let isCertain = scenario.isNameDurable(name, at: cut.time)
      guard isCertain || generator.below(2) == 0 else { continue }
      try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
      let tearing = generator.next()
      let image =
        name == "log.mdb"
        ? cut.cut.image(log.versions) { page in
          log.isTorn ? UInt8(truncatingIfNeeded: tearing >> UInt64(page % 7 * 8)) : 0
        } : snapshotCut.image(snapshotVersions)
      if image.isEmpty, !isCertain { continue }
      try Data(image).write(to: URL(fileURLWithPath: "\(copy)/\(name)"))
      names.insert(name)
    }
    return names
  }

  private func look(at time: UInt64, files: Set<String>) async -> FaultOutcome {
    let lines = scenario.acknowledged(before: time)
    var oracle = StoreOracle(path: copy)
    oracle.add(scenario.earlier)
    oracle.add(lines)
    let place = "cut at \(time), newest acknowledged \(oracle.newestAcknowledged)"
    do {
      guard oracle.newestAcknowledged > 0 else { return try await lookWithoutPromises(place) }
      guard files.contains("log.mdb") else { return .lost("\(place): there is no log") }
      var (head, problems) = try oracle.check()
      problems += try await oracle.checkState(usingSnapshots: true)
      problems += try await oracle.checkState(usingSnapshots: false)
      guard problems.isEmpty else { return .lost("\(place): \(problems.prefix(3))") }
      let store = try await Store(MarkedLedger(), at: copy)
      let mark = EventMark(run: 1_000_000, task: 0, step: 0)
      head += 1
      let index = try await store.dispatch(.moved(mark)).index
      try await store.close()
      guard index == head else { return .lost("\(place): it goes on at \(index), not at \(head)") }
      return .survived
    } catch {
      return .lost("\(place): \(error)")
    }
  }

  /// Where nothing was acknowledged, a store must be there or be made.
  private func lookWithoutPromises(_ place: String) async throws -> FaultOutcome {
    let store = try await Store(MarkedLedger(), at: copy)
    let before = store.current.index
    let index = try await store.dispatch(.moved(EventMark(run: 1_000_000, task: 0, step: 0))).index
    try await store.close()
    return index == before + 1 ? .survived : .lost("\(place): it begins at \(index)")
  }
}
