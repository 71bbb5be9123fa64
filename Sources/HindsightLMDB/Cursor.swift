// A position in a table.

import SystemLMDB

/// A position in a table, which moves from entry to entry.
package struct Cursor: ~Copyable, ~Escapable {
  private let handle: OpaquePointer
  private let table: Table
  private let access: TransactionAccess

  @_lifetime(immortal)
  init(_ handle: OpaquePointer, _ table: Table, _ access: TransactionAccess) {
    self.handle = handle
    self.table = table
    self.access = access
  }

  deinit {
    if (try? access.core.checkProcess("")) != nil { mdb_cursor_close(handle) }
  }

  /// Where a cursor moves to.
  package enum Move: Sendable {
    case first
    case last
    case next
    case previous
  }

  /// Moves the cursor; nil where there is no such entry. O(log n), from entry to entry O(1).
  ///
  /// The entry's bytes are valid as long as the transaction, whatever the cursor does.
  ///
  /// - Throws: ``LMDBError``; code `missingTable` where the transaction doesn't have the table.
  @_lifetime(copy self)
  package mutating func move(_ move: Move) throws(LMDBError) -> TableEntry? {
    let operation =
      switch move {
      case .first: MDB_FIRST
      case .last: MDB_LAST
      case .next: MDB_NEXT
      case .previous: MDB_PREV
      }
    var key = MDB_val()
    return try perform(operation, &key)
  }

  /// Moves the cursor to the first entry whose key isn't below the given one; nil where none is.
  @_lifetime(copy self)
  package mutating func seek(_ key: TableKey) throws(LMDBError) -> TableEntry? {
    // The key's bytes are LMDB's to read until the function returns, not longer.
    switch key {
    case .number(let number):
      var bigEndian = number.bigEndian
      return try withUnsafeMutablePointerToSeek(&bigEndian, MemoryLayout<UInt64>.size)
    case .bytes(var bytes):
      return try withUnsafeMutablePointerToSeek(&bytes, bytes.count)
    }
  }

  @_lifetime(copy self)
  private mutating func withUnsafeMutablePointerToSeek(
    _ bytes: UnsafeMutableRawPointer, _ size: Int
  ) throws(LMDBError) -> TableEntry? {
    var key = MDB_val(mv_size: size, mv_data: bytes)
    return try perform(MDB_SET_RANGE, &key)
  }

  @_lifetime(copy self)
  private mutating func perform(
    _ operation: MDB_cursor_op, _ key: inout MDB_val
  ) throws(LMDBError) -> TableEntry? {
    var value = MDB_val()
    let result = mdb_cursor_get(handle, &key, &value, operation)
    if result == MDB_NOTFOUND {
      try access.requireTable(table)
      return nil
    }
    try LMDBError.check(result, "reading from table \(table.name) of \(access.core.path)")
    let keySpan = RawSpan(
      _unsafeBytes: UnsafeRawBufferPointer(start: key.mv_data, count: key.mv_size))
    let valueSpan = RawSpan(
      _unsafeBytes: UnsafeRawBufferPointer(start: value.mv_data, count: value.mv_size))
    return _overrideLifetime(TableEntry(key: keySpan, value: valueSpan), copying: self)
  }
}
