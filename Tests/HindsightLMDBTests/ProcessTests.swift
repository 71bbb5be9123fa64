// What needs a process of its own: limits, forks, and files that are cut off.

import Foundation
import HindsightLMDB
import Testing

@Suite struct ProcessTests {
  @Test func `the map is halved until the system grants it`() async {
    await #expect(processExitsWith: .success) {
      let limit = rlim_t(64) << 30
      var limits = rlimit(rlim_cur: limit, rlim_max: limit)
      #if os(Linux)
        #expect(setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limits) == 0)
      #else
        #expect(setrlimit(RLIMIT_AS, &limits) == 0)
      #endif
      let directory = try TemporaryDirectory()
      let environment = try Environment.open(directory.file)
      #expect(environment.mapSize < 64 << 30)
      #expect(environment.mapSize >= 16 << 30)
      let table = try fill(environment, [1])
      #expect(try keys(try environment.beginRead(), table) == [1])
    }
  }

  @Test func `without a limit the map has its full size`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      #expect(try Environment.open(directory.file).mapSize == 1 << 40)
    }
  }

  @Test func `an environment is of no use after a fork, but can be opened anew`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let environment = try Environment.open(directory.file, options: .test)
      let table = try fill(environment, [1])
      let reader = try environment.beginRead()
      // Swift hides `fork`, and rightly so.
      let symbol = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
      let child = fork()
      if child == 0 { _exit(useInChild(environment, table, directory.file)) }
      var status: Int32 = 0
      #expect(waitpid(child, &status, 0) == child)
      #expect(status == 0)
      // The child's end has not taken the parent's reader or its locks.
      #expect(try keys(reader, table) == [1])
      _ = try fill(environment, [3])
      #expect(try keys(try environment.beginRead(), table) == [1, 2, 3])
    }
  }

  @Test func `the slots of readers that died are given back when they are needed`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      var options = EnvironmentOptions.test
      options.readerSlots = 4
      let environment = try Environment.open(directory.file, options: options)
      let table = try fill(environment, [1])
      let symbol = try #require(dlsym(nil, "fork"))
      let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
      for _ in 0..<3 {
        let child = fork()
        if child == 0 { dieReading(directory.file, readerCount: 4) }
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
        #expect(status & 0x7f == SIGKILL)
        #expect(try keys(try environment.beginRead(), table) == [1])
      }
    }
  }

  @Test(arguments: [2, 3, 5, 40])
  func `a file that was cut off is an error, not a signal`(_ pageCount: Int) async {
    await #expect(processExitsWith: .success) { [pageCount] in
      let directory = try TemporaryDirectory()
      do {
        let environment = try Environment.open(directory.file, options: .test)
        let table = try fill(environment, [1])
        var transaction = try environment.beginWrite()
        for number in 2..<60 as Range<UInt64> {
          try transaction.put(table, .number(number), Array(repeating: 7, count: 4_000))
        }
        try transaction.commit()
      }
      let size = off_t(pageCount) * off_t(getpagesize())
      #expect(truncate(directory.file, size) == 0)
      let environment = try Environment.open(directory.file, options: .test)
      expect(.truncated) { () throws(LMDBError) in _ = try environment.beginRead().number }
      expect(.truncated) { () throws(LMDBError) in _ = try environment.beginWrite().number() }
    }
  }

  @Test func `a file that is cut off while it is open is an error at the next transaction`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      let environment = try Environment.open(directory.file, options: .test)
      let table = try fill(environment, Array(1...1_000))
      var reader = try environment.beginRead()
      #expect(try keys(reader, table).count == 1_000)
      #expect(truncate(directory.file, 2 * off_t(getpagesize())) == 0)
      expect(.truncated) { () throws(LMDBError) in try reader.renew() }
      expect(.truncated) { () throws(LMDBError) in _ = try environment.beginRead().number }
    }
  }

  @Test func `a sound file that ends before its last, free page is opened`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryDirectory()
      do {
        let environment = try Environment.open(directory.file, options: .test)
        let table = try fill(environment, [1])
        var transaction = try environment.beginWrite()
        for number in 2..<60 as Range<UInt64> {
          try transaction.put(table, .number(number), Array(repeating: 7, count: 4_000))
        }
        try transaction.commit()
        // Frees the pages at the file's end; the next ones move the trees to the front.
        var removal = try environment.beginWrite()
        for number in 2..<60 as Range<UInt64> { try removal.remove(table, .number(number)) }
        try removal.commit()
        for _ in 0..<4 { _ = try fill(environment, [1]) }
      }
      let size = (try lastPage(of: directory.file) + 1) * Int(getpagesize())
      #expect(truncate(directory.file, off_t(size - Int(getpagesize()))) == 0)
      let environment = try Environment.open(directory.file, options: .test)
      let table = try #require(try environment.table(named: "numbers"))
      #expect(try keys(try environment.beginRead(), table) == [1])
      #expect(try environment.checkTrees().problems == [])
      _ = try fill(environment, [2])
      #expect(try keys(try environment.beginRead(), table) == [1, 2])
      #expect(try fileSize(directory.file) >= size, "the writer makes it long enough")
    }
  }
}

/// The last page that the newest state of a data file uses, as its meta page says.
private func lastPage(of path: String) throws -> Int {
  let bytes = try Data(contentsOf: URL(fileURLWithPath: path))
  func number(_ page: Int, _ offset: Int) -> UInt64 {
    bytes[(page * Int(getpagesize()) + offset)...].prefix(8).reversed()
      .reduce(0) { $0 << 8 | UInt64($1) }
  }
  return Int(number(number(0, 144) > number(1, 144) ? 0 : 1, 136))
}

/// What a child after fork does with its parent's environment; 0 where all is as it should be.
private func useInChild(_ environment: Environment, _ table: Table, _ path: String) -> Int32 {
  do throws(LMDBError) {
    _ = try environment.beginRead().number
    return 1
  } catch {
    guard error.code == .forked else { return 2 }
  }
  do throws(LMDBError) {
    let own = try Environment.open(path, options: .test)
    try fill(own, [2])
    return 0
  } catch {
    return 3
  }
}

/// Takes reader slots in a child after fork, and dies with them.
private func dieReading(_ path: String, readerCount: Int) -> Never {
  guard let environment = try? Environment.open(path, options: .test) else { _exit(1) }
  func read(_ count: Int) {
    guard count > 0 else {
      kill(getpid(), SIGKILL)
      return
    }
    guard let transaction = try? environment.beginRead() else { _exit(2) }
    read(count - 1)
    withExtendedLifetime(transaction.number) {}
  }
  read(readerCount)
  _exit(3)
}
