// Goes on when something fails: for tests in which the system refuses calls, or the disk is full.
// It always holds: each refusal is said; a step that certainly wasn't appended is tried again, and
// after one that perhaps was, only later steps are.

import CrashLedger
import Hindsight

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Opens a store, dispatches to it and closes it, some times, whatever fails.
struct StubbornRun {
  private let task: ChildTask
  private let stubbornness: ChildTask.Stubbornness

  /// After so many refusals of one step in a row, its task gives up until the store is opened anew.
  private var attemptCountMax: Int { stubbornness.goFile == nil ? 3 : 200 }
  /// So many more steps are tried after one whose outcome is unknown: all are to be refused.
  private static let stepCountWhenLatched = 3

  init(_ task: ChildTask, _ stubbornness: ChildTask.Stubbornness) {
    self.task = task
    self.stubbornness = stubbornness
  }

  func run() async {
    for session in 0..<stubbornness.sessionCount {
      guard let store = await open() else { continue }
      await withTaskGroup { group in
        for number in 0..<task.taskCount {
          group.addTask { await dispatch(session, number, to: store) }
        }
      }
      do { try await store.close() } catch { say("close", error) }
    }
  }

  private func open() async -> Store<MarkedLedger>? {
    for _ in 0..<(stubbornness.goFile == nil ? 1 : attemptCountMax) {
      CrashChild.say(.starting)
      do {
        let store = try await Store(
          MarkedLedger(), at: task.path,
          options: StoreOptions(
            snapshotPolicy: task.snapshotEvery.map { SnapshotPolicy.every($0) } ?? .never))
        CrashChild.say(
          .opened(
            index: store.recovery.index, snapshotIndex: store.recovery.snapshotIndex,
            replayedEventCount: store.recovery.replayedEventCount))
        return store
      } catch {
        say("open", error)
        await waitForGo()
      }
    }
    return nil
  }

  private func dispatch(_ session: Int, _ number: Int, to store: Store<MarkedLedger>) async {
    let kinds: [ChildTask.Kind] =
      task.kind == .mixed ? [.single, .batch, .transact] : [task.kind]
    var latchedCount = 0
    let stepCount = session == 0 ? task.stepCount : stubbornness.laterStepCount ?? task.stepCount
    for step in 0..<(stepCount ?? .max) {
      let mark = EventMark(run: task.run + session, task: number, step: step)
      var attemptCount = 0
      while true {
        do {
          try await CrashChild.dispatch(mark, kinds[(number + step) % kinds.count], to: store)
          break
        } catch {
          say(nil, error)
          if (error as? HindsightError)?.code == .commitOutcomeUnknown {
            latchedCount += 1
            if latchedCount > Self.stepCountWhenLatched { return }
            break
          }
          attemptCount += 1
          if attemptCount == attemptCountMax { return }
          await waitForGo()
        }
      }
      if task.forcesSnapshots, number == 0, step % 2 == 1 { await snapshot(store) }
    }
  }

  private func snapshot(_ store: Store<MarkedLedger>) async {
    do {
      let index = try await store.snapshot()
      if index > 0 { CrashChild.say(.snapshot(index: index)) }
    } catch {
      say("snapshot", error)
    }
  }

  private func waitForGo() async {
    guard let file = stubbornness.goFile else { return }
    while access(file, F_OK) != 0 { try? await Task.sleep(for: .milliseconds(2)) }
  }

  /// Says what was refused, and of what kind of call if it wasn't a dispatch.
  private func say(_ call: String?, _ error: any Error) {
    let prefix = call.map { $0 + "/" } ?? ""
    let known = error as? HindsightError
    CrashChild.say(
      .failed(
        code: prefix + (known?.code.description ?? "other"), index: known?.index,
        eventType: known?.eventType, message: "\(error)"))
  }
}
