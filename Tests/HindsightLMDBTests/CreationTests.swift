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
      var options = EnvironmentOptions.test
      options.contentMark = []
      let environment = try Environment.open(path, options: options)
      var transaction = try environment.beginWrite()
      let table = try transaction.createTable("table")
      try transaction.put(table, .number(1), [1])
      try transaction.commit()
      #expect(try environment.checkTrees().problems.isEmpty)
    }
  }

  @Test(arguments: [[0], [1], [0, 1]])
  func `a file whose meta pages never reached the disk is made anew, unless it has contents`(
    blankPages: [Int]
  ) throws {
    for contents in ["", "another thing", "this is ours"] {
      try withFile { path in
        do { _ = try Environment.open(path, options: .test) }
        let file = try FileHandle(forUpdating: URL(fileURLWithPath: path))
        for page in blankPages {
          try file.seek(toOffset: UInt64(page * pageSize()))
          try file.write(contentsOf: Data(count: pageSize()))
        }
        try file.seek(toOffset: UInt64(2 * pageSize() + 100))
        try file.write(contentsOf: Data(contents.utf8))
        var options = EnvironmentOptions.test
        options.contentMark = Array("ours".utf8)
        if contents.hasSuffix("ours") {
          #expect(throws: LMDBError.self) { try Environment.open(path, options: options) }
        } else {
          let environment = try Environment.open(path, options: options)
          #expect(try environment.checkTrees().problems.isEmpty)
        }
      }
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
    // On a thread of its own: the readers take all of the tasks' threads.
    async let written: Void = withCheckedThrowingContinuation { continuation in
      Thread.detachNewThread {
        continuation.resume(
          with: Result {
            while !end.isReached.load(ordering: .acquiring) { _ = try Self.write(environment) }
          })
      }
    }
    for _ in 0..<100_000 {
      let transaction = try environment.beginRead()
      guard let value = try transaction.value(table, .number(0)) else { break }
      let number = value.withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) }
      if number != transaction.number {
        Issue.record("\(transaction.number) has \(number)")
        break
      }
    }
    end.isReached.store(true, ordering: .releasing)
    try await written
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
