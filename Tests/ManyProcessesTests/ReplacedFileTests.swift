// Files that are replaced, moved, removed or cut off while a store has them open.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

/// What happens to a store's files.
enum FileAccident: String, CaseIterable, Codable, CustomTestStringConvertible {
  case logRemoved = "the log is removed"
  case logMoved = "the log is moved away"
  case logReplaced = "the log is replaced by a copy of it"
  case storeRemoved = "the store is removed"
  case storeMadeAnew = "the store is removed, and another one made"
  case lockRemoved = "the lock file is removed"
  case lockReplaced = "the lock file is replaced"
  case lockEmptied = "the lock file is emptied"

  var testDescription: String { rawValue }

  func happen(to directory: TestDirectory) throws {
    let files = FileManager.default
    let log = directory.log
    let lock = log + "-lock"
    switch self {
    case .logRemoved: try files.removeItem(atPath: log)
    case .logMoved: try files.moveItem(atPath: log, toPath: directory.path + "/moved.mdb")
    case .logReplaced:
      try files.copyItem(atPath: log, toPath: log + ".copy")
      #expect(rename(log + ".copy", log) == 0)
    case .storeRemoved: try files.removeItem(atPath: directory.store)
    case .storeMadeAnew:
      try files.removeItem(atPath: directory.store)
      try files.createDirectory(atPath: directory.store, withIntermediateDirectories: false)
      try files.copyItem(atPath: directory.path + "/other.mdb", toPath: log)
    case .lockRemoved: try files.removeItem(atPath: lock)
    case .lockReplaced:
      try files.copyItem(atPath: lock, toPath: lock + ".copy")
      #expect(rename(lock + ".copy", lock) == 0)
    case .lockEmptied: #expect(truncate(lock, 0) == 0)
    }
  }
}

@Suite struct ReplacedFileTests {
  @Test(arguments: FileAccident.allCases)
  func `what happens to an open store's files is noticed, and nothing more is acknowledged`(
    accident: FileAccident
  ) async throws {
    await #expect(processExitsWith: .success) { [accident] in
      let directory = try TestDirectory()
      try await makeNotes(at: directory.store, count: 2)
      try FileManager.default.copyItem(
        atPath: directory.log, toPath: directory.path + "/other.mdb")
      let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
      try await store.dispatch(.noted(text: "", by: 0, step: 3))
      let timeline = try Timeline(Bank(), at: directory.store)
      let followed = Task {
        for try await _ in timeline.events(from: 4, isFollowing: true) {}
      }
      try accident.happen(to: directory)
      for _ in 0..<2 {
        let error = await expectError(.replaced) {
          try await store.dispatch(.noted(text: "", by: 0, step: 4))
        }
        #expect(error?.message.contains(directory.log) == true)
      }
      await expectError(.replaced) { try await store.transact { _ in [.opened(cents: 1)] } }
      #expect(store.current.index == 3)
      #expect(store.current.state.eventCount == 3)
      // Who looks is told as well, and what can be read is read.
      await expectError(.replaced) { try timeline.refresh() }
      await expectError(.replaced) { try await followed.value }
      try timeline.close()
      try await store.close()
    }
  }

  @Test func `after an accident has been put right, the same store goes on`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      try await makeNotes(at: directory.store, count: 2)
      let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
      #expect(rename(directory.log, directory.log + ".away") == 0)
      await expectError(.replaced) { try await store.dispatch(.opened(cents: 1)) }
      #expect(rename(directory.log + ".away", directory.log) == 0)
      #expect(try await store.dispatch(.opened(cents: 1)).index == 3)
      try await store.close()
      try expectSound(directory.store)
    }
  }

  @Test func `a log that is cut off under a live store is an error, not a signal`() async throws {
    await #expect(processExitsWith: .success) {
      let directory = try TestDirectory()
      try await makeNotes(at: directory.store, count: 50)
      let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
      #expect(truncate(directory.log, 2 * off_t(getpagesize())) == 0)
      await expectError(.corrupt) { try await store.dispatch(.noted(text: "", by: 0, step: 51)) }
      #expect(store.current.index == 50)
      await expectError(.corrupt) {
        for try await _ in store.events() {}
      }
      try await store.close()
    }
  }
}
