// Transactions, tables and cursors, and how LMDB lets one down there.

import Foundation
import HindsightLMDB
import Testing

@Suite struct TransactionTests {
  @Test func `what is committed is read, in order and in reverse`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [3, 1, 2])
      let transaction = try environment.beginRead()
      #expect(try keys(transaction, table) == [1, 2, 3])
      #expect(try keys(transaction, table, from: .last, .previous) == [3, 2, 1])
      #expect(try value(transaction, table, 2) == Array("2".utf8))
      #expect(try value(transaction, table, 4) == nil)
    }
  }

  @Test func `a read transaction keeps its state until it is renewed`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      var transaction = try environment.beginRead()
      _ = try fill(environment, [2])
      #expect(try keys(transaction, table) == [1])
      try transaction.renew()
      #expect(try keys(transaction, table) == [1, 2])
    }
  }

  @Test func `an aborted transaction leaves nothing`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      var transaction = try environment.beginWrite()
      try transaction.put(table, .number(2), [2])
      transaction.abort()
      expect(.badTransaction) { () throws(LMDBError) in
        try transaction.put(table, .number(2), [2])
      }
      let reader = try environment.beginRead()
      #expect(try keys(reader, table) == [1])
    }
  }

  @Test func `a missing table is no empty table`() throws {
    try withEnvironment { environment in
      let reader = try environment.beginRead()
      let table = try fill(environment, [1])
      // The reader's state is older than the table.
      #expect(throws: LMDBError.self) { _ = try keys(reader, table) }
      #expect(throws: LMDBError.self) { _ = try reader.value(table, .number(1)) == nil }
      let unknown = try environment.table(named: "unknown") == nil
      #expect(unknown)
    }
  }

  @Test func `a table that the main table has lost is an error, not empty`() throws {
    try withFile { path in
      let environment = try Environment.open(path, options: .test)
      let table = try fill(environment, [1])
      // What damage does: the main table's entry is gone, the handle is still there.
      var file = try Data(contentsOf: URL(filePath: path))
      while let name = file.range(of: Data("numbers".utf8)) {
        file.replaceSubrange(name, with: Data("numberz".utf8))
      }
      let handle = try FileHandle(forUpdating: URL(filePath: path))
      try handle.write(contentsOf: file)
      try handle.close()
      let reader = try environment.beginRead()
      expect(.missingTable) { () throws(LMDBError) in
        _ = try reader.value(table, .number(1)) == nil
      }
    }
  }

  @Test func `a table of an aborted transaction can't be used`() throws {
    try withEnvironment { environment in
      var first = try environment.beginWrite()
      let gone = try first.createTable("gone")
      first.abort()
      // LMDB gives the same number to the next table.
      var second = try environment.beginWrite()
      let other = try second.createTable("other")
      try second.put(other, .number(1), [1])
      expect(.badTable) { () throws(LMDBError) in
        _ = try second.value(gone, .number(1)) == nil
      }
      try second.commit()
      let reader = try environment.beginRead()
      expect(.badTable) { () throws(LMDBError) in
        _ = try reader.value(gone, .number(1)) == nil
      }
      #expect(try keys(reader, other) == [1])
    }
  }

  @Test func `tables are opened from many threads at once`() async throws {
    try await withThrowingTaskGroup(of: Void.self) { group in
      let directory = try TemporaryDirectory()
      let environment = try Environment.open(directory.file, options: .test)
      _ = try fill(environment, [1])
      for number in 0..<8 {
        group.addTask {
          var transaction = try environment.beginWrite()
          _ = try transaction.createTable("table \(number)")
          try transaction.commit()
          for other in 0..<8 { _ = try environment.table(named: "table \(other)") }
        }
      }
      try await group.waitForAll()
      for number in 0..<8 {
        let isThere = try environment.table(named: "table \(number)") != nil
        #expect(isThere)
      }
    }
  }

  @Test func `a full map aborts the transaction, and the next one works`() throws {
    var options = EnvironmentOptions.test
    options.mapSize = 1 << 20
    try withEnvironment(options) { environment in
      let table = try fill(environment, [1])
      var transaction = try environment.beginWrite()
      try transaction.put(table, .number(2), [2])
      expect(.mapFull) { () throws(LMDBError) in
        try transaction.put(table, .number(3), Array(repeating: 3, count: 2 << 20))
      }
      expect(.badTransaction) { () throws(LMDBError) in try transaction.commit() }
      var next = try environment.beginWrite()
      try next.put(table, .number(4), [4])
      try next.commit()
      let reader = try environment.beginRead()
      #expect(try keys(reader, table) == [1, 4])
    }
  }

  @Test func `space that the map doesn't have can't be reserved`() throws {
    var options = EnvironmentOptions.test
    options.mapSize = 1 << 20
    try withEnvironment(options) { environment in
      var transaction = try environment.beginWrite()
      expect(.mapFull) { () throws(LMDBError) in
        try transaction.reserveSpace(forValueBytes: 1 << 20)
      }
    }
  }

  @Test func `reserved space is in the file before the commit`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      var transaction = try environment.beginWrite()
      try transaction.reserveSpace(forValueBytes: 1 << 20)
      #expect(try fileSize(environment.path) > 1 << 20)
      try transaction.put(table, .number(2), Array(repeating: 2, count: 1 << 20))
      try transaction.commit()
    }
  }

  @Test func `a key that isn't the last can't be appended as such`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [5])
      var transaction = try environment.beginWrite()
      expect(.keyExists) { () throws(LMDBError) in
        try transaction.reserve(table, .number(4), sizeBytes: 1, placement: .last) { $0[0] = 1 }
      }
    }
  }

  @Test func `a thread's second write transaction is an error, not a deadlock`() throws {
    try withEnvironment { environment in
      let transaction = try environment.beginWrite()
      expect(.nestedWrite) { () throws(LMDBError) in _ = try environment.beginWrite().number() }
      _ = try transaction.number()
    }
  }

  @Test func `what is left of a value's page is zero in the file`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      let pageSize = environment.pageSize
      // Pages of a secret are written and freed, so that LMDB reuses their memory.
      for round in 0..<4 as Range<UInt64> {
        var transaction = try environment.beginWrite()
        for key in 10..<20 as Range<UInt64> {
          try transaction.put(
            table, .number(key),
            Array(repeating: 0xaa, count: round % 2 == 0 ? pageSize - 16 : 5))
        }
        try transaction.commit()
      }
      var transaction = try environment.beginWrite()
      for key in 20..<40 as Range<UInt64> {
        let size = pageSize / 2 + Int(key) * 3
        try transaction.reserve(table, .number(key), sizeBytes: size, placement: .anywhere) {
          $0.initializeMemory(as: UInt8.self, repeating: 0x55)
        }
      }
      try transaction.commit()
      let file = try [UInt8](Data(contentsOf: URL(filePath: environment.path)))
      var checkedCount = 0
      for start in stride(from: 0, to: file.count, by: pageSize) where file[start + 16] == 0x55 {
        let page = file[(start + 16)..<(start + pageSize)]
        #expect(page.drop { $0 == 0x55 }.allSatisfy { $0 == 0 })
        checkedCount += 1
      }
      #expect(checkedCount == 20)
    }
  }

  @Test(arguments: [0, 1, 2, 3, 100, 1_999, 2_021, 2_022, 2_023, 4_080, 4_081, 100_000])
  func `a value of any size comes back`(_ size: Int) throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      let value = (0..<size).map { UInt8(truncatingIfNeeded: $0) }
      var transaction = try environment.beginWrite()
      try transaction.put(table, .number(2), value)
      try transaction.put(table, .number(3), value)
      try transaction.commit()
      let reader = try environment.beginRead()
      for key in 2...3 as ClosedRange<UInt64> {
        let found = try HindsightLMDBTests.value(reader, table, key)
        #expect(found == value)
      }
      let statistics = try reader.statistics(table)
      let own = PageLayout.overflowPageCount(
        sizeBytes: size, keySize: 8, pageSize: environment.pageSize)
      #expect(statistics.entryCount == 3)
      // Two of the largest values that a leaf can hold need a leaf each.
      #expect(statistics.depth == 1 || own == 0)
      #expect(statistics.pageCount == (statistics.depth == 1 ? 1 + 2 * own : 3))
    }
  }
}
