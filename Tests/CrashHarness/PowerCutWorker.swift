// Looks at the states of one recording in a process of its own, which a state may end.
// It always holds: a state's number is said before it is looked at, so that it is known which one
// ended the process.

import Foundation

/// States of one recording to be looked at, as a process is told of them.
package struct PowerCutJob: Sendable {
  package static let name = "powercut"

  /// The store's path in the traces, and where its states are put.
  private let store: String
  private let copy: String
  private let traces: [String]
  private let seed: UInt64
  private let countMax: Int

  /// - Parameter countMax: of the plan; see there.
  package init(_ recording: PowerCutRecording, copy: String, seed: UInt64, countMax: Int) {
    store = recording.store
    traces = recording.traces
    self.copy = copy
    self.seed = seed
    self.countMax = countMax
  }

  /// - Parameter arguments: those after the worker's name, and before the range of states.
  /// - Returns: nil where they mean nothing.
  package init?(arguments: [String]) {
    guard arguments.count > 4, let seed = UInt64(arguments[2]), let countMax = Int(arguments[3])
    else { return nil }
    store = arguments[0]
    copy = arguments[1]
    self.seed = seed
    self.countMax = countMax
    traces = Array(arguments[4...])
  }

  private var arguments: [String] { [Self.name, store, copy, "\(seed)", "\(countMax)"] + traces }

  func plan() throws -> PowerCutPlan {
    try PowerCutPlan(
      try SystemCallTrace(merging: traces), store: store, seed: seed, countMax: countMax)
  }

  /// The processes that look at the states.
  var process: WorkerProcess {
    WorkerProcess(arguments: arguments) { [arguments] state in
      let words = ["worker"] + arguments + ["\(state)", "\(state + 1)"]
      return "state \(state) (again with: torture \(words.joined(separator: " ")))"
    }
  }

  /// Looks at the states of a range of numbers, and says one line for each step and result.
  package func work(_ range: Range<Int>, say: (String) -> Void) async throws {
    // What LMDB says when it ends the process is for who counts the states.
    dup2(1, 2)
    let plan = try plan()
    var replay = DiskReplay(try SystemCallTrace(merging: traces), store: store)
    let check = PowerCutCheck(path: copy)
    var state = range.lowerBound
    while state < range.upperBound, let point = plan.point(of: state) {
      try replay.advance(to: point.position)
      let cut = DiskCut(replay.disk, store: store)
      while state < min(point.first + point.count, range.upperBound) {
        say("step \(state) making")
        try check.put(cut.files(plan.choice(of: state, at: point, cut)))
        say("step \(state) looking")
        let outcome = await check.look(replay.oracle, isCreated: replay.isCreated)
        say(WorkerProcess.line(outcome, of: state))
        state += 1
      }
    }
  }
}
