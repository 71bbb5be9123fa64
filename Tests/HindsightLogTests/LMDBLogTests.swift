// Opening, creating and sharing the log of a store directory.

import Foundation
import HindsightCore
import HindsightLMDB
import HindsightLog
import Testing

@Suite struct LMDBLogTests {
  @Test func `a store is for its owner alone`() throws {
    try withStore { path in
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      #expect(try permissions(path) == 0o700)
      #expect(try permissions(path + "/log.mdb") == 0o600)
      #expect(try permissions(path + "/log.mdb-lock") == 0o600)
    }
  }

  @Test func `a reopened log is the same log`() throws {
    try withStore { path in
      var written: [[UInt8]] = []
      var genesis: LogGenesis?
      for _ in 0..<3 {
        let log = try LMDBLog.open(path: path + "/", options: .test)
        defer { log.close() }
        #expect(genesis == nil || log.genesis == genesis)
        genesis = log.genesis
        written += try fill(log, commitSizes: [1, 2])
        #expect(try log.payloads(1...log.head().index) == written)
      }
      var options = LMDBLog.Options.test
      options.access = .readOnly
      let log = try LMDBLog.open(path: path, options: options)
      defer { log.close() }
      #expect(log.isReadOnly)
      #expect(try log.payloads(1...9) == written)
      expect(.readOnly) { try log.append { _ in nil } }
    }
  }

  @Test func `what was opened for reading only is not changed`() throws {
    try withStore { path in
      let writer = try LMDBLog.open(path: path, options: .test)
      _ = try fill(writer, commitSizes: [1])
      writer.close()
      let file = URL(filePath: path + "/log.mdb")
      let before = try Data(contentsOf: file)
      var options = LMDBLog.Options.test
      options.access = .readOnly
      let log = try LMDBLog.open(path: path, options: options)
      #expect(try log.payloads(1...1).count == 1)
      log.close()
      #expect(try Data(contentsOf: file) == before)
      #expect(
        try Set(FileManager.default.contentsOfDirectory(atPath: path))
          == ["log.mdb", "log.mdb-lock"])
    }
  }

  @Test func `index 0 has no commit, and a scan may begin with it`() throws {
    try withStore { path in
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      _ = try fill(log, commitSizes: [2, 1])
      #expect(try log.firstIndexes(0...2) == [1])
      #expect(try log.firstIndexes(0...3, reversed: true) == [3, 1])
      #expect(try log.firstIndexes(0...0) == [])
    }
  }

  @Test func `two logs of one store in one process see each other's commits`() throws {
    try withStore { path in
      let first = try LMDBLog.open(path: path, options: .test)
      let second = try LMDBLog.open(path: path, options: .test)
      var written: [[UInt8]] = []
      for _ in 0..<5 {
        written += try fill(first, commitSizes: [1])
        written += try fill(second, commitSizes: [2])
      }
      #expect(try first.head() == second.head())
      first.close()
      #expect(try second.payloads(1...15) == written)
      written += try fill(second, commitSizes: [1])
      second.close()
    }
  }

  @Test func `threads that append at once each get their own index`() async throws {
    let directory = try TemporaryStore()
    let log = try LMDBLog.open(path: directory.path, options: .test)
    await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<4 {
        group.addTask {
          let own = try LMDBLog.open(path: directory.path, options: .test)
          defer { own.close() }
          for _ in 0..<50 { _ = try fill(own, commitSizes: [1]) }
        }
      }
    }
    #expect(try log.payloads(1...200) == payloads(from: 1, count: 200))
    log.close()
    #expect(try LogVerifier(path: directory.path).verify().findings == [])
  }

  @Test func `appending from inside of an append is an error, not a deadlock`() throws {
    try withStore { path in
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      expect(.reentrantCall) {
        try log.append { _ in
          _ = try log.append { _ in nil }
          return nil
        }
      }
      _ = try fill(log, commitSizes: [1])
    }
  }

  @Test func `an interrupted creation is completed`() throws {
    try withStore { path in
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: path + "/log.mdb"))
      let log = try LMDBLog.open(path: path, options: .test)
      _ = try fill(log, commitSizes: [1])
      log.close()
    }
    try withStore { path in
      try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
      _ = try Environment.open(path + "/log.mdb")
      let log = try LMDBLog.open(path: path, options: .test)
      _ = try fill(log, commitSizes: [1])
      log.close()
    }
  }

  @Test func `the largest map that is full takes no commit, and stays readable`() throws {
    try withStore { path in
      var options = LMDBLog.Options.test
      options.mapSizeBytes = 1 << 20
      let log = try LMDBLog.open(path: path, options: options)
      var written: [[UInt8]] = []
      let error = #expect(throws: HindsightError.self) {
        while true {
          let payload = Array(repeating: UInt8(truncatingIfNeeded: written.count), count: 40_000)
          _ = try log.append { .of([payload], after: $0) }
          written.append(payload)
        }
      }
      #expect(error?.code == .mapFull)
      // The message says what to do, which is done below.
      #expect(
        error?.message == "writing to \(path)/log.mdb: its memory map of 1048576 bytes has no room"
          + "; open the store with a larger mapSize")
      #expect(written.count > 10)
      #expect(try log.payloads(1...EventIndex(written.count)) == written)
      log.close()
      let larger = try LMDBLog.open(path: path, options: .test)
      written += try fill(larger, commitSizes: [1])
      #expect(try larger.payloads(1...EventIndex(written.count)) == written)
      larger.close()
    }
  }
}

@Suite struct RefusedStoreTests {
  static let accesses: [LMDBLog.Options.Access] = [
    .readOnly, .readWrite(createIfMissing: false), .readWrite(createIfMissing: true),
  ]

  @Test(arguments: accesses)
  func `what isn't a store is refused, and left as it was`(
    _ access: LMDBLog.Options.Access
  ) throws {
    var options = LMDBLog.Options.test
    options.access = access
    let creates = access == .readWrite(createIfMissing: true)
    let arrangements: [(String) throws -> Void] = [
      { try Data("a file".utf8).write(to: URL(filePath: $0)) },
      { path in
        try makeDirectory(path)
        try Data("a text".utf8).write(to: URL(filePath: path + "/notes.txt"))
      },
      { path in
        try makeDirectory(path)
        try Data(repeating: 1, count: 50_000).write(to: URL(filePath: path + "/log.mdb"))
      },
      { path in
        try makeDirectory(path)
        try makeDirectory(path + "/log.mdb")
      },
      { path in
        try makeDirectory(path)
        var transaction = try Environment.open(path + "/log.mdb").beginWrite()
        _ = try transaction.createTable("something else")
        try transaction.commit()
      },
      { path in
        let log = try LMDBLog.open(path: path, options: .test)
        log.close()
        try FileManager.default.removeItem(atPath: path + "/log.mdb")
        try Data().write(to: URL(filePath: path + "/snapshots.mdb"))
      },
    ]
    for arrange in arrangements {
      try withStore(isDamaged: true) { path in
        try arrange(path)
        let before = try contents(path)
        expect(.notAStore) { try LMDBLog.open(path: path, options: options) }
        #expect(try contents(path) == before)
      }
    }
    try withStore { path in
      expect(.notAStore) { try LMDBLog.open(path: path + "/missing/store", options: options) }
      if !creates { expect(.notAStore) { try LMDBLog.open(path: path, options: options) } }
      #expect(!FileManager.default.fileExists(atPath: path))
    }
  }

  @Test func `a log of another reducer is refused`() throws {
    try withStore { path in
      try LMDBLog.open(path: path, options: .test).close()
      for access in Self.accesses {
        var options = LMDBLog.Options(access: access, reducerName: "another")
        options.mapSizeBytes = 1 << 30
        expect(.reducerMismatch) { try LMDBLog.open(path: path, options: options) }
        options.reducerName = nil
        let log = try LMDBLog.open(path: path, options: options)
        #expect(log.genesis.reducerName == "test")
        log.close()
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "only root can become another user"))
  func `a store without permission is refused`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryStore()
      let log = try LMDBLog.open(path: directory.path, options: .test)
      _ = try fill(log, commitSizes: [1])
      log.close()
      try FileManager.default.setAttributes(
        [.posixPermissions: 0o755], ofItemAtPath: directory.parent.path)
      #expect(setegid(65_534) == 0 && seteuid(65_534) == 0)
      for access in RefusedStoreTests.accesses {
        var options = LMDBLog.Options.test
        options.access = access
        expect(.permissionDenied) { try LMDBLog.open(path: directory.path, options: options) }
      }
      expect(.permissionDenied) {
        try LMDBLog.open(
          path: directory.parent.appending(path: "new.hindsight").path, options: .test)
      }
      #expect(seteuid(0) == 0)
    }
  }

  @Test func `a store of a newer format is refused`() throws {
    let changes: [(offset: Int, byte: UInt8, isReadable: Bool)] = [
      (4, 2, false), (6, 1, false), (48, 1, false), (40, 1, true), (32, 1, true),
    ]
    for change in changes {
      try withStore(isDamaged: true) { path in
        try LMDBLog.open(path: path, options: .test).close()
        try editRecord(path, 0) { bytes in
          bytes[change.offset] = change.byte
        }
        var options = LMDBLog.Options.test
        options.access = .readOnly
        if change.isReadable {
          try LMDBLog.open(path: path, options: options).close()
        } else {
          expect(.unsupportedFormat) { try LMDBLog.open(path: path, options: options) }
        }
        if change.offset == 32 {
          try LMDBLog.open(path: path, options: .test).close()
        } else {
          expect(.unsupportedFormat) { try LMDBLog.open(path: path, options: .test) }
        }
      }
    }
  }

  @Test func `a damaged first record is refused`() throws {
    try withStore(isDamaged: true) { path in
      try LMDBLog.open(path: path, options: .test).close()
      try editRecord(path, 0, fixesDigest: false) { $0[10] ^= 1 }
      expect(.corrupt, index: 0) { try LMDBLog.open(path: path, options: .test) }
    }
  }

  @Test func `a name that is too long is refused`() throws {
    try withStore { path in
      let options = LMDBLog.Options(reducerName: String(repeating: "x", count: 256))
      expect(.invalidOption) { try LMDBLog.open(path: path, options: options) }
    }
  }
}

private func makeDirectory(_ path: String) throws {
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
}

private func permissions(_ path: String) throws -> Int? {
  try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
}

/// The files below a path with their bytes, lock files apart.
private func contents(_ path: String) throws -> [String: Data] {
  var found: [String: Data] = [:]
  let names = (try? FileManager.default.subpathsOfDirectory(atPath: path)) ?? [""]
  for name in names where !name.hasSuffix("-lock") {
    found[name] = try? Data(contentsOf: URL(filePath: path + "/" + name))
  }
  return found
}
