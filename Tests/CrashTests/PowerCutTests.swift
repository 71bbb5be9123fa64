// Simulated power cuts: nothing that was acknowledged is lost by one, and what flushes that are
// left out would lose is found.

import CrashHarness
import CrashLedger
import Foundation
import Testing

@Suite(
  .serialized,
  .enabled(
    if: TracingLibrary.compiler != nil,
    "needs Linux and a C compiler: the toolchain's clang beside swift, clang, or cc"))
struct PowerCutTests {
  private func look(
    _ scenario: PowerCutScenario, _ swallowing: TracedRun.Swallowing = .nothing, countMax: Int
  ) async throws -> FaultReport {
    let generator = SeededGenerator.forTest("power cuts, \(scenario.rawValue)")
    let tools = try TestDirectory()
    let place = tools.path
    defer { withExtendedLifetime(tools) {} }
    return try await onThread {
      var generator = generator
      let bench = try PowerCutBench(library: try TracingLibrary.compile(into: place))
      let report = try bench.look(
        scenario, swallowing: swallowing, countMax: countMax, using: &generator,
        isEndedByLoss: swallowing != .nothing)
      if swallowing == .nothing, !report.isGood { bench.keep() }
      return report
    }
  }

  @Test(arguments: [PowerCutScenario.snapshots, .reopened, .beside, .killed])
  func `whenever the power is cut, what was acknowledged is there`(
    scenario: PowerCutScenario
  ) async throws {
    let report = try await look(scenario, countMax: 100)
    #expect(report.isGood && report.survivedCount > 0, "\(report.problems)")
  }

  @Test(arguments: [TracedRun.Swallowing.syncs, .writeThrough, .all])
  func `flushes that are left out lose something`(
    swallowing: TracedRun.Swallowing
  ) async throws {
    let report = try await look(.crowd, swallowing, countMax: 300)
    #expect(report.lostCount > 0)
    // Without other flushes, the store's directory itself can be gone.
    guard swallowing == .writeThrough else { return }
    #expect(report.problems.contains { $0.contains("was acknowledged") }, "\(report.problems)")
  }

  @Test func `a plan has the same states whenever it is made, and each is one of its moments'`()
    async throws
  {
    let tools = try TestDirectory()
    let place = tools.path
    defer { withExtendedLifetime(tools) {} }
    try await onThread {
      var generator = SeededGenerator.forTest("a plan")
      let bench = try PowerCutBench(library: try TracingLibrary.compile(into: place))
      let recording = try bench.record(.singles, using: &generator)
      let trace = try recording.trace()
      let plans = try (0..<2).map { _ in
        try PowerCutPlan(trace, store: recording.store, seed: 3, countMax: 500)
      }
      #expect(plans[0].points == plans[1].points)
      #expect(plans[0].points.count > 1)
      #expect(plans[0].points.map(\.count).reduce(0, +) == plans[0].count)
      for state in 0..<plans[0].count {
        let point = try #require(plans[0].point(of: state))
        #expect((point.first..<point.first + point.count).contains(state))
      }
    }
  }
}
