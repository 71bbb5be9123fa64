// Knows what a store must hold after its processes were killed, and compares.
// It always holds: what was acknowledged is never forgotten here, whatever the store says.

package import CrashLedger
import Hindsight
package import HindsightCore
import HindsightLog
import HindsightValue

/// One task of one process.
package struct TaskKey: Hashable {
  package let run: Int
  package let task: Int
}

/// What the processes of a store were told, and whether the store agrees.
package struct StoreOracle {
  /// What was acknowledged, by index.
  package private(set) var acknowledged: [EventIndex: EventMark] = [:]
  /// The newest acknowledged step of each task.
  private var newestSteps: [TaskKey: Int] = [:]
  /// How far the log was looked at, and the digest of the commit that ends there.
  private var walk = HistoryWalk()
  private var checkedDigest: UInt64?
  /// What contradicted itself already when it was said.
  package private(set) var contradictions: [String] = []

  /// Where the store is; a copy of it elsewhere can be looked at, too.
  package var path: String

  package init(path: String) { self.path = path }

  /// The highest acknowledged index.
  package var newestAcknowledged: EventIndex { acknowledged.keys.max() ?? 0 }

  package mutating func add(_ lines: [ChildLine]) {
    for line in lines {
      switch line {
      case .acknowledged(let mark, let first):
        for (offset, part) in mark.parts.enumerated() {
          let old = acknowledged.updateValue(part, forKey: first + EventIndex(offset))
          if let old { contradictions.append("\(old.text) and \(part.text) have the same index") }
        }
        let key = TaskKey(run: mark.run, task: mark.task)
        if mark.step != (newestSteps[key] ?? -1) + 1 {
          contradictions.append("\(mark.text) was acknowledged out of its task's order")
        }
        newestSteps[key] = mark.step
      case .failed(let code, _, _, let message):
        contradictions.append("the process failed: \(code) \(message)")
      default: break
      }
    }
  }

  /// Looks at everything in the store, and goes through the events that are new.
  ///
  /// - Returns: the store's head, and what is wrong.
  package mutating func check() throws -> (head: EventIndex, problems: [String]) {
    let report = try LogVerifier(path: path).verify()
    var problems = contradictions + report.findings.map(\.description)
    let log = try LMDBLog.open(
      path: path, options: .init(access: .readOnly, reducerName: MarkedLedger().name))
    defer { log.close() }
    let head = try log.head()
    if report.headIndex != head.index {
      problems.append("head \(head.index), verified \(report.headIndex)")
    }
    if newestAcknowledged > head.index {
      problems.append("\(newestAcknowledged) was acknowledged, but the log ends at \(head.index)")
    }
    if let checkedDigest, try log.digest(at: walk.index) != checkedDigest {
      problems.append("the history up to \(walk.index) isn't the one that was there before")
    }
    if head.index > walk.index {
      try log.forEachEvent(in: (walk.index + 1)...head.index) { recorded in
        try walk.visit(recorded, acknowledged: acknowledged[recorded.index])
        return .next
      }
    }
    problems += walk.finish(head: head.index)
    checkedDigest = head.digest
    for (key, step) in walk.newestSteps where step > (newestSteps[key] ?? -1) + 1 {
      problems.append("\(key) has step \(step), but was only told of \(newestSteps[key] ?? -1)")
    }
    return (head.index, problems)
  }

  /// What is wrong with the state that the store opens with, from its snapshots or without them.
  package func checkState(usingSnapshots: Bool) async throws -> [String] {
    let options = LMDBLog.Options(access: .readOnly, reducerName: MarkedLedger().name)
    let log = try LMDBLog.open(path: path, options: options)
    let snapshots = usingSnapshots ? LMDBSnapshotStorage.open(path: path, options: options) : nil
    let store = try await Store(
      MarkedLedger(), log: log, snapshots: snapshots, options: StoreOptions(isReadOnly: true))
    var problems = store.recovery.ignoredSnapshots.map {
      "the snapshot at \($0.index) is unusable: \($0.reason)"
    }
    let (state, index) = store.current
    if index != walk.index || state != walk.state {
      problems.append(
        "\(usingSnapshots ? "with" : "without") snapshots the state at \(index) is \(state), not "
          + "that at \(walk.index), \(walk.state)")
    }
    try await store.close()
    return problems
  }
}

/// Goes through a log's events in order, and finds what can't be.
package struct HistoryWalk {
  private var problems: [String] = []
  private var seen: Set<EventMark> = []
  package private(set) var newestSteps: [TaskKey: Int] = [:]
  package private(set) var index: EventIndex = 0
  /// The state of the events as they must be, made without a store.
  package private(set) var state = MarkedLedger().initialState
  private var previous: EventMark?

  /// The app's event of a recorded one.
  package static func event(_ recorded: RecordedEvent) throws -> MarkedLedger.Event {
    var scratch = CBORWriter()
    return try EventCoder<MarkedLedger.Event>(eventTypeName: MarkedLedger().eventTypeName).decode(
      type: EventType(name: recorded.typeName, form: recorded.form),
      payload: recorded.payloadBytes.span.bytes, scratch: &scratch)
  }

  package mutating func visit(_ recorded: RecordedEvent, acknowledged: EventMark?) throws {
    index += 1
    let event = try Self.event(recorded)
    func add(_ problem: String) { problems.append("event \(recorded.index): \(problem)") }
    guard let mark = event.mark else { return add("it has no mark: \(event)") }
    if recorded.index != index { add("it comes as number \(index)") }
    if let acknowledged, acknowledged != mark {
      add("\(acknowledged.text) was acknowledged there, but there is \(mark.text)")
    }
    if !seen.insert(mark).inserted { add("\(mark.text) is there twice") }
    let right: MarkedLedger.Event =
      switch event {
      case .moved: .moved(mark)
      case .decided: .decided(mark: mark.text, seenCount: Int(index) - 1 - mark.part)
      }
    if event != right { add("it is \(event), not \(right)") }
    checkOrder(mark, recorded)
    previous = mark
    // The state is of what was acknowledged, not of what the log says, should the two differ.
    MarkedLedger().reduce(
      into: &state, acknowledged.map { $0 == mark ? right : .moved($0) } ?? event,
      context: EventContext(index: index, recordedTime: recorded.recordedTime))
  }

  private mutating func checkOrder(_ mark: EventMark, _ recorded: RecordedEvent) {
    func add(_ problem: String) { problems.append("event \(recorded.index): \(problem)") }
    if recorded.startsDispatch != (mark.part == 0) { add("its dispatch doesn't begin there") }
    if mark.part > 0 {
      var expected = mark
      expected.part -= 1
      if previous != expected { add("\(mark.text) doesn't follow the rest of its batch") }
      return
    }
    checkEnd()
    let key = TaskKey(run: mark.run, task: mark.task)
    if mark.step != (newestSteps[key] ?? -1) + 1 { add("\(mark.text) is out of its task's order") }
    newestSteps[key] = mark.step
  }

  /// Whether the batch that the previous event belongs to is whole.
  private mutating func checkEnd() {
    guard let previous, previous.part != previous.partCount - 1 else { return }
    problems.append("the batch of \(previous.text) is torn")
  }

  package mutating func finish(head: EventIndex) -> [String] {
    checkEnd()
    if index != head { problems.append("there are \(index) events up to index \(head)") }
    return problems
  }
}
