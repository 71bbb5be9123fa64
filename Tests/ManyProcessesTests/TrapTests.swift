// LMDB's traps, as a store's user can run into them.

import Foundation
import Hindsight
import HindsightCore
import HindsightLMDB
import HindsightLog
import HindsightTimeTravel
import Testing

extension InteractingTests {
  @Suite struct TrapTests {
    @Test func `a store opened twice, once through a symbolic link, is one store`() async throws {
      let directory = try TestDirectory()
      let link = directory.path + "/link.hindsight"
      #expect(symlink(directory.store, link) == 0)
      let first = try await Store(Bank(), at: directory.store)
      let second = try await Store(Bank(), at: link)
      try await first.dispatch(.opened(cents: 10))
      try await second.transact { state in
        [.withdrawn(cents: state.total, by: 2, seenCount: state.eventCount)]
      }
      #expect(try await first.transact { [.deposited(account: "a", cents: $0.total)] }.index == 3)
      try await first.close()
      // The other one still has its locks and its files.
      #expect(try await second.dispatch(.opened(cents: 1)).index == 4)
      #expect(second.current.state.total == 1)
      try await second.close()
      try expectSound(directory.store)
    }

    @Test func `closing a store waits for who reads it, and what is read stays whole`() async throws
    {
      let directory = try TestDirectory()
      try await makeNotes(at: directory.store, count: 20)
      let store = try await Store(Bank(), at: directory.store)
      let log = try LMDBLog.open(path: directory.store)
      let (started, release) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
      let reading = Task {
        try await onThread {
          var count = 0
          try log.scan(1...20) { commit in
            if count == 0 {
              started.signal()
              release.wait()
            }
            count += commit.eventCount
            return .next
          }
          return count
        }
      }
      try await onThread { started.wait() }
      try await store.close()
      let closing = Task { try await onThread { log.close() } }
      // Closed for everybody else, open for who is reading.
      try await wait { (try? log.head()) == nil }
      release.signal()
      #expect(try await reading.value == 20)
      try await closing.value
      await expectError(.closed) { try log.head() }
      var iterator = store.events().makeAsyncIterator()
      await expectError(.closed) { try await iterator.next() }
      #expect(store.current.index == 20)
      try expectSound(directory.store)
    }

    @Test func `more readers than there are slots are refused, and fewer aren't`() async throws {
      await #expect(processExitsWith: .success) {
        let directory = try TestDirectory()
        let store = try await Store(
          Bank(), at: directory.store,
          options: StoreOptions(snapshotPolicy: .never, readerSlots: 4))
        for step in 1...3 { try await store.dispatch(.noted(text: "", by: 0, step: step)) }
        let log = try LMDBLog.open(path: directory.store)
        #expect(try log.statistics().readerSlotCount >= 4)
        let slotCount = try log.statistics().readerSlotCount
        var error: HindsightError?
        /// Reads within a read, as deep as it goes.
        func read(_ depth: Int) throws -> Int {
          var reached = depth
          do {
            try log.scan(1...1) { _ in
              reached = depth < slotCount + 2 ? try read(depth + 1) : depth
              return .stop
            }
          } catch let refusal as HindsightError where refusal.code == .inUse {
            error = error ?? refusal
            return depth
          }
          return reached
        }
        let depth = try read(0)
        #expect(error?.code == .inUse)
        // The writer's own looks take a slot for a moment.
        #expect(depth >= slotCount - 1 && depth <= slotCount)
        #expect(try await store.dispatch(.opened(cents: 1)).index == 4)
        log.close()
        try await store.close()
      }
    }

    @Test func `a reader that was killed is forgotten by the next writer`() async throws {
      let directory = try TestDirectory()
      let path = directory.store
      try await makeNotes(at: path, count: 3)
      await #expect(processExitsWith: .signal(SIGKILL)) { [path = path as String] in
        let log = try LMDBLog.open(path: path, options: LMDBLog.Options(access: .readOnly))
        try log.scan(1...3) { _ in
          kill(getpid(), SIGKILL)
          return .next
        }
      }
      let log = try LMDBLog.open(path: path)
      #expect(try log.statistics().readerCount == 0)
      #expect(try log.statistics().pinnedCommitCount == 0)
      log.close()
      try expectSound(path)
    }

    @Test func `a log is of no use after a fork, and its parent's is untouched`() async {
      await #expect(processExitsWith: .success) {
        let directory = try TestDirectory()
        try await makeNotes(at: directory.store, count: 3)
        let log = try LMDBLog.open(path: directory.store)
        // Swift hides `fork`, and rightly so.
        let symbol = try #require(dlsym(nil, "fork"))
        let fork = unsafeBitCast(symbol, to: (@convention(c) () -> pid_t).self)
        let child = fork()
        if child == 0 { _exit(useInChild(log)) }
        var status: Int32 = 0
        #expect(waitpid(child, &status, 0) == child)
        #expect(status == 0)
        log.close()
        let store = try await Store(Bank(), at: directory.store)
        #expect(try await store.dispatch(.opened(cents: 1)).index == 4)
        try await store.close()
        try expectSound(directory.store)
      }
    }

    @Test func `who looks first, before any writer, is no obstacle to one`() async throws {
      let directory = try TestDirectory()
      let path = directory.store
      try await makeNotes(at: path, count: 3)
      for file in ["/log.mdb-lock", "/snapshots.mdb-lock"] { unlink(path + file) }
      async let reader = #expect(processExitsWith: .success) { [path = path as String] in
        let store = try await Store(Bank(), at: path, options: .readOnly)
        let timeline = try Timeline(Bank(), at: path)
        #expect(try await timeline.state(at: 3).eventCount == 3)
        try announce(path + ".reader")
        for try await stored in timeline.events(from: 4, isFollowing: true) {
          #expect(stored.index == 4)
          break
        }
        for await change in store.changes(of: { $0.eventCount }) where change.value == 4 { break }
        try timeline.close()
        try await store.close()
      }
      try await wait { isThere(path + ".reader") }
      await #expect(processExitsWith: .success) { [path = path as String] in
        let store = try await Store(Bank(), at: path)
        #expect(try await store.dispatch(.opened(cents: 1)).index == 4)
        try await store.close()
      }
      _ = await reader
      try expectSound(path)
    }

    @Test func `looking at a store leaves every byte of it as it is, beside a writer or not`()
      async throws
    {
      let directory = try TestDirectory()
      let path = directory.store
      try await makeNotes(at: path, count: 30, snapshotAt: 20)
      func contents() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: path)
        return try names.filter { !$0.hasSuffix("-lock") }.reduce(into: [:]) {
          $0[$1] = try Data(contentsOf: URL(fileURLWithPath: path + "/" + $1))
        }
      }
      // The comparison opens the files, so all users of them are in other processes.
      for isBesideWriter in [false, true] {
        let before = try contents()
        #expect(before.keys.sorted() == ["log.mdb", "snapshots.mdb"])
        let name = "\(path).\(isBesideWriter)"
        async let writer = #expect(processExitsWith: .success) {
          [path = path as String, name = name as String] in
          let store = try await Store(Bank(), at: path, options: .withoutSnapshots)
          try announce(name + ".open")
          try await wait { isThere(name + ".through") }
          #expect(store.current.index == 30)
          try await store.close()
        }
        if isBesideWriter { try await wait { isThere(name + ".open") } }
        await #expect(processExitsWith: .success) { [path = path as String] in
          let timeline = try Timeline(Bank(), at: path)
          for index in [30, 3, 21, 0] as [EventIndex] {
            #expect(try await timeline.state(at: index).eventCount == Int(index))
          }
          #expect(try await timeline.diff(from: 3, to: 9).changes.isEmpty == false)
          for try await _ in timeline.events() {}
          #expect(try LogVerifier(path: path).verify().findings.isEmpty)
          let store = try await Store(Bank(), at: path, options: .readOnly)
          #expect(store.current.index == 30)
          try await store.close()
          try timeline.close()
        }
        let after = try contents()
        if !isBesideWriter { try await wait { isThere(name + ".open") } }
        try announce(name + ".through")
        _ = await writer
        #expect(after == before)
      }
      try expectSound(path)
    }

    @Test func `a store on a network file system is refused, unless told otherwise`() throws {
      let directory = try TestDirectory()
      var options = EnvironmentOptions()
      options.fileSystemProbe = FileSystemProbe { _ in "NFS" }
      let error = #expect(throws: LMDBError.self) {
        _ = try Environment.open(directory.path + "/log.mdb", options: options)
      }
      #expect(error?.code == .networkFileSystem)
      #expect(error?.message.contains("NFS") == true)
      #expect(!isThere(directory.path + "/log.mdb-lock"))
      options.allowsNetworkFileSystem = true
      #expect(throws: Never.self) {
        _ = try Environment.open(directory.path + "/log.mdb", options: options)
      }
    }
  }
}

/// What a child after fork does with its parent's log; 0 where all is as it should be.
private func useInChild(_ log: LMDBLog) -> Int32 {
  func isRefused(_ body: () throws -> Void) -> Bool {
    do { try body() } catch { return (error as? HindsightError)?.code == .closed }
    return false
  }
  guard isRefused({ _ = try log.head() }) else { return 1 }
  guard isRefused({ try log.scan(1...3) { _ in .next } }) else { return 2 }
  guard isRefused({ _ = try log.append { _ in nil } }) else { return 3 }
  log.close()
  return 0
}

/// Runs blocking work on a thread of its own, so that other tests go on.
func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}
