// The process that the crash tests kill: dispatches from many tasks, and says what is acknowledged.
// It always holds: a line of an acknowledgement is written after its dispatch returned.

import CrashLedger
import Hindsight

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

@main struct CrashChild {
  static func main() async {
    guard let task = ChildTask(arguments: Array(CommandLine.arguments.dropFirst())) else {
      say(.failed(code: "usage", index: nil, eventType: nil, message: "wrong arguments"))
      exit(64)
    }
    do {
      if let stubbornness = task.stubbornness {
        await StubbornRun(task, stubbornness).run()
      } else {
        try await run(task)
      }
      say(.done)
    } catch let error as HindsightError {
      say(
        .failed(
          code: error.code.description, index: error.index, eventType: error.eventType,
          message: "\(error)"))
      exit(1)
    } catch {
      say(.failed(code: "other", index: nil, eventType: nil, message: "\(error)"))
      exit(1)
    }
  }

  private static func run(_ task: ChildTask) async throws {
    say(.starting)
    let policy = task.snapshotEvery.map { SnapshotPolicy.every($0) } ?? .never
    let store = try await Store(
      MarkedLedger(), at: task.path,
      options: StoreOptions(snapshotPolicy: policy, isReadOnly: task.kind == .look))
    say(
      .opened(
        index: store.recovery.index, snapshotIndex: store.recovery.snapshotIndex,
        replayedEventCount: store.recovery.replayedEventCount))
    if task.kind != .look {
      try await withThrowingTaskGroup { group in
        for number in 0..<task.taskCount {
          group.addTask { try await dispatch(task, number, to: store) }
        }
        if task.forcesSnapshots {
          // Ends with the process, or when the store is closed.
          Task.detached {
            while true {
              let index = try await store.snapshot()
              if index > 0 { say(.snapshot(index: index)) }
              await Task.yield()
            }
          }
        }
        try await group.waitForAll()
      }
    }
    if let file = task.endFile { try await sayEnd(of: store, beside: file) }
    try await store.close()
  }

  /// Says that the tasks have ended, waits for the word that all processes' have, and says the
  /// state.
  private static func sayEnd(of store: Store<MarkedLedger>, beside file: String) async throws {
    say(.starting)
    while access(file + ".through", F_OK) != 0 { try await Task.sleep(for: .milliseconds(5)) }
    try await store.flush()
    let (state, index) = store.current
    say(.ended(index: index, eventCount: state.eventCount, history: state.history))
  }

  private static func dispatch(
    _ task: ChildTask, _ number: Int, to store: Store<MarkedLedger>
  ) async throws {
    let kinds: [ChildTask.Kind] =
      task.kind == .mixed ? [.single, .batch, .transact] : [task.kind]
    for step in 0..<(task.stepCount ?? .max) {
      if let file = task.endFile, access(file, F_OK) == 0 { break }
      let mark = EventMark(run: task.run, task: number, step: step)
      try await dispatch(mark, kinds[(number + step) % kinds.count], to: store)
    }
  }

  /// Dispatches the events of a step, and says that it is acknowledged.
  static func dispatch(
    _ step: EventMark, _ kind: ChildTask.Kind, to store: Store<MarkedLedger>
  ) async throws {
    var mark = step
    if kind != .single { mark.partCount = 2 + Int(mark.hash % 11) }
    let parts = mark.parts
    let receipt =
      switch kind {
      case .batch: try await store.dispatch(contentsOf: parts.map { .moved($0) })
      case .transact:
        try await store.transact { state in
          parts.map { .decided(mark: $0.text, seenCount: state.eventCount) }
        }
      default: try await store.dispatch(.moved(mark))
      }
    say(.acknowledged(mark, index: receipt.indexes.lowerBound))
  }

  /// Writes a line to standard output at once; the process ends where nobody reads it.
  static func say(_ line: ChildLine) {
    let bytes = Array((line.text + "\n").utf8)
    let result = write(1, bytes, bytes.count)
    if result != bytes.count { exit(74) }
  }
}
