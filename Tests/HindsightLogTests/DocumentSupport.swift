// Reads the examples of docs/file-format.md, and what lies in a store's tables.

import Foundation
import HindsightLMDB
import HindsightLog
import Testing

func documentText() throws -> String {
  let root = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()
  return try String(contentsOf: root.appending(path: "docs/file-format.md"), encoding: .utf8)
}

/// The bytes of the block that begins with ```` ```hex NAME ````: on each line hexadecimal digits,
/// and after two spaces what they are.
func documentBytes(_ name: String) throws -> [UInt8] {
  var lines = try documentText().split(separator: "\n", omittingEmptySubsequences: false)[...]
  let start = try #require(lines.firstIndex(of: "```hex \(name)"), "no example named \(name)")
  lines = lines[(start + 1)...]
  let end = try #require(lines.firstIndex(of: "```"))
  let digits = lines[..<end].map { line in
    line.firstRange(of: "  ").map { line[..<$0.lowerBound] } ?? line
  }
  return try digits.joined(separator: " ").split(separator: " ").map { byte in
    try #require(byte.count == 2 ? UInt8(byte, radix: 16) : nil, "\(byte) is no byte")
  }
}

/// A new store, closed, whose record under a key was replaced.
func storeWithRecord(_ index: UInt64, _ bytes: [UInt8]) throws -> TemporaryStore {
  let directory = try TemporaryStore()
  try LMDBLog.open(path: directory.path, options: .test).close()
  try editRecord(directory.path, index, fixesDigest: false) { $0 = bytes }
  return directory
}

/// All entries of a table of a store's snapshots.
func entries(_ path: String, _ table: String) throws -> [[UInt8]: [UInt8]] {
  let environment = try Environment.open(path + "/snapshots.mdb")
  let table = try #require(try environment.table(named: table))
  let transaction = try environment.beginRead()
  var cursor = try transaction.cursor(table)
  var found: [[UInt8]: [UInt8]] = [:]
  var next = try cursor.move(.first)
  while let entry = next {
    let key = entry.key.withUnsafeBytes { Array($0) }
    found[key] = entry.value.withUnsafeBytes { Array($0) }
    next = try cursor.move(.next)
  }
  return found
}
