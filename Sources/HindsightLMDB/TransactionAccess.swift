// What reading is, in either kind of transaction, with pointers; their users give them a lifetime.

import SystemLMDB

/// LMDB's handle of a transaction, which is alive.
struct TransactionAccess {
  let core: EnvironmentCore
  let handle: OpaquePointer

  func check(_ table: Table, _ operation: @autoclosure () -> String) throws(LMDBError) {
    guard table.isValid else {
      throw LMDBError(
        .badTable, operation(),
        message: "table \(table.name) was created in a transaction that was aborted")
    }
  }

  /// The value of a key, nil where the table has none.
  func value(_ table: Table, _ key: TableKey) throws(LMDBError) -> UnsafeRawBufferPointer? {
    try check(table, "reading from \(core.path)")
    var value = MDB_val()
    let result = key.withBytes { bytes in
      withValue(bytes) { mdb_get(handle, table.identifier, $0, &value) }
    }
    if result == MDB_NOTFOUND {
      try requireTable(table)
      return nil
    }
    try LMDBError.check(result, "reading from table \(table.name) of \(core.path)")
    return UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size)
  }

  /// Throws where the main table doesn't know a table: LMDB says "not found" for that, too.
  func requireTable(_ table: Table) throws(LMDBError) {
    var value = MDB_val()
    let mainTable: MDB_dbi = 1
    var name = Array(table.name.utf8)
    let result = name.withUnsafeMutableBytes { bytes in
      withValue(UnsafeRawBufferPointer(bytes)) { mdb_get(handle, mainTable, $0, &value) }
    }
    if result == MDB_NOTFOUND {
      throw LMDBError(
        .missingTable, "reading from \(core.path)", message: "it has no table \(table.name)")
    }
    try LMDBError.check(result, "reading from \(core.path)")
  }

  func openCursor(_ table: Table) throws(LMDBError) -> OpaquePointer {
    try check(table, "reading from \(core.path)")
    var cursor: OpaquePointer?
    try LMDBError.check(
      mdb_cursor_open(handle, table.identifier, &cursor),
      "reading from table \(table.name) of \(core.path)")
    guard let cursor else { throw LMDBError(.badTable, "reading from \(core.path)") }
    return cursor
  }

  /// How many entries a table has and how many pages it takes.
  func statistics(_ identifier: UInt32) throws(LMDBError) -> TableStatistics {
    var statistics = MDB_stat()
    try LMDBError.check(
      mdb_stat(handle, identifier, &statistics), "asking for the size of \(core.path)")
    return TableStatistics(
      entryCount: Int(clamping: statistics.ms_entries), depth: Int(statistics.ms_depth),
      pageCount: [
        statistics.ms_branch_pages, statistics.ms_leaf_pages, statistics.ms_overflow_pages,
      ].reduce(0) { $0 + Int(clamping: min($1, 1 << 48)) })
  }
}

/// The size of a table.
package struct TableStatistics: Sendable, Equatable {
  package let entryCount: Int
  /// The number of pages from the root to a leaf, both included; 0 in an empty table.
  package let depth: Int
  package let pageCount: Int
}

/// Calls a closure with bytes as LMDB takes them. It doesn't change them.
func withValue<Result>(
  _ bytes: UnsafeRawBufferPointer, _ body: (UnsafeMutablePointer<MDB_val>) -> Result
) -> Result {
  var value = MDB_val(
    mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  return body(&value)
}
