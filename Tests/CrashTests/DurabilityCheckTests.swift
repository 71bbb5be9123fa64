// The check of durability on traces made by hand: it accepts the right order, and nothing else.

import CrashHarness
import CrashLedger
import Testing

@Suite struct DurabilityCheckTests {
  private static let mark = EventMark(run: 1, task: 2, step: 3)
  private static let store = "/tmp/a/b.hindsight"

  /// Makes calls one after the other, each through before the next begins.
  private static func trace(_ calls: [TracedCall]) -> SystemCallTrace {
    var calls = calls
    for number in calls.indices {
      calls[number].begin = UInt64(2 * number + 1)
      calls[number].end = UInt64(2 * number + 2)
    }
    return SystemCallTrace(calls)
  }

  private static func call(
    _ kind: TracedCall.Kind, _ path: String, offset: Int = 0, _ data: [UInt8] = [],
    result: Int? = nil, inode: UInt64 = 7, descriptor: Int32 = 5, writesThrough: Bool = false
  ) -> TracedCall {
    TracedCall(
      kind: kind, begin: 0, end: 0, path: path, offset: offset, length: data.count,
      result: result ?? data.count, inode: inode, descriptor: descriptor,
      writesThrough: writesThrough, data: data)
  }

  private static func violations(
    _ calls: [TracedCall]
  ) throws -> [DurabilityViolation.Reason] {
    let check = try DurabilityCheck(trace(calls), store: store, pageSize: 4_096)
    #expect(check.acknowledgements.map(\.mark) == [mark])
    return check.violations.map(\.reason)
  }

  private let naming = [
    call(.makeDirectory, store), call(.open, store + "/log.mdb"),
    call(.sync, store, inode: 1), call(.sync, "/tmp/a", inode: 2),
  ]
  private let page = call(.write, store + "/log.mdb", offset: 8_192, Array("x\(mark.text)y".utf8))
  private let flush = call(.dataSync, store + "/log.mdb")
  private let meta = call(
    .write, store + "/log.mdb", offset: 32, [1, 2, 3], writesThrough: true)
  private let line = call(
    .write, "pipe", Array((ChildLine.acknowledged(mark, index: 1).text + "\n").utf8),
    inode: 99, descriptor: 1)

  @Test func `pages, flush, meta page written through, acknowledgement: accepted`() throws {
    #expect(try Self.violations(naming + [page, flush, meta, line]).isEmpty)
  }

  @Test func `an event that lies across two pages is found`() throws {
    var first = page
    var second = page
    first.data = Array(page.data.prefix(9))
    first.length = 9
    first.result = 9
    second.data = Array(page.data.dropFirst(9))
    second.length = second.data.count
    second.result = second.data.count
    second.offset += 9
    #expect(try Self.violations(naming + [second, first, flush, meta, line]).isEmpty)
    #expect(
      try Self.violations(naming + [first, flush, second, meta, line]) == [.pagesNotDurable])
  }

  @Test func `a later copy of the event needn't be durable`() throws {
    var copy = page
    copy.offset = 16_384
    #expect(try Self.violations(naming + [page, flush, meta, copy, line]).isEmpty)
  }

  @Test func `an event that isn't written before is found out`() throws {
    #expect(try Self.violations(naming + [flush, meta, line]) == [.neverWritten])
  }

  @Test func `a flush before the last page, failed, of another file, or late is none`() throws {
    var failed = flush
    failed.result = -1
    var foreign = flush
    foreign.inode = 8
    for calls in [
      [flush, page, meta, line], [page, failed, meta, line], [page, foreign, meta, line],
      [page, meta, line, flush], [page, meta, line],
    ] {
      #expect(try Self.violations(naming + calls) == [.pagesNotDurable])
    }
  }

  @Test func `a flush that began before the page was written is none`() throws {
    var trace = Self.trace(naming + [flush, page, meta, line])
    // It ends after the write, but what it flushes was decided when it began.
    trace.calls[4].end = trace.calls[5].end
    let check = try DurabilityCheck(trace, store: Self.store, pageSize: 4_096)
    #expect(check.violations.map(\.reason) == [.pagesNotDurable])
  }

  @Test func `a page that was only written in part isn't durable`() throws {
    var short = page
    short.length += 100
    #expect(try Self.violations(naming + [short, flush, meta, line]) == [.pagesNotDurable])
  }

  @Test func `a meta page that is neither written through nor flushed is found out`() throws {
    var buffered = meta
    buffered.writesThrough = false
    #expect(try Self.violations(naming + [page, flush, buffered, line]) == [.metaPageNotDurable])
    #expect(try Self.violations(naming + [page, flush, line]) == [.metaPageNotDurable])
    #expect(try Self.violations(naming + [page, flush, buffered, flush, line]).isEmpty)
  }

  @Test func `names that aren't flushed after they were made are found out`() throws {
    let rest = [page, flush, meta, line]
    for missing in [2, 3] {
      var calls = naming
      calls.remove(at: missing)
      #expect(try Self.violations(calls + rest) == [.namesNotDurable])
    }
    #expect(
      try Self.violations([naming[2], naming[3], naming[0], naming[1]] + rest)
        == [.namesNotDurable, .namesNotDurable])
  }
}
