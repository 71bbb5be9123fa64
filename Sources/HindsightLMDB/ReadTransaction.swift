// A read transaction: one committed state, whose bytes are read in the map.
// It always holds: no span of it is left when it ends or is renewed; the compiler sees to that.

import SystemLMDB

/// The state of an environment after one commit.
///
/// Not bound to a thread, but for one at a time. While it lives, the pages of its state aren't
/// reused: keep it short, or ``renew()`` it.
package struct ReadTransaction: ~Copyable {
  private let environment: Environment
  private let handle: OpaquePointer

  init(environment: Environment) throws(LMDBError) {
    let core = environment.core
    try core.checkProcess("reading")
    try core.checkFiles("reading")
    var transaction: OpaquePointer?
    var result = mdb_txn_begin(core.handle, nil, UInt32(MDB_RDONLY), &transaction)
    if result == MDB_READERS_FULL, try core.removeStaleReaders() > 0 {
      result = mdb_txn_begin(core.handle, nil, UInt32(MDB_RDONLY), &transaction)
    }
    try LMDBError.check(result, "reading \(core.path)")
    guard let transaction else { throw LMDBError(.badTransaction, "reading \(core.path)") }
    do throws(LMDBError) {
      try Self.skipOverwrittenMetaPages(core, transaction)
      try core.checkSize(transaction: UInt64(mdb_txn_id(transaction)))
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    handle = transaction
    self.environment = environment
  }

  deinit {
    // After a fork the slot in the lock file is the parent's.
    if (try? environment.core.checkProcess("")) != nil { mdb_txn_abort(handle) }
  }

  private var access: TransactionAccess {
    TransactionAccess(core: environment.core, handle: handle)
  }

  /// The number of the commit whose state this is.
  package var number: UInt64 { UInt64(mdb_txn_id(handle)) }

  /// Goes on with the state of the newest commit.
  package mutating func renew() throws(LMDBError) {
    try environment.core.checkProcess("reading")
    try environment.core.checkFiles("reading")
    mdb_txn_reset(handle)
    try LMDBError.check(mdb_txn_renew(handle), "reading \(environment.path)")
    try Self.skipOverwrittenMetaPages(environment.core, handle)
    try environment.core.checkSize(transaction: number)
  }

  /// Begins again as long as the meta page may have been overwritten while LMDB copied from it.
  ///
  /// LMDB reads a transaction's number in the lock file and then its trees in the meta page that
  /// belongs to it. Where two commits come between, that page is of the second of them already,
  /// perhaps before that one is durable, and the next transaction would be of an older state.
  private static func skipOverwrittenMetaPages(
    _ core: EnvironmentCore, _ transaction: OpaquePointer
  ) throws(LMDBError) {
    for _ in 0..<10_000 {
      guard core.information().lastTransaction >= Int(mdb_txn_id(transaction)) + 2 else { return }
      mdb_txn_reset(transaction)
      try LMDBError.check(mdb_txn_renew(transaction), "reading \(core.path)")
    }
    throw LMDBError(
      .corrupted, "reading \(core.path)",
      message: "a meta page has a number that no commit had: close it and verify it")
  }

  /// The value of a key, nil where there is none. O(log n).
  ///
  /// - Throws: ``LMDBError``; code `missingTable` where this state doesn't have the table.
  @_lifetime(borrow self)
  package func value(_ table: Table, _ key: TableKey) throws(LMDBError) -> RawSpan? {
    guard let bytes = try access.value(table, key) else { return nil }
    return _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
  }

  /// A cursor over a table, for use while the transaction isn't renewed.
  @_lifetime(borrow self)
  package func cursor(_ table: Table) throws(LMDBError) -> Cursor {
    let cursor = try access.openCursor(table)
    return _overrideLifetime(Cursor(cursor, table, access), borrowing: self)
  }

  /// The size of a table. O(1).
  package func statistics(_ table: Table) throws(LMDBError) -> TableStatistics {
    try access.requireTable(table)
    return try access.statistics(table.identifier)
  }
}
