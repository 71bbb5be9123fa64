// What a store says where there is none, or one that it can't use: typed, with what is wrong and
// where, and nothing is changed.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

@Suite struct StoreErrorTests {
  @Test func `a path without anything isn't a store, and looking doesn't make one`() async throws {
    try await withDirectory { directory in
      let path = directory + "/missing.hindsight"
      let error = await expectError(.notAStore) {
        try await Store(Ledger(), at: path, options: .readOnly)
      }
      #expect(error?.message.contains(path) == true)
      await expectError(.notAStore) { try Timeline(Ledger(), at: path) }
      #expect(!FileManager.default.fileExists(atPath: path))
      // Parents aren't made, either: a typing error would become a store.
      await expectError(.notAStore) { try await Store(Ledger(), at: directory + "/a/b.hindsight") }
    }
  }

  @Test func `a plain file isn't a store, and stays as it is`() async throws {
    try await withDirectory { directory in
      let path = directory + "/notes.txt"
      try Data("notes".utf8).write(to: URL(fileURLWithPath: path))
      for options in [StoreOptions(), .readOnly] {
        await expectError(.notAStore) { try await Store(Ledger(), at: path, options: options) }
        await expectError(.notAStore) {
          try await Store(Ledger(), at: path + "/b", options: options)
        }
      }
      #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == Data("notes".utf8))
    }
  }

  @Test func `an empty directory becomes a store only by writing`() async throws {
    try await withDirectory { directory in
      await expectError(.notAStore) {
        try await Store(Ledger(), at: directory, options: .readOnly)
      }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory).isEmpty)
      let store = try await Store(Ledger(), at: directory)
      #expect(try await store.dispatch(.deposited(account: "a", cents: 1)).index == 1)
      try await store.close()
    }
  }

  @Test func `a directory with other things in it isn't made a store`() async throws {
    try await withDirectory { directory in
      try Data("x".utf8).write(to: URL(fileURLWithPath: directory + "/thesis.txt"))
      await expectError(.notAStore) { try await Store(Ledger(), at: directory) }
      #expect(try FileManager.default.contentsOfDirectory(atPath: directory) == ["thesis.txt"])
    }
  }

  @Test func `a log that is none of LMDB's isn't a store, and stays as it is`() async throws {
    let noise = (0..<40_000).map { UInt8(truncatingIfNeeded: ($0 &* 2_654_435_761) >> 7) }
    for (name, bytes) in [
      ("text", Array("not a database".utf8)), ("noise", noise),
    ] {
      try await withDirectory { directory in
        let file = URL(fileURLWithPath: directory + "/log.mdb")
        try Data(bytes).write(to: file)
        for options in [StoreOptions(), .readOnly] {
          await expectError(.notAStore, "\(name)") {
            try await Store(Ledger(), at: directory, options: options)
          }
        }
        await expectError(.notAStore) { try Timeline(Ledger(), at: directory) }
        #expect(try [UInt8](Data(contentsOf: file)) == bytes)
      }
    }
  }

  @Test func `a blank log is one whose making was cut off, but beside snapshots it was lost`()
    async throws
  {
    try await withDirectory { directory in
      let file = URL(fileURLWithPath: directory + "/log.mdb")
      try Data(count: 4_096).write(to: file)
      await expectError(.notAStore) {
        try await Store(Ledger(), at: directory, options: .readOnly)
      }
      let store = try await Store(Ledger(), at: directory)
      #expect(store.current.index == 0)
      try await store.close()
      try Data(count: 4_096).write(to: file)
      await expectError(.notAStore) { try await Store(Ledger(), at: directory) }
      #expect(try Data(contentsOf: file) == Data(count: 4_096))
    }
  }

  @Test func `a log that was cut short is an error, and never a shorter history`() async throws {
    try await withDirectory { directory in
      let path = directory + "/a.hindsight"
      try await makeLedger(at: path, count: 300)
      let file = URL(fileURLWithPath: path + "/log.mdb")
      let whole = try Data(contentsOf: file)
      let report = try LogVerifier(path: path).verify()
      for size in [1, 16, 100, 4_095, 4_096, 8_191, 8_192, 12_288, 20_480] {
        try whole.prefix(size).write(to: file)
        for options in [StoreOptions(), .readOnly] {
          do {
            let store = try await Store(Ledger(), at: path, options: options)
            Issue.record("\(size) bytes opened at index \(store.current.index)")
            try await store.close()
          } catch let error as HindsightError {
            #expect([.notAStore, .corrupt].contains(error.code), "\(size): \(error)")
          }
        }
      }
      try whole.write(to: file)
      let store = try await Store(Ledger(), at: path)
      #expect(store.current.index == report.headIndex)
      try await store.close()
    }
  }

  @Test func `a store of a newer format is refused, and still opens with what wrote it`()
    async throws
  {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 3)
      // Offsets of the format's version and of the incompatible features, as the record has them.
      for offset in [4, 48] {
        var old: UInt8 = 0
        try await changeGenesis(of: path) {
          old = $0[offset]
          $0[offset] = 0x7e
        }
        for options in [StoreOptions(), .readOnly] {
          let error = await expectError(.unsupportedFormat) {
            try await Store(Ledger(), at: path, options: options)
          }
          #expect(error?.message.contains("newer") == true)
        }
        await expectError(.unsupportedFormat) { try Timeline(Ledger(), at: path) }
        try await changeGenesis(of: path) { $0[offset] = old }
      }
      let store = try await Store(Ledger(), at: path)
      #expect(store.current.index == 3)
      try await store.close()
    }
  }

  @Test func `unknown features that only writers must know refuse writing alone`() async throws {
    try await withStoreDirectory { path in
      // No commit yet: the first one's chain begins with the first record's digest.
      try await makeLedger(at: path, count: 0)
      try await changeGenesis(of: path) { $0[40] = 1 }
      await expectError(.unsupportedFormat) { try await Store(Ledger(), at: path) }
      let store = try await Store(Ledger(), at: path, options: .readOnly)
      #expect(store.current.index == 0)
      try await store.close()
    }
  }

  @Test func `unknown features that nobody must know change nothing`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 0)
      try await changeGenesis(of: path) { $0[32] = 0xff }
      let store = try await Store(Ledger(), at: path)
      #expect(try await store.dispatch(.deposited(account: "a", cents: 1)).index == 1)
      try await store.close()
    }
  }

  @Test func `a damaged first record is an error`() async throws {
    try await withDirectory { directory in
      let path = directory + "/a.hindsight"
      try await makeLedger(at: path, count: 1)
      let file = URL(fileURLWithPath: path + "/log.mdb")
      var bytes = try Data(contentsOf: file)
      // The name in the first record, but not that in the snapshots or anywhere else.
      while let range = bytes.range(of: Data("Ledger".utf8)) {
        bytes.replaceSubrange(range, with: Data("Lodger".utf8))
      }
      try bytes.write(to: file)
      for options in [StoreOptions(), .readOnly] {
        let error = await expectError(.corrupt) {
          try await Store(Ledger(), at: path, options: options)
        }
        #expect(error?.index == 0)
      }
    }
  }

  @Test func `another reducer's store is refused by name`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 1)
      let error = await expectError(.reducerMismatch) {
        try await Store(
          name: "Other", initialState: 0, reduce: { (_: inout Int, _: Int) in }, at: path)
      }
      #expect(error?.message.contains("Ledger") == true)
      #expect(error?.message.contains("Other") == true)
    }
  }

  @Test func `an index beyond the head is refused, and the head with it named`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 3)
      let timeline = try Timeline(Ledger(), at: path)
      let error = await expectError(.indexBeyondHead) { try await timeline.state(at: 4) }
      #expect(error?.index == 4)
      #expect(error?.message.contains("3") == true)
      await expectError(.indexBeyondHead) { try await timeline.state(at: .max) }
      #expect(try await timeline.state(at: 3).eventCount == 3)
      try timeline.close()
    }
  }

  @Test func `a read-only store refuses every kind of dispatch`() async throws {
    try await withStoreDirectory { path in
      try await makeLedger(at: path, count: 1)
      let store = try await Store(Ledger(), at: path, options: .readOnly)
      let event = Ledger.Event.deposited(account: "a", cents: 1)
      await expectError(.readOnly) { try await store.dispatch(event) }
      await expectError(.readOnly) { try await store.dispatch(contentsOf: [event, event]) }
      await expectError(.readOnly) { try await store.transact { _ in [event] } }
      await expectError(.readOnly) { try await store.snapshot() }
      #expect(store.current.index == 1)
      try await store.close()
    }
  }
}
