// The model of a disk that power cuts are simulated with, on traces made by hand; and a simulation
// of a whole run, which must find what is lost where flushes are left out.

import CrashHarness
import Foundation
import Testing

@Suite struct DiskModelTests {
  private static let pageSize = 4_096

  /// Calls on one file, each begun when the one before it had ended.
  private static func trace(_ calls: [TracedCall]) -> SystemCallTrace {
    var time: UInt64 = 1
    return SystemCallTrace(
      calls.map { call in
        var call = call
        call.begin = time
        call.end = time + 1
        time += 2
        return call
      })
  }

  private static func write(
    _ byte: UInt8, at offset: Int = 0, count: Int = pageSize, through: Bool = false
  ) -> TracedCall {
    TracedCall(
      kind: .write, begin: 0, end: 0, path: "/log", offset: offset, length: count, result: count,
      inode: 7, writesThrough: through, data: Array(repeating: byte, count: count))
  }

  private static func sync(inode: UInt64 = 7) -> TracedCall {
    TracedCall(kind: .dataSync, begin: 0, end: 0, path: "/log", inode: inode)
  }

  /// The first bytes of all pages, in each state that is possible after all calls.
  private static func states(_ calls: [TracedCall]) -> Set<[UInt8]> {
    let trace = trace(calls)
    let cut = DiskFile(trace, path: "/log").cut(at: .max)
    let states = DiskStates(cut)
    var generator = SeededGenerator(seed: 1)
    return Set(
      (0..<states.count).compactMap { number in
        let (versions, isTorn) = states.versions(number, &generator)
        guard !isTorn else { return nil }
        let image = cut.image(versions)
        return stride(from: 0, to: image.count, by: pageSize).map { image[$0] }
      })
  }

  @Test func `any pages that weren't flushed may be missing`() {
    let pages = [Self.write(1), Self.write(2, at: Self.pageSize)]
    #expect(Self.states(pages) == [[], [1], [0, 2], [1, 2]])
    #expect(Self.states([Self.write(1, count: 2 * Self.pageSize)]) == [[], [1], [0, 1], [1, 1]])
  }

  @Test func `what was flushed is there`() {
    let flushed = [Self.write(1), Self.sync(), Self.write(2, at: Self.pageSize)]
    #expect(Self.states(flushed) == [[1], [1, 2]])
    #expect(Self.states([Self.write(1, through: true)]) == [[1]])
  }

  @Test func `a flush of another file counts for nothing`() {
    #expect(Self.states([Self.write(1), Self.sync(inode: 8)]) == [[], [1]])
  }

  @Test func `a flush that began before a write had ended doesn't count for it`() {
    var calls = Self.trace([Self.write(1), Self.sync()]).calls
    calls[1].begin = calls[0].begin
    let cut = DiskFile(SystemCallTrace(calls), path: "/log").cut(at: .max)
    #expect(cut.versionCounts == [1, 2])
  }

  @Test func `the writes to one page keep their order`() {
    #expect(Self.states([Self.write(1), Self.write(2), Self.write(3)]) == [[], [1], [2], [3]])
    // A page that is written through takes with it what was written to it before.
    #expect(
      Self.states([Self.write(1), Self.write(2, through: true), Self.write(3)]) == [[2], [3]])
  }

  @Test func `a cut in the middle of a call leaves open whether it was done`() {
    let trace = Self.trace([Self.write(1), Self.sync(), Self.write(2)])
    let file = DiskFile(trace, path: "/log")
    #expect(file.cut(at: trace.calls[0].begin).versionCounts == [1])
    #expect(file.cut(at: trace.calls[0].end).versionCounts == [1, 2])
    // The flush has begun, but not ended.
    #expect(file.cut(at: trace.calls[1].begin).versionCounts == [1, 2])
    #expect(file.cut(at: trace.calls[1].end).versionCounts == [1])
    #expect(file.cut(at: trace.calls[2].end).versionCounts == [1, 2])
  }

  @Test func `a torn page has some sectors of the one version and some of the other`() {
    let trace = Self.trace([Self.write(1), Self.sync(), Self.write(2)])
    let cut = DiskFile(trace, path: "/log").cut(at: .max)
    let image = cut.image([0, 0]) { _ in 0b0000_0101 }
    let sectors = stride(from: 0, to: image.count, by: 512).map { image[$0] }
    #expect(sectors == [2, 1, 2, 1, 1, 1, 1, 1])
  }

  @Test func `a size that wasn't flushed may be the old one`() {
    var grow = TracedCall(kind: .allocate, begin: 0, end: 0, path: "/log", inode: 7)
    grow.length = 2 * Self.pageSize
    #expect(Self.states([Self.write(1), Self.sync(), grow]) == [[1], [1, 0]])
    #expect(Self.states([Self.write(1), grow, Self.sync()]) == [[1, 0]])
  }
}
