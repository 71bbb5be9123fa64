// A file system that is full, read-only, or on a network.

import Foundation
import Hindsight
import HindsightLMDB
import HindsightLog
import HindsightTimeTravel
import Testing

/// A small file system in memory, as only root can mount one.
final class SmallFileSystem {
  let path: String
  private let directory: TestDirectory

  static let canMount: Bool = {
    #if os(Linux)
      guard geteuid() == 0, let fileSystem = try? SmallFileSystem() else {
        print("no small file system can be mounted here: needs root")
        return false
      }
      withExtendedLifetime(fileSystem) {}
      return true
    #else
      return false
    #endif
  }()

  init(sizeBytes: Int = 4 << 20) throws {
    directory = try TestDirectory()
    path = directory.path
    try Self.run("mount", ["-t", "tmpfs", "-o", "size=\(sizeBytes)", "tmpfs", path])
  }

  deinit { try? Self.run("umount", ["-l", path]) }

  /// Makes it read-only, or writable again.
  func remount(_ option: String) throws {
    try Self.run("mount", ["-o", "remount,\(option)", path])
  }

  /// Writes a file until no more than some pages fit beside it.
  func fill(_ name: String, leavingPageCount pageCount: Int = 0) throws {
    let descriptor = open("\(path)/\(name)", O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    while write(descriptor, zeros, zeros.count) > 0 {}
    #expect(errno == ENOSPC)
    let size = lseek(descriptor, 0, SEEK_CUR)
    #expect(ftruncate(descriptor, size - off_t(pageCount * zeros.count)) == 0)
  }

  private static func run(_ program: String, _ arguments: [String]) throws {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [program] + arguments
    process.standardError = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Impatience() }
  }
}

/// An event that takes most of a page.
private let event = Bank.Event.noted(
  text: String(repeating: "x", count: 3_000), by: 0, step: 0)

@Suite(.enabled(if: SmallFileSystem.canMount, "mounting a file system needs root"))
struct DiskFullTests {
  @Test func `a full disk refuses dispatches, and the same store goes on when there is room`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let disk = try SmallFileSystem()
      let path = disk.path + "/bank.hindsight"
      let store = try await Store(
        Bank(), at: path, options: StoreOptions(snapshotPolicy: .every(8)))
      for _ in 0..<40 { try await store.dispatch(event) }
      try disk.fill("ballast")
      var count = 40
      // What the log's file has as free pages may still be used; then nothing fits.
      await expectError(.diskFull) {
        while count < 4_000 {
          try await store.dispatch(event)
          count += 1
        }
      }
      for _ in 0..<3 {
        await expectError(.diskFull) { try await store.dispatch(event) }
        await expectError(.diskFull) { try await store.transact { _ in [event, event] } }
        await expectError(.diskFull) {
          try await store.dispatch(contentsOf: Array(repeating: event, count: 20))
        }
        #expect(store.current.index == EventIndex(count))
        #expect(store.current.state.eventCount == count)
      }
      let timeline = try Timeline(Bank(), at: path)
      #expect(timeline.head == EventIndex(count))
      #expect(try await timeline.state(at: 33).eventCount == 33)
      var read = 0
      for try await _ in timeline.events() { read += 1 }
      #expect(read == count)
      try timeline.close()
      unlink(disk.path + "/ballast")
      for _ in 0..<5 {
        count += 1
        #expect(try await store.dispatch(event).index == EventIndex(count))
      }
      try await store.close()
      try expectSound(path)
      #expect(try await replayed(path).state.eventCount == count)
    }
  }

  @Test func `a snapshot that doesn't fit stops no dispatch`() async throws {
    await #expect(processExitsWith: .success) {
      let disk = try SmallFileSystem()
      let path = disk.path + "/bank.hindsight"
      let store = try await Store(Bank(), at: path, options: .withoutSnapshots)
      // Room in the log's file for some more events, and a state of a size that isn't left.
      var generator = SystemRandomNumberGenerator()
      for number in 0..<120 {
        try await store.dispatch(
          contentsOf: (0..<100).map { _ in
            .deposited(account: "\(generator.next())", cents: number)
          })
      }
      try disk.fill("ballast")
      let error = await #expect(throws: HindsightError.self) { try await store.snapshot() }
      #expect(error?.code == .diskFull, "\(String(describing: error))")
      #expect(store.lastSnapshotError != nil)
      unlink(disk.path + "/ballast")
      #expect(try await store.dispatch(.opened(cents: 1)).index == 12_001)
      #expect(try await store.snapshot() == 12_001)
      #expect(store.lastSnapshotError == nil)
      try await store.close()
      let again = try await Store(Bank(), at: path)
      #expect(again.recovery.snapshotIndex == 12_001)
      try await again.close()
      try expectSound(path)
    }
  }

  @Test func `a store on a full disk is opened, or refused, but ends no process`() async throws {
    await #expect(processExitsWith: .success) {
      let disk = try SmallFileSystem()
      let path = disk.path + "/bank.hindsight"
      try await makeNotes(at: path, count: 5)
      // Whoever cleaned up took the lock file, too.
      unlink(path + "/log.mdb-lock")
      unlink(path + "/snapshots.mdb-lock")
      try disk.fill("ballast")
      await expectError(.diskFull) { try await Store(Bank(), at: path) }
      await expectError(.diskFull) { try await Store(Bank(), at: disk.path + "/new.hindsight") }
      unlink(disk.path + "/ballast")
      let store = try await Store(Bank(), at: path)
      #expect(store.current.index == 5)
      try await store.close()
      let made = try await Store(Bank(), at: disk.path + "/new.hindsight")
      #expect(made.current.index == 0)
      try await made.close()
    }
  }

  @Test func `whatever room there is, a new store is made, or the disk is called full`()
    async throws
  {
    await #expect(processExitsWith: .success) {
      let disk = try SmallFileSystem()
      let path = disk.path + "/new.hindsight"
      var refusalCount = 0
      for pageCount in 0...200 {
        try disk.fill("ballast", leavingPageCount: pageCount)
        do {
          try await Store(Bank(), at: path).close()
        } catch let error as HindsightError {
          #expect(error.code == .diskFull, "\(pageCount) pages: \(error)")
          refusalCount += 1
        }
        unlink(disk.path + "/ballast")
        let store = try await Store(Bank(), at: path)
        #expect(try await store.dispatch(.opened(cents: 1)).index == 1)
        try await store.close()
        try expectSound(path)
        try FileManager.default.removeItem(atPath: path)
      }
      #expect((20..<200).contains(refusalCount))
    }
  }

  @Test func `a store on a read-only file system can be looked at`() async throws {
    await #expect(processExitsWith: .success) {
      let disk = try SmallFileSystem()
      let path = disk.path + "/bank.hindsight"
      try await makeNotes(at: path, count: 5, snapshotAt: 4)
      try disk.remount("ro")
      let timeline = try Timeline(Bank(), at: path)
      #expect(try await timeline.state(at: 5).eventCount == 5)
      try timeline.close()
      let store = try await Store(Bank(), at: path, options: .readOnly)
      #expect(store.current.index == 5)
      await expectError(.readOnly) { try await store.dispatch(.opened(cents: 1)) }
      try await store.close()
      try expectSound(path)
      await expectError(.permissionDenied) { try await Store(Bank(), at: path) }
      await expectError(.permissionDenied) { try await Store(Bank(), at: disk.path + "/new") }
      try disk.remount("rw")
    }
  }
}
