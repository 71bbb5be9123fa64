// Files whose making was cut short, and readers that come while commits are made.

import Foundation
import HindsightLMDB
import Synchronization
import Testing

struct CreationTests {
  private func pageSize() -> Int { Int(getpagesize()) }

  @Test func `a file that ends after the first meta page of its making is made anew`() throws {
    try withFile { path in
      do { _ = try Environment.open(path, options: .test) }
      #expect(truncate(path, off_t(pageSize())) == 0)
      let environment = try Environment.open(path, options: .test)
      var transaction = try environment.beginWrite()
      let table = try transaction.createTable("table")
      try transaction.put(table, .number(1), [1])
      try transaction.commit()
      #expect(try environment.checkTrees().problems.isEmpty)
    }
  }

  @Test func `a file that has seen commits isn't made anew, however short it is`() throws {
    try withFile { path in
      do {
        let environment = try Environment.open(path, options: .test)
        for number in 0..<3 {
          var transaction = try environment.beginWrite()
          let table = try transaction.createTable("table")
          try transaction.put(table, .number(UInt64(number)), [1])
          try transaction.commit()
        }
      }
      #expect(truncate(path, off_t(pageSize())) == 0)
      #expect(throws: LMDBError.self) { try Environment.open(path, options: .test) }
      #expect(
        try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int == pageSize())
    }
  }

  @Test func `a reader has the state of the commit whose number it has, beside a fast writer`()
    async throws
  {
    let directory = try TemporaryDirectory()
    let environment = try Environment.open(directory.file, options: .test)
    let table = try Self.write(environment)
    let end = End()
    try await withThrowingTaskGroup { group in
      for _ in 0..<4 {
        group.addTask {
          var newest: UInt64 = 0
          while !end.isReached.load(ordering: .acquiring) {
            let transaction = try environment.beginRead()
            guard let value = try transaction.value(table, .number(0)) else { return }
            let number = value.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
            if number != transaction.number || number < newest {
              Issue.record("\(transaction.number) has \(number), after \(newest)")
              return
            }
            newest = number
          }
        }
      }
      group.addTask {
        defer { end.isReached.store(true, ordering: .releasing) }
        for _ in 0..<2_000 { _ = try Self.write(environment) }
      }
      try await group.waitForAll()
    }
  }

  private final class End: Sendable {
    let isReached = Atomic<Bool>(false)
  }

  /// Puts a commit's number into it.
  @discardableResult
  private static func write(_ environment: Environment) throws -> Table {
    var transaction = try environment.beginWrite()
    let table = try transaction.createTable("table")
    let number = try transaction.number()
    try transaction.put(table, .number(0), withUnsafeBytes(of: number) { Array($0) })
    try transaction.commit()
    return table
  }
}
