// The model of the disk on traces made by hand: what is certain after a cut, what may be, and what
// can't.

import CrashHarness
import Foundation
import Testing

/// A disk that calls are made on one after the other, each through before the next begins.
struct HandMadeDisk {
  static let root = "/r"
  static let store = "/r/s.hindsight"
  static let log = store + "/log.mdb"

  var disk = DiskModel(root: root)
  private var time: UInt64 = 0

  /// A store's directory with an empty log, all of it certain.
  init() throws {
    try make(.makeDirectory, Self.store)
    try open(Self.log, inode: 1)
    sync(Self.root, inode: 8)
    sync(Self.store, inode: 9)
  }

  mutating func make(
    _ kind: TracedCall.Kind, _ path: String, offset: Int = 0, length: Int = 0, inode: UInt64 = 0,
    result: Int? = nil, writesThrough: Bool = false, data: [UInt8] = []
  ) throws {
    let call = call(
      kind, path, offset: offset, length: length, inode: inode, result: result,
      writesThrough: writesThrough, data: data)
    try disk.begin(call)
    disk.end(call)
  }

  mutating func call(
    _ kind: TracedCall.Kind, _ path: String, offset: Int = 0, length: Int = 0, inode: UInt64 = 0,
    result: Int? = nil, writesThrough: Bool = false, data: [UInt8] = []
  ) -> TracedCall {
    time += 2
    return TracedCall(
      kind: kind, begin: time, end: time + 1, path: path, offset: offset, length: length,
      result: result ?? (kind == .write ? data.count : 0), inode: inode, descriptor: 5,
      writesThrough: writesThrough, data: data)
  }

  mutating func open(_ path: String, inode: UInt64) throws {
    try make(.open, path, length: Int(O_CREAT | O_RDWR), inode: inode, result: 5)
  }

  mutating func write(
    _ byte: UInt8, count: Int, at offset: Int, inode: UInt64 = 1, path: String = log,
    writesThrough: Bool = false
  ) throws {
    try make(
      .write, path, offset: offset, inode: inode, writesThrough: writesThrough,
      data: [UInt8](repeating: byte, count: count))
  }

  mutating func sync(
    _ path: String = log, inode: UInt64 = 1, _ kind: TracedCall.Kind = .sync, result: Int = 0
  ) {
    let call = call(kind, path, inode: inode, result: result)
    disk.end(call)
  }

  /// All that the log can be with whole pages; nil where it isn't there.
  var logs: Set<[UInt8]?> {
    let cut = DiskCut(disk, store: Self.store)
    return Set((0..<cut.wholeChoiceCount).map { cut.files(cut.choice($0))?["log.mdb"] })
  }

  /// What the log can be with pages that were written in part, as the first bytes of its sectors.
  func tornLogs(count: Int) -> Set<[UInt8]> {
    let cut = DiskCut(disk, store: Self.store)
    var generator = SeededGenerator(seed: 7)
    return Set(
      (0..<count).compactMap { _ in
        let log = cut.files(cut.choice(isTorn: true, using: &generator))?["log.mdb"]
        return log.map { log in stride(from: 0, to: log.count, by: 512).map { log[$0] } }
      })
  }
}

/// Pages that are filled with one byte each.
private func pages(_ bytes: UInt8...) -> [UInt8] {
  bytes.flatMap { [UInt8](repeating: $0, count: 4_096) }
}

@Suite struct DiskModelTests {
  @Test func `a page that wasn't flushed may be there or not, before and after others`() throws {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 8_192, at: 0)
    disk.sync()
    #expect(disk.logs == [pages(1, 1)])
    try disk.write(2, count: 4_096, at: 0)
    try disk.write(3, count: 4_096, at: 4_096)
    #expect(disk.logs == [pages(1, 1), pages(2, 1), pages(1, 3), pages(2, 3)])
    disk.sync(HandMadeDisk.log, .dataSync)
    #expect(disk.logs == [pages(2, 3)])
  }

  @Test func `two writes to a page keep their order`() throws {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 4_096, at: 0)
    disk.sync()
    try disk.write(2, count: 4_096, at: 0)
    try disk.write(3, count: 4_096, at: 0)
    #expect(disk.logs == [pages(1), pages(2), pages(3)])
    // Parts of a page: the second is never there without the first.
    disk.sync()
    try disk.write(4, count: 512, at: 0)
    try disk.write(5, count: 512, at: 512)
    let first = [UInt8](repeating: 4, count: 512) + pages(3)[512...]
    let both = first[..<512] + [UInt8](repeating: 5, count: 512) + pages(3)[1_024...]
    #expect(disk.logs == [pages(3), first, Array(both)])
  }

  @Test func `a page is torn between sectors, never in one`() throws {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 1_024, at: 0)
    disk.sync()
    try disk.write(2, count: 1_024, at: 0)
    #expect(disk.tornLogs(count: 200) == [[1, 1], [2, 1], [1, 2], [2, 2]])
    let cut = DiskCut(disk.disk, store: HandMadeDisk.store)
    let torn = cut.files(.init(versions: [0], torn: [0: [0, 1, 0, 0, 0, 0, 0, 0]]))
    #expect(
      torn?["log.mdb"]
        == [UInt8](repeating: 1, count: 512) + [UInt8](repeating: 2, count: 512))
  }

  @Test func `of a sector with two writes the second may be torn off, but not the first alone`()
    throws
  {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 512, at: 0)
    disk.sync()
    try disk.write(2, count: 100, at: 0)
    try disk.write(3, count: 100, at: 100)
    // The byte of the second is only there with that of the first.
    let cut = DiskCut(disk.disk, store: HandMadeDisk.store)
    var generator = SeededGenerator(seed: 1)
    let found = Set(
      (0..<100).map { number in
        let choice = cut.choice(isTorn: number % 2 == 0, using: &generator)
        let log = cut.files(choice)?["log.mdb"] ?? []
        return [log[0], log[100]]
      })
    #expect(found == [[1, 1], [2, 1], [2, 3]])
  }

  @Test func `a flush of another file counts for nothing, nor one that failed`() throws {
    var disk = try HandMadeDisk()
    try disk.open(HandMadeDisk.store + "/snapshots.mdb", inode: 2)
    disk.sync(HandMadeDisk.store, inode: 9)
    try disk.write(1, count: 4_096, at: 0)
    disk.sync(HandMadeDisk.store + "/snapshots.mdb", inode: 2)
    disk.sync(HandMadeDisk.store, inode: 9)
    disk.sync(result: -1)
    #expect(disk.logs == [[], pages(0), pages(1)])
  }

  @Test func `a flush that began before a write was through doesn't cover it`() throws {
    var disk = try HandMadeDisk()
    let flush = disk.call(.sync, HandMadeDisk.log, inode: 1)
    try disk.write(1, count: 4_096, at: 0)
    disk.disk.end(flush)
    #expect(disk.logs == [[], pages(0), pages(1)])
  }

  @Test func `a write that goes through is certain when it returns, and no other is by it`() throws
  {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 4_096, at: 0)
    try disk.write(2, count: 4_096, at: 4_096, writesThrough: true)
    #expect(disk.logs == [pages(0, 2), pages(1, 2)])
  }

  @Test func `a write that is under way may be there or not`() throws {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 4_096, at: 0)
    disk.sync()
    let call = disk.call(
      .write, HandMadeDisk.log, inode: 1, writesThrough: true, data: pages(2))
    try disk.disk.begin(call)
    #expect(disk.logs == [pages(1), pages(2)])
    disk.disk.end(call)
    #expect(disk.logs == [pages(2)])
  }

  @Test func `a size may have changed without the bytes, and the bytes not without the size`()
    throws
  {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 4_096, at: 0)
    disk.sync()
    try disk.make(.allocate, HandMadeDisk.log, offset: 4_096, length: 4_096, inode: 1)
    #expect(disk.logs == [pages(1), pages(1, 0)])
    try disk.write(2, count: 4_096, at: 4_096)
    #expect(disk.logs == [pages(1), pages(1, 0), pages(1, 2)])
    disk.sync()
    try disk.make(.truncate, HandMadeDisk.log, length: 4_096, inode: 1)
    #expect(disk.logs == [pages(1, 2), pages(1), pages(1, 0)])
    disk.sync()
    // What was cut off doesn't come back.
    try disk.make(.truncate, HandMadeDisk.log, length: 8_192, inode: 1)
    disk.sync()
    #expect(disk.logs == [pages(1, 0)])
  }
}

@Suite struct DiskNamesTests {
  @Test func `a new name is certain when its directory was flushed, not when its file was`() throws
  {
    var disk = try HandMadeDisk()
    let path = HandMadeDisk.store + "/other.mdb"
    try disk.open(path, inode: 2)
    disk.sync(path, inode: 2)
    func isThere() -> Set<Bool> {
      let cut = DiskCut(disk.disk, store: HandMadeDisk.store)
      return Set(
        (0..<cut.wholeChoiceCount).map { cut.files(cut.choice($0))?["other.mdb"] != nil })
    }
    #expect(isThere() == [true, false])
    disk.sync(HandMadeDisk.root, inode: 8)
    #expect(isThere() == [true, false])
    disk.sync(HandMadeDisk.store, inode: 9)
    #expect(isThere() == [true])
    try disk.make(.unlink, path)
    #expect(isThere() == [true, false])
    disk.sync(HandMadeDisk.store, inode: 9)
    #expect(isThere() == [false])
  }

  @Test func `a directory whose name was lost has nothing in it`() throws {
    var disk = DiskModel(root: "/r")
    func call(_ kind: TracedCall.Kind, _ path: String, time: UInt64, inode: UInt64) -> TracedCall {
      TracedCall(
        kind: kind, begin: time, end: time + 1, path: path, length: Int(O_CREAT), inode: inode)
    }
    try disk.begin(call(.makeDirectory, "/r/s", time: 1, inode: 0))
    try disk.begin(call(.open, "/r/s/log.mdb", time: 3, inode: 2))
    disk.end(call(.sync, "/r/s", time: 5, inode: 9))
    let cut = DiskCut(disk, store: "/r/s")
    #expect(cut.units == [.name(0)])
    #expect(cut.files(cut.choice(0)) == nil)
    #expect(cut.files(cut.choice(1)) == ["log.mdb": []])
  }

  @Test func `a rename happens as a whole or not`() throws {
    var disk = try HandMadeDisk()
    try disk.write(1, count: 4_096, at: 0)
    disk.sync()
    let path = HandMadeDisk.store + "/new.mdb"
    try disk.open(path, inode: 2)
    try disk.write(2, count: 4_096, at: 0, inode: 2, path: path)
    disk.sync(path, inode: 2)
    disk.sync(HandMadeDisk.store, inode: 9)
    try disk.make(.rename, path, data: Array(HandMadeDisk.log.utf8))
    let cut = DiskCut(disk.disk, store: HandMadeDisk.store)
    #expect(cut.files(cut.choice(0)) == ["log.mdb": pages(1), "new.mdb": pages(2)])
    #expect(cut.files(cut.choice(1)) == ["log.mdb": pages(2)])
    disk.sync(HandMadeDisk.store, inode: 9)
    #expect(disk.logs == [pages(2)])
  }

  @Test func `what can't be seen isn't followed`() throws {
    var disk = try HandMadeDisk()
    #expect(throws: DiskModel.Unfollowable.self) {
      try disk.make(.mapWritable, HandMadeDisk.log, inode: 1)
    }
    #expect(throws: DiskModel.Unfollowable.self) { try disk.write(1, count: 1, at: 0, inode: 3) }
    try disk.make(.mapWritable, HandMadeDisk.log + "-lock", inode: 4)
  }
}
