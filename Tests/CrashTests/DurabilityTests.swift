// Durable means durable: proven from the system calls of real runs, and shown to be able to fail.

import CrashHarness
import CrashLedger
import Foundation
import HindsightLog
import Testing

@Suite(
  .enabled(
    if: TracingLibrary.compiler != nil,
    "needs Linux and a C compiler: the toolchain's clang beside swift, clang, or cc"))
struct DurabilityTests {
  /// Traces a run, and checks it.
  private func check(
    _ kind: ChildTask.Kind, _ swallowing: TracedRun.Swallowing = .nothing
  ) async throws -> (check: DurabilityCheck, trace: SystemCallTrace) {
    var task = ChildTask(kind, path: "")
    task.run = 1
    task.taskCount = 16
    task.stepCount = 12
    // Snapshots are written meanwhile, to another file, whose flushes count for nothing.
    task.snapshotEvery = 20
    let (check, trace, report) = try await onThread { [task] in
      let directory = try TestDirectory()
      let library = try TracingLibrary.compile(into: directory.path)
      let run = try TracedRun(task, in: directory.path, swallowing: swallowing, library: library)
      let check = try DurabilityCheck(run.trace, store: run.store, pageSize: Int(getpagesize()))
      return (check, run.trace, try LogVerifier(path: run.store).verify())
    }
    // The trace is of the whole run, and the check has read it all.
    #expect(report.findings.isEmpty)
    #expect(check.acknowledgements.count == Int(report.headIndex))
    #expect(Set(check.acknowledgements.map(\.mark)).count == check.acknowledgements.count)
    #expect(check.commitCount == Int(report.commitCount))
    return (check, trace)
  }

  @Test(arguments: [ChildTask.Kind.single, .batch, .transact, .mixed])
  func `every dispatch returns after a flush that came after its commit's last byte`(
    kind: ChildTask.Kind
  ) async throws {
    let (check, trace) = try await check(kind)
    #expect(check.violations.isEmpty, "\(check.violations.prefix(5))")
    #expect(check.acknowledgements.count >= 16 * 12)
    // What the check relies on is in the trace.
    #expect(trace.calls.contains { $0.kind == .dataSync && $0.path.hasSuffix("/log.mdb") })
    #expect(trace.calls.contains { $0.path.hasSuffix("/snapshots.mdb") && $0.kind == .write })
    #expect(!trace.calls.contains { $0.kind == .mapWritable && $0.path.hasSuffix("/log.mdb") })
  }

  @Test func `without any flush no acknowledgement passes`() async throws {
    let (check, _) = try await check(.mixed, .all)
    let failing = Set(check.violations.filter { $0.reason == .pagesNotDurable }.map(\.mark))
    #expect(failing == Set(check.acknowledgements.map(\.mark)))
    #expect(check.violations.filter { $0.reason == .namesNotDurable }.count == 2)
  }

  @Test func `without flushes of the pages no acknowledgement passes`() async throws {
    let (check, _) = try await check(.single, .syncs)
    let failing = Set(check.violations.filter { $0.reason == .pagesNotDurable }.map(\.mark))
    #expect(failing == Set(check.acknowledgements.map(\.mark)))
  }

  @Test func `without flushes of the meta page hardly any acknowledgement passes`() async throws {
    let (check, _) = try await check(.single, .writeThrough)
    let failing = check.violations.filter { $0.reason == .metaPageNotDurable }
    // The next commit's flush covers the meta page, and may come before a slow task's line.
    #expect(failing.count > check.acknowledgements.count / 2)
  }
}
