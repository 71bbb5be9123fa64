// Temporary environments, and what the tests read from them.

import Foundation
import HindsightLMDB
import Testing

/// A directory that is removed with its last reference.
final class TemporaryDirectory: Sendable {
  let url: URL
  var file: String { url.appending(path: "data.mdb").path }

  init() throws {
    url = FileManager.default.temporaryDirectory.appending(path: "hs-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}

extension EnvironmentOptions {
  /// As the default, with a map that many of fit into an address space.
  static var test: EnvironmentOptions {
    var options = EnvironmentOptions()
    options.mapSize = 1 << 30
    return options
  }
}

/// Calls a closure with the path of a file that isn't there yet, and removes it in the end.
func withFile<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = try TemporaryDirectory()
  return try withExtendedLifetime(directory) { try body(directory.file) }
}

/// Calls a closure with a new environment, whose pages are checked after it.
func withEnvironment(
  _ options: EnvironmentOptions = .test, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: (Environment) throws -> Void
) throws {
  try withFile { path in
    let environment = try Environment.open(path, options: options)
    try body(environment)
    let report = try environment.checkTrees()
    #expect(report.problems.isEmpty, "\(report.problems)", sourceLocation: sourceLocation)
  }
}

/// Expects an ``LMDBError`` with a code.
func expect(
  _ code: LMDBError.Code, sourceLocation: SourceLocation = #_sourceLocation,
  _ body: () throws(LMDBError) -> Void
) {
  do throws(LMDBError) {
    try body()
    Issue.record("no error was thrown", sourceLocation: sourceLocation)
  } catch {
    #expect(error.code == code, "\(error)", sourceLocation: sourceLocation)
  }
}

/// Commits numbers to the table `numbers`, each with its digits as the value.
@discardableResult
func fill(_ environment: Environment, _ numbers: [UInt64]) throws(LMDBError) -> Table {
  var transaction = try environment.beginWrite()
  let table = try transaction.createTable("numbers")
  for number in numbers { try transaction.put(table, .number(number), Array("\(number)".utf8)) }
  try transaction.commit()
  return table
}

func keys(
  _ transaction: borrowing ReadTransaction, _ table: Table, from start: Cursor.Move = .first,
  _ step: Cursor.Move = .next
) throws(LMDBError) -> [UInt64] {
  var found: [UInt64] = []
  var cursor = try transaction.cursor(table)
  var next = try cursor.move(start)
  while let entry = next {
    if let number = entry.number { found.append(number) }
    next = try cursor.move(step)
  }
  return found
}

/// The bytes of a key's value, copied.
func value(
  _ transaction: borrowing ReadTransaction, _ table: Table, _ key: UInt64
) throws(LMDBError) -> [UInt8]? {
  guard let span = try transaction.value(table, .number(key)) else { return nil }
  return span.withUnsafeBytes { Array($0) }
}

func fileSize(_ path: String) throws -> Int {
  try #require(
    try FileManager.default.attributesOfItem(atPath: path)[.size] as? Int)
}
