// What single failures of system calls must not do, each with all calls of its kind in turn.
// It always holds: at least one call of the kind really failed.

import CrashHarness
import CrashLedger
import Foundation
import Testing

@Suite(
  .serialized,
  .enabled(
    if: TracingLibrary.compiler != nil,
    "needs Linux and a C compiler: the toolchain's clang beside swift, clang, or cc"))
struct SystemCallTests {
  /// Lets the first, the second, … call fail, until a run gets through.
  private func expectNoLoss(
    _ workload: FailingWorkload, _ kind: CallFailure.Kind, _ effect: CallFailure.Effect,
    _ extent: CallFailure.Extent = .once, file: String? = nil
  ) async throws {
    let directory = try TestDirectory()
    let place = directory.path
    let bench = try await onThread { try FailingBench(in: place) }
    defer { withExtendedLifetime(directory) {} }
    var number = 1
    while true {
      let failure = CallFailure(kind, number: number, effect, extent, file: file)
      let run = try await bench.run(
        workload, failure, ChildTask.Stubbornness(sessionCount: 2, laterStepCount: 1))
      guard run.isHit else { break }
      #expect(run.crash == nil && run.problems.isEmpty, "\(failure): \(run)")
      number += 1
    }
    #expect(number > 1)
  }

  @Test func `after a flush that failed nothing is acknowledged, and nothing was lost`()
    async throws
  {
    try await expectNoLoss(.reopening, .sync, .number(EIO))
  }

  @Test func `a meta page that is in memory alone is written when the store is opened anew`()
    async throws
  {
    try await expectNoLoss(.reopening, .write, .number(EIO), .twice)
  }

  @Test func `nothing is written below a meta page that another process's commit left`()
    async throws
  {
    try await expectNoLoss(.beside, .write, .number(EIO), .twice)
  }

  @Test func `a store whose making was cut short is made when it is opened again`() async throws {
    try await expectNoLoss(.creation, .write, .short, .always)
  }

  @Test(arguments: [CallFailure.Kind.open, .seek])
  func `a call that was interrupted is made again`(kind: CallFailure.Kind) async throws {
    try await expectNoLoss(.reopening, kind, .number(EINTR))
  }

  @Test func `snapshots that can't be read now aren't taken for damaged`() async throws {
    try await expectNoLoss(.reopening, .read, .number(EIO), file: "snapshots.mdb")
  }

  @Test func `a failure of the snapshots' file stops no dispatch`() async throws {
    try await expectNoLoss(.reopening, .write, .number(ENOSPC), .always, file: "snapshots.mdb")
  }
}
