// Snapshots: kept, damaged, deleted, and never in the way.

import Foundation
import HindsightCore
import HindsightLMDB
import HindsightLog
import Testing

@Suite struct SnapshotStorageTests {
  @Test(arguments: [0, 1, 100, 5_000, (1 << 24) - 1, 1 << 24, (1 << 24) + 1, 40_000_000])
  func `a state of any size comes back`(_ size: Int) throws {
    try withStorage { storage, _ in
      let state = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
      let header = makeHeader(index: 5, state)
      try storage.save(header, state: state)
      let found = try #require(
        try storage.header(reducerName: "test", reducerVersion: 1, index: 5))
      #expect(found == header)
      #expect(try storage.state(of: found) == state)
    }
  }

  @Test func `snapshots are found by reducer and version, ascending`() throws {
    try withStorage { storage, _ in
      let names = ["test", "tes", "test2", "test\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{0}\u{1}x", ""]
      for name in names {
        for version in [0, 1, UInt64.max] {
          for index in [300, 1, .max, 0, 256] as [EventIndex] {
            let state = Array("\(name) \(version) \(index)".utf8)
            try storage.save(
              makeHeader(name: name, version: version, index: index, state), state: state)
          }
        }
      }
      for name in names {
        for version in [0, 1, UInt64.max] {
          let indexes = try storage.summaries(reducerName: name, reducerVersion: version).map(
            \.index)
          #expect(indexes == [0, 1, 256, 300, .max])
          for index in indexes {
            let header = try #require(
              try storage.header(reducerName: name, reducerVersion: version, index: index))
            #expect(
              try storage.state(of: header) == Array("\(name) \(version) \(index)".utf8))
          }
        }
        #expect(try storage.summaries(reducerName: name, reducerVersion: 2).map(\.index) == [])
      }
      let missing = try storage.header(reducerName: "test", reducerVersion: 1, index: 2)
      #expect(missing == nil)
    }
  }

  @Test func `a snapshot takes the place of its predecessor, and can be removed`() throws {
    try withStorage { storage, path in
      let large = Array(repeating: UInt8(1), count: 40_000_000)
      try storage.save(makeHeader(index: 5, large), state: large)
      let small: [UInt8] = [1, 2, 3]
      try storage.save(makeHeader(index: 5, small), state: small)
      try storage.save(makeHeader(index: 6, small), state: small)
      #expect(try storage.state(of: makeHeader(index: 5, small)) == small)
      expect(.unusableSnapshot) { try storage.state(of: makeHeader(index: 5, large)) }
      try storage.remove(reducerName: "test", reducerVersion: 1, index: 5)
      try storage.remove(reducerName: "test", reducerVersion: 1, index: 5)
      #expect(try storage.summaries(reducerName: "test", reducerVersion: 1).map(\.index) == [6])
      expect(.unusableSnapshot) { try storage.state(of: makeHeader(index: 5, small)) }
      // What was removed left nothing behind.
      let environment = try Environment.open(path + "/snapshots.mdb")
      let chunks = try #require(try environment.table(named: "chunks"))
      #expect(try environment.beginRead().statistics(chunks).entryCount == 1)
    }
  }

  @Test func `a damaged state or header is unusable`() throws {
    for (table, keySuffix) in [("snapshots", []), ("chunks", [0, 0, 0, 0] as [UInt8])] {
      try withStorage(isDamaged: true) { storage, path in
        let state = Array(repeating: UInt8(3), count: 10_000)
        let header = makeHeader(index: 5, state)
        try storage.save(header, state: state)
        let environment = try Environment.open(path + "/snapshots.mdb")
        let table = try #require(try environment.table(named: table))
        let key = Array("test".utf8) + [0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 5] + keySuffix
        var transaction = try environment.beginWrite()
        var bytes: [UInt8] = []
        if let value = try transaction.value(table, .bytes(key)) {
          bytes = value.withUnsafeBytes { Array($0) }
        }
        bytes[bytes.count / 2] ^= 1
        try transaction.put(table, .bytes(key), bytes)
        try transaction.commit()
        expect(.unusableSnapshot, index: 5) { try storage.state(of: header) }
        #expect(try storage.summaries(reducerName: "test", reducerVersion: 1).map(\.index) == [5])
      }
    }
  }

  @Test func `a file that is none of LMDB's is replaced, and reported`() throws {
    for garbage in [Data(), Data("garbage".utf8), Data(repeating: 9, count: 100_000)] {
      try withStore { path in
        let log = try LMDBLog.open(path: path, options: .test)
        defer { log.close() }
        try garbage.write(to: URL(filePath: path + "/snapshots.mdb"))
        var options = LMDBLog.Options.test
        options.access = .readOnly
        let reader = LMDBSnapshotStorage.open(path: path, options: options)
        #expect(reader.problems.count == 1)
        #expect(try reader.summaries(reducerName: "test", reducerVersion: 1) == [])
        expect(.readOnly) { try reader.save(makeHeader(index: 1, [1]), state: [1]) }
        let storage = LMDBSnapshotStorage.open(path: path, options: .test)
        #expect(storage.problems.count == (garbage.isEmpty ? 0 : 2), "\(storage.problems)")
        let genesis = try #require(try log.digest(at: 0))
        let header = makeHeader(index: 0, [1], commitDigest: genesis)
        try storage.save(header, state: [1])
        #expect(try storage.state(of: header) == [1])
        storage.close()
      }
    }
  }

  @Test func `damaged pages are replaced, and don't end the process`() async {
    await #expect(processExitsWith: .success) {
      let seed = testSeed()
      var generator = SeededGenerator(seed: seed)
      let directory = try TemporaryStore()
      try LMDBLog.open(path: directory.path, options: .test).close()
      let file = URL(filePath: directory.path + "/snapshots.mdb")
      let first = LMDBSnapshotStorage.open(path: directory.path, options: .test)
      for index in 1...50 as ClosedRange<EventIndex> {
        let state = Array(repeating: UInt8(3), count: 100 * Int(index))
        try first.save(makeHeader(index: index, state), state: state)
      }
      first.close()
      let pageSize = Int(getpagesize())
      let sound = try Data(contentsOf: file)
      var replacedCount = 0
      for round in 0..<100 {
        var damaged = sound
        if round % 4 == 0 {
          damaged = damaged.prefix(Int.random(in: 0..<40_000, using: &generator))
        } else {
          for offset in stride(from: 2 * pageSize, to: damaged.count, by: pageSize)
          where Bool.random(using: &generator) {
            damaged[offset + Int.random(in: 0..<40, using: &generator)] ^= 0x55
          }
        }
        try damaged.write(to: file)
        let storage = LMDBSnapshotStorage.open(path: directory.path, options: .test)
        replacedCount += storage.problems.isEmpty ? 0 : 1
        for index in try storage.summaries(reducerName: "test", reducerVersion: 1).map(\.index) {
          if let header = try? storage.header(
            reducerName: "test", reducerVersion: 1, index: index)
          {
            _ = try? storage.state(of: header)
          }
        }
        try storage.save(makeHeader(index: 99, [1]), state: [1])
        storage.close()
      }
      #expect(replacedCount > 50, "seed \(seed)")
    }
  }

  @Test func `a store that is read has no snapshots where there is no file`() throws {
    try withStore { path in
      try LMDBLog.open(path: path, options: .test).close()
      var options = LMDBLog.Options.test
      options.access = .readOnly
      let storage = LMDBSnapshotStorage.open(path: path, options: options)
      #expect(storage.problems == [])
      #expect(try storage.summaries(reducerName: "test", reducerVersion: 1).map(\.index) == [])
      #expect(!FileManager.default.fileExists(atPath: path + "/snapshots.mdb"))
    }
  }

  @Test func `a place where no file can be is no obstacle`() throws {
    try withStore(isDamaged: true) { path in
      try LMDBLog.open(path: path, options: .test).close()
      try FileManager.default.createDirectory(
        atPath: path + "/snapshots.mdb", withIntermediateDirectories: true)
      let storage = LMDBSnapshotStorage.open(path: path, options: .test)
      #expect(!storage.problems.isEmpty)
      #expect(try storage.summaries(reducerName: "test", reducerVersion: 1).map(\.index) == [])
    }
  }

  @Test func `snapshots ahead of the log, of another history or damaged are findings`() throws {
    try withStore(isDamaged: true) { path in
      let log = try LMDBLog.open(path: path, options: .test)
      _ = try fill(log, commitSizes: [2, 2])
      let storage = LMDBSnapshotStorage.open(path: path, options: .test)
      for index in 0...4 as ClosedRange<EventIndex> {
        let digest = try #require(try log.digest(at: index))
        try storage.save(makeHeader(index: index, [1], commitDigest: digest), state: [1])
      }
      let sound = try LogVerifier(path: path).verify()
      #expect(sound.findings == [] && sound.snapshotCount == 5)
      try storage.save(makeHeader(index: 3, [1]), state: [1])
      try storage.save(makeHeader(index: 9, [1]), state: [1])
      storage.close()
      log.close()
      #expect(
        try LogVerifier(path: path).verify().findings.map(\.description) == [
          "snapshots at 3: the snapshot was made from another history",
          "snapshots at 9: there is a snapshot beyond the newest event, 4",
        ])
    }
  }
}

/// A storage in a new store with an empty log.
private func withStorage(
  isDamaged: Bool = false, _ body: (LMDBSnapshotStorage, String) throws -> Void
) throws {
  // The snapshots made here belong to no history of the log.
  try withStore(isDamaged: true) { path in
    try LMDBLog.open(path: path, options: .test).close()
    let storage = LMDBSnapshotStorage.open(path: path, options: .test)
    #expect(storage.problems == [])
    try body(storage, path)
    storage.close()
    let findings = try LogVerifier(path: path).verify().findings.filter {
      !$0.message.contains("beyond the newest event")
        && !$0.message.contains("from another history")
    }
    #expect(findings.isEmpty == !isDamaged, "\(findings)")
  }
}

private func makeHeader(
  name: String = "test", version: UInt64 = 1, index: EventIndex, _ state: [UInt8],
  commitDigest: UInt64 = 11
) -> SnapshotHeader {
  SnapshotHeader(
    reducerName: name, reducerVersion: version, index: index, commitDigest: commitDigest,
    initialStateDigest: 12, schemaVersion: 13, redactionEpoch: 14,
    stateDigest: state.withUnsafeBytes { LMDBLog.digest(of: $0) },
    stateSize: UInt64(state.count))
}
