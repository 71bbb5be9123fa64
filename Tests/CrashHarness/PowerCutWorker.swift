// Looks at the states of one recording in a process of its own, which a state may end.
// It always holds: before a state is looked at, its number is said, so that it is known which one
// ended the process.

import Foundation

/// What a worker is asked to do.
package struct PowerCutJob: Sendable {
  package static let name = "powercut"

  /// The store's path in the traces, and where its states are put.
  package var store: String
  package var copy: String
  package var traces: [String]
  package var seed: UInt64
  package var countMax: Int

  package init(store: String, copy: String, traces: [String], seed: UInt64, countMax: Int) {
    self.store = store
    self.copy = copy
    self.traces = traces
    self.seed = seed
    self.countMax = countMax
  }

  /// The arguments of a worker that begins at a state.
  func arguments(first: Int) -> [String] {
    ["worker", Self.name, store, copy, "\(seed)", "\(countMax)", "\(first)"] + traces
  }

  /// Does what the arguments after the name say, saying one line before and one after each state.
  ///
  /// - Returns: false where the arguments mean nothing.
  package static func work(_ arguments: [String], say: (String) -> Void) async throws -> Bool {
    guard arguments.count > 5, let seed = UInt64(arguments[2]), let countMax = Int(arguments[3]),
      let first = Int(arguments[4])
    else { return false }
    let job = PowerCutJob(
      store: arguments[0], copy: arguments[1], traces: Array(arguments[5...]), seed: seed,
      countMax: countMax)
    try await job.work(from: first, say: say)
    return true
  }

  func plan(_ trace: SystemCallTrace) throws -> PowerCutPlan {
    try PowerCutPlan(trace, store: store, seed: seed, countMax: countMax)
  }

  private func work(from first: Int, say: (String) -> Void) async throws {
    let trace = try SystemCallTrace(merging: traces)
    let plan = try plan(trace)
    var replay = DiskReplay(trace, store: store)
    let check = PowerCutCheck(path: copy)
    var state = first
    while state < plan.count, let point = plan.point(of: state) {
      try replay.advance(to: point.position)
      let cut = DiskCut(replay.disk, store: store)
      while state < point.first + point.count {
        say("state \(state)")
        try check.put(cut.files(plan.choice(of: state, at: point, cut)))
        let outcome = await check.look(replay.oracle, isCreated: replay.isCreated)
        say("result \(state) \(Self.line(outcome))")
        state += 1
      }
    }
  }

  private static func line(_ outcome: FaultOutcome) -> String {
    let line =
      switch outcome {
      case .survived: "survived"
      case .refused: "refused"
      case .lost(let text): "lost \(text)"
      case .crashed(let text): "crashed \(text)"
      }
    return line.split(separator: "\n").joined(separator: " ")
  }
}

/// Runs workers on a recording until all of its states were looked at.
package struct PowerCutProcess {
  private let job: PowerCutJob

  /// A state that takes longer has ended its process, too.
  private static let patienceMilliseconds: Int32 = 30_000

  package init(_ job: PowerCutJob) { self.job = job }

  /// Blocks.
  ///
  /// - Parameter isStoppedByLoss: whether the first few losses are enough.
  package func run(count: Int, isStoppedByLoss: Bool = false) throws -> FaultReport {
    var report = FaultReport()
    var next = 0
    while next < count, !isStoppedByLoss || report.lostCount < 10 {
      let child = try ChildProcess(
        // The torture command is its own worker.
        ChildProcess.neighbour("torture"), job.arguments(first: next),
        // What a process dies of is told by its ending; a picture of its memory takes a second.
        environment: ["SWIFT_BACKTRACE": "enable=no"])
      child.patienceMilliseconds = Self.patienceMilliseconds
      var silence: String?
      do {
        while let line = try child.readLine() {
          guard let outcome = outcome(line) else { continue }
          report.add(outcome)
          next += 1
        }
      } catch let failure as ChildProcess.Failure {
        silence = failure.description
      }
      let ending = child.wait()
      if next == count { break }
      guard case .killed(let signal) = ending else {
        throw ChildProcess.Failure(description: "the worker ended with \(ending) at \(next)")
      }
      report.add(.crashed("state \(next): \(silence ?? "signal \(signal)"), \(command(next))"))
      next += 1
    }
    return report
  }

  private func outcome(_ line: String) -> FaultOutcome? {
    let words = line.split(separator: " ", maxSplits: 3).map(String.init)
    guard words.count >= 3, words[0] == "result", let state = Int(words[1]) else { return nil }
    let text = "state \(state): \(words.count > 3 ? words[3] : ""), \(command(state))"
    switch words[2] {
    case "survived": return .survived
    case "refused": return .refused
    case "lost": return .lost(text)
    default: return .crashed(text)
    }
  }

  /// What shows a state again.
  private func command(_ state: Int) -> String {
    "again with: torture \(job.arguments(first: state).joined(separator: " "))"
  }
}
