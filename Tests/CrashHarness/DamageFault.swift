// Damages every byte of a small store in turn, and cuts its files off at every sector.
// It always holds: whatever a process that looks dies of, its try is counted, and the next begins.

import Foundation
import Hindsight
import HindsightTool

/// Damaged files: flipped bytes and cut-off ends.
package struct DamageFault: Fault {
  package static let name = "damage"
  package static let summary =
    "each byte of a small store's files changed in turn, and each file cut off at every sector"

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    let directory = try TestDirectory(inMemory: true)
    let sound = directory.path + "/sound.hindsight"
    try await Self.makeStore(at: sound)
    var report = FaultReport()
    for file in ["log.mdb", "snapshots.mdb"] {
      report.add(try await Self.damageLibrary(file, of: sound, in: directory.path, context))
      context.progress("\(report.triedCount)")
      report.add(try await Self.damageVerbs(file, of: sound, in: directory.path, context))
      context.progress("\(report.triedCount)")
    }
    let copy = directory.path + "/bits.hindsight"
    report.add(
      try await onThread {
        let bits = try DamageBits(sound: sound, copy: copy)
        return try bits.run(
          allBits: context.size == .full, generator: context.generator("damage bits"))
      })
    report.details = Self.summed(report.details)
    return report
  }

  private static func damages(
    _ file: String, of store: String, step: Int, _ context: FaultContext
  ) throws -> DamageList {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(file)")))
    return DamageList(of: bytes, step: step, seed: context.seed)
  }

  /// Opens, reads and writes damaged copies.
  private static func damageLibrary(
    _ file: String, of sound: String, in directory: String, _ context: FaultContext
  ) async throws -> FaultReport {
    let step = context.count(quick: 61, full: 1)
    let damages = try damages(file, of: sound, step: step, context)
    var report = try await inTwo(count: damages.count, atATime: 500) { number, jobs in
      let worker = DamageProcess(
        sound: sound, copy: "\(directory)/copy-\(number).hindsight", file: file, step: step,
        seed: context.seed, damages: damages)
      var report = FaultReport()
      while let range = jobs.next() { report.add(try worker.run(range)) }
      return report
    }
    report.details.append("\(report.triedCount) of \(file) in the library")
    return report
  }

  /// Asks of damaged copies with every verb.
  private static func damageVerbs(
    _ file: String, of sound: String, in directory: String, _ context: FaultContext
  ) async throws -> FaultReport {
    let damages = try damages(file, of: sound, step: 16, context)
    var generator = context.generator("verbs on \(file)")
    let numbers = (0..<damages.count).shuffled(using: &generator)
      .prefix(context.count(quick: 150, full: 6_000))
    var report = try await inTwo(count: numbers.count, atATime: 20) { number, jobs in
      let verbs = try DamageVerbs(
        sound: sound, copy: "\(directory)/asked-\(number).hindsight")
      var report = FaultReport()
      while let range = jobs.next() {
        for place in range { report.add(try verbs.look(file, damages[numbers[place]])) }
      }
      return report
    }
    report.details.append("\(report.triedCount) of \(file) on the command line")
    return report
  }

  /// Shares work between two threads, one for each of two processors.
  private static func inTwo(
    count: Int, atATime size: Int,
    _ work: @escaping @Sendable (_ number: Int, _ jobs: DamageJobs) throws -> FaultReport
  ) async throws -> FaultReport {
    let jobs = DamageJobs(count: count, size: size)
    return try await withThrowingTaskGroup(of: FaultReport.self) { group in
      for number in 0..<2 {
        group.addTask { try await onThread { try work(number, jobs) } }
      }
      return try await group.reduce(into: FaultReport()) { $0.add($1) }
    }
  }

  /// Joins "3 x" and "4 x" to "7 x".
  private static func summed(_ details: [String]) -> [String] {
    var counts: [(text: String, count: Int)] = []
    for detail in details {
      let words = detail.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let count = Int(words[0]) else { continue }
      if let place = counts.firstIndex(where: { $0.text == words[1] }) {
        counts[place].count += count
      } else {
        counts.append((words[1], count))
      }
    }
    return counts.map { "\($0.count) \($0.text)" }
  }

  /// A store with everything in it: commits of one and of several events, values with pages of
  /// their own, several levels of pages, and snapshots.
  private static func makeStore(at path: String) async throws {
    let store = try await Store(
      MergePatchReducer(), at: path, options: StoreOptions(snapshotPolicy: .never))
    func event(_ number: Int, size: Int) throws -> PatchEvent {
      try PatchEvent(
        recordedTypeName: number.isMultiple(of: 3) ? "changed" : "added",
        key: "key \(number % 7)", value: .string(String(repeating: "x", count: size) + "\(number)"))
    }
    for number in 0..<12 {
      try await store.dispatch(event(number, size: number == 5 ? 9_000 : 10 * number))
      if number == 7 { _ = try await store.snapshot() }
    }
    try await store.dispatch(contentsOf: (12..<20).map { try event($0, size: 700) })
    for number in 20..<24 { try await store.dispatch(event(number, size: 30)) }
    _ = try await store.snapshot()
    try await store.close()
  }
}

/// Ranges of numbers that several workers take from. Unchecked: the lock guards all of it.
private final class DamageJobs: @unchecked Sendable {
  private let lock = NSLock()
  private let count: Int
  private let size: Int
  private var start = 0

  init(count: Int, size: Int) {
    self.count = count
    self.size = size
  }

  func next() -> Range<Int>? {
    lock.withLock {
      guard start < count else { return nil }
      let range = start..<min(start + size, count)
      start = range.upperBound
      return range
    }
  }
}

/// Runs workers on ranges of damages, and starts a new one where one died.
private struct DamageProcess: Sendable {
  let sound: String
  let copy: String
  let file: String
  let step: Int
  let seed: UInt64
  let damages: DamageList

  /// Blocks.
  func run(_ range: Range<Int>) throws -> FaultReport {
    var report = FaultReport()
    var next = range.lowerBound
    while next < range.upperBound {
      let child = try ChildProcess(
        ChildProcess.neighbour("torture"),
        [
          "worker", DamageWorker.name, sound, copy, file, "\(step)", "\(seed)", "\(next)",
          "\(range.upperBound)",
        ],
        // What a process dies of is told by its ending; a picture of its memory takes a second.
        environment: ["SWIFT_BACKTRACE": "enable=no"])
      var lastStep = ""
      while let line = try child.readLine() {
        let words = line.split(separator: " ", maxSplits: 3).map(String.init)
        guard words.count >= 3, let number = Int(words[1]) else { continue }
        if words[0] == "step" { lastStep = words[2] }
        guard words[0] == "result" else { continue }
        report.add(outcome(words, number))
        next = number + 1
        lastStep = ""
      }
      let ending = child.wait()
      if next == range.upperBound { break }
      guard case .killed(let signal) = ending else {
        throw ChildProcess.Failure(description: "the worker ended with \(ending) at \(next)")
      }
      report.add(death(at: next, step: lastStep, signal: signal))
      next += 1
    }
    return report
  }

  private func outcome(_ words: [String], _ number: Int) -> FaultOutcome {
    let text = "\(file) \(damages[number]): \(words.count > 3 ? words[3] : "")"
    switch words[2] {
    case "survived": return .survived
    case "refused": return .refused
    case "lost": return .lost(text)
    default: return .crashed(text)
    }
  }

  /// A process that opens a damaged store may end by a signal, as LMDB reads the pages where they
  /// are mapped; the verifier never.
  private func death(at number: Int, step: String, signal: Int32) -> FaultReport {
    var report = FaultReport()
    report.add(.crashed("\(file) \(damages[number]): signal \(signal) at \(step)"))
    report.details.append("1 ended by signal while \(step)")
    return report
  }
}
