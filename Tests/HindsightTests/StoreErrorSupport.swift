// Stores in which something is wrong, for the tests of what a store says then.

import Foundation
import Hindsight
import HindsightLMDB
import HindsightLog
import Testing

/// A new directory that is removed after a test; what is in it needn't be a sound store.
func withDirectory(_ body: (String) async throws -> Void) async throws {
  let path = FileManager.default.temporaryDirectory
    .appendingPathComponent("hindsight-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: path) }
  try await body(path)
}

/// Expects that something throws a ``HindsightError`` of a code, and returns it.
@discardableResult
func expectError<Result>(
  _ code: HindsightError.Code, _ comment: Comment? = nil,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> HindsightError? {
  let error = await #expect(
    throws: HindsightError.self, comment, sourceLocation: sourceLocation
  ) { _ = try await body() }
  #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
  #expect(error?.message.isEmpty == false, sourceLocation: sourceLocation)
  return error
}

extension StoreOptions {
  static let readOnly = StoreOptions(isReadOnly: true)
  static let withoutSnapshots = StoreOptions(snapshotPolicy: .never)
}

/// Makes a store of so many deposits, with a snapshot after one of them.
func makeLedger(at path: String, count: Int, snapshotAt snapshot: Int? = nil) async throws {
  let store = try await Store(Ledger(), at: path, options: .withoutSnapshots)
  for number in 1...max(count, 1) where number <= count {
    try await store.dispatch(.deposited(account: "alice", cents: number))
    if number == snapshot { try await store.snapshot() }
  }
  try await store.close()
}

/// Changes the bytes of a store's first record, and makes its digest that of the changed bytes.
func changeGenesis(of path: String, _ change: (inout [UInt8]) -> Void) async throws {
  var options = EnvironmentOptions()
  options.access = .readWrite
  let environment = try Environment.open(path + "/log.mdb", options: options)
  let table = try #require(try environment.table(named: "commits"))
  var bytes = try genesisBytes(environment, table)
  bytes.removeLast(8)
  change(&bytes)
  let digest = try await logDigest(of: bytes)
  withUnsafeBytes(of: digest.littleEndian) { bytes.append(contentsOf: $0) }
  var transaction = try environment.beginWrite()
  try transaction.put(table, .number(0), bytes)
  try transaction.commit()
}

private func genesisBytes(_ environment: Environment, _ table: Table) throws -> [UInt8] {
  let transaction = try environment.beginRead()
  let bytes = try transaction.value(table, .number(0))?.withUnsafeBytes { Array($0) }
  return try #require(bytes)
}

/// The digest that logs use, asked of another one: the one at hand may not open.
private func logDigest(of bytes: [UInt8]) async throws -> UInt64 {
  var digest: UInt64 = 0
  try await withDirectory { directory in
    let log = try LMDBLog.open(path: directory, options: .init(reducerName: "digest"))
    defer { log.close() }
    digest = bytes.withUnsafeBytes { log.digest(of: $0) }
  }
  return digest
}
