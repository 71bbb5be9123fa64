// The write transaction: at most one in all processes, and bound to the thread that began it.
// It always holds: what failed half-way is aborted, never committed.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The one write transaction of an environment. Aborted unless it is committed.
package struct WriteTransaction: ~Copyable {
  private let environment: Environment
  private let thread: pthread_t
  /// LMDB's handle, nil once the transaction has ended.
  private var handle: OpaquePointer?
  /// The tables that this transaction created or opened, kept if it is committed.
  private var newTables: [Table] = []
  private var holdsTableOpening = false
  /// How many bytes of values were put, and for how many there is room.
  private var valueBytes = (put: 0, reserved: -1)

  private static let transactionsPerReaderCheck = 256

  init(environment: Environment) throws(LMDBError) {
    let core = environment.core
    try core.checkProcess("writing to")
    guard !core.isReadOnly else {
      throw LMDBError(.readOnly, "writing to \(core.path)", message: "it is open for reading only")
    }
    try core.checkNotWriting()
    core.writing.lock()
    do throws(LMDBError) {
      try core.checkNotLatched("writing to \(core.path)")
      try core.checkFiles("writing to")
      var transaction: OpaquePointer?
      try LMDBError.check(
        mdb_txn_begin(core.handle, nil, 0, &transaction), "writing to \(core.path)")
      guard let transaction else { throw LMDBError(.badTransaction, "writing to \(core.path)") }
      do throws(LMDBError) {
        try core.checkNewestCommit(before: UInt64(mdb_txn_id(transaction)))
        try core.checkSizeForWriting()
        // A reader that died holds its pages in place until somebody notices.
        if mdb_txn_id(transaction) % Self.transactionsPerReaderCheck == 0 {
          try core.removeStaleReaders()
        }
      } catch {
        mdb_txn_abort(transaction)
        throw error
      }
      handle = transaction
    } catch {
      core.writing.unlock()
      throw error
    }
    self.environment = environment
    thread = pthread_self()
    core.setWriter(thread)
  }

  deinit {
    guard let handle else { return }
    Self.end(environment.core, handle, thread, newTables, holdsTableOpening)
  }

  /// The handle of a transaction that has neither failed nor ended.
  private func live(_ operation: @autoclosure () -> String) throws(LMDBError) -> TransactionAccess {
    precondition(
      pthread_equal(thread, pthread_self()) != 0, "a write transaction is bound to its thread")
    guard let handle else {
      throw LMDBError(
        .badTransaction, "\(operation()) \(environment.path)",
        message: "the transaction has failed or ended")
    }
    return TransactionAccess(core: environment.core, handle: handle)
  }

  /// The number of the commit that this transaction is about to make.
  package func number() throws(LMDBError) -> UInt64 { UInt64(mdb_txn_id(try live("using").handle)) }

  /// The value of a key, nil where there is none; valid until the transaction changes anything.
  @_lifetime(borrow self)
  package func value(_ table: Table, _ key: TableKey) throws(LMDBError) -> RawSpan? {
    guard let bytes = try live("reading").value(table, key) else { return nil }
    return _overrideLifetime(RawSpan(_unsafeBytes: bytes), borrowing: self)
  }

  /// A cursor over a table, for use until the transaction changes anything.
  @_lifetime(borrow self)
  package func cursor(_ table: Table) throws(LMDBError) -> Cursor {
    let access = try live("reading")
    return _overrideLifetime(Cursor(try access.openCursor(table), table, access), borrowing: self)
  }

  /// The table of a name, created where there is none; its handle is gone if this is aborted.
  package mutating func createTable(_ name: String) throws(LMDBError) -> Table {
    let access = try live("creating table \(name) of")
    if let table = environment.core.knownTable(named: name) { return table }
    if let table = newTables.first(where: { $0.name == name }) { return table }
    if !holdsTableOpening {
      environment.core.tableOpening.lock()
      holdsTableOpening = true
      if let table = environment.core.knownTable(named: name) { return table }
    }
    var identifier: MDB_dbi = 0
    try finish(
      mdb_dbi_open(access.handle, name, UInt32(MDB_CREATE), &identifier), "creating table \(name)")
    let table = Table(name: name, identifier: identifier)
    newTables.append(table)
    return table
  }

  /// What ``reserve(_:_:sizeBytes:isLast:_:)`` does with an entry that is there.
  package enum Placement: Sendable {
    /// Puts the entry in its place, over an old one.
    case anywhere
    /// Appends the entry; its key must be above all others. Fills pages instead of halving them.
    case last
  }

  /// Puts an entry whose value a closure writes straight into the page.
  ///
  /// The closure must fill all bytes, which hold anything before; what is left of the page's last
  /// bytes is zeroed, so that no other entry's old bytes get into the file there.
  ///
  /// - Throws: ``LMDBError``; the transaction is aborted then. Code `mapFull` where the map has no
  ///   room, `keyExists` where the key isn't above all others although it is to be placed last.
  package mutating func reserve(
    _ table: Table, _ key: TableKey, sizeBytes: Int, placement: Placement,
    _ fill: (UnsafeMutableRawBufferPointer) -> Void
  ) throws(LMDBError) {
    let access = try live("writing to")
    try access.check(table, "writing to \(environment.path)")
    var flags = UInt32(MDB_RESERVE)
    if placement == .last { flags |= UInt32(MDB_APPEND) }
    var value = MDB_val(mv_size: sizeBytes, mv_data: nil)
    let result = key.withBytes { bytes in
      withValue(bytes) { mdb_put(access.handle, table.identifier, $0, &value, flags) }
    }
    try finish(result, "writing to table \(table.name)")
    valueBytes.put += sizeBytes
    guard let start = value.mv_data else { return }
    fill(UnsafeMutableRawBufferPointer(start: start, count: sizeBytes))
    let keySize = key.withBytes(\.count)
    PageSlack.zero(
      after: start, sizeBytes: sizeBytes, keySize: keySize, pageSize: environment.pageSize)
  }

  /// Puts an entry, over an old one of the same key.
  package mutating func put(
    _ table: Table, _ key: TableKey, _ value: [UInt8]
  ) throws(LMDBError) {
    try reserve(table, key, sizeBytes: value.count, placement: .anywhere) { target in
      value.withUnsafeBytes { target.copyMemory(from: $0) }
    }
  }

  /// Removes an entry; whether there was one.
  @discardableResult
  package mutating func remove(_ table: Table, _ key: TableKey) throws(LMDBError) -> Bool {
    let access = try live("writing to")
    try access.check(table, "writing to \(environment.path)")
    let result = key.withBytes { bytes in
      withValue(bytes) { mdb_del(access.handle, table.identifier, $0, nil) }
    }
    if result == MDB_NOTFOUND {
      try access.requireTable(table)
      return false
    }
    try finish(result, "removing from table \(table.name)")
    return true
  }

  /// Makes sure that the disk has room for the transaction with values of so many bytes.
  ///
  /// A commit does so itself where nobody did: on a full disk LMDB may write a part of a page, and
  /// call it an input or output error, of which nobody knows what it left.
  ///
  /// - Throws: ``LMDBError``; code `mapFull` or `noSpace`; the transaction is aborted then, and the
  ///   next one can begin.
  package mutating func reserveSpace(forValueBytes sizeBytes: Int) throws(LMDBError) {
    let access = try live("writing to")
    do throws(LMDBError) {
      try SpaceReservation(access).reserve(forValueBytes: sizeBytes)
      valueBytes.reserved = sizeBytes
    } catch {
      abort()
      throw error
    }
  }

  /// Commits, and makes durable, all that the transaction did.
  ///
  /// - Throws: ``LMDBError``; as ``reserveSpace(forValueBytes:)``. With any other code it isn't
  ///   known whether the commit is in the file, and the environment takes no further write
  ///   transaction until it is opened anew.
  package mutating func commit() throws(LMDBError) {
    if valueBytes.put > valueBytes.reserved { try reserveSpace(forValueBytes: valueBytes.put) }
    let access = try live("committing to")
    handle = nil
    let result = mdb_txn_commit(access.handle)
    if result == MDB_SUCCESS {
      for table in newTables { access.core.keep(table) }
    } else {
      for table in newTables { table.invalidate() }
      access.core.latch()
    }
    Self.release(access.core, holdsTableOpening)
    try LMDBError.check(result, "committing to \(access.core.path)")
  }

  /// Writes both meta pages once more, as they are, and ends the transaction without a trace.
  consuming func rewriteMetaPages() throws(LMDBError) {
    let core = try live("flushing").core
    let reader = PageReader(descriptor: core.descriptor, pageSize: core.pageSize)
    for number in UInt64(0)...1 {
      guard let bytes = reader.bytes(of: number, count: core.pageSize) else {
        throw LMDBError.system("reading \(core.path)", reader.refusal.number ?? EIO)
      }
      let offset = off_t(number) * off_t(core.pageSize)
      var count = 0
      repeat {
        count = pwrite(core.descriptor, bytes, bytes.count, offset)
      } while count < 0 && errno == EINTR
      guard count == bytes.count else {
        throw LMDBError.system("writing to \(core.path)", count < 0 ? errno : EIO)
      }
    }
  }

  /// Ends the transaction without a trace.
  package mutating func abort() {
    guard let ended = handle else { return }
    handle = nil
    Self.end(environment.core, ended, thread, newTables, holdsTableOpening)
  }

  /// Throws where an operation failed, and aborts: LMDB has marked the transaction as broken.
  private mutating func finish(
    _ result: Int32, _ operation: @autoclosure () -> String
  ) throws(LMDBError) {
    guard result != MDB_SUCCESS else { return }
    abort()
    throw LMDBError(LMDBError.Code(rawValue: result), "\(operation()) of \(environment.path)")
  }

  private static func end(
    _ core: EnvironmentCore, _ handle: OpaquePointer, _ thread: pthread_t, _ newTables: [Table],
    _ holdsTableOpening: Bool
  ) {
    // After a fork the lock is the parent's.
    guard core.processID == getpid() else { return }
    precondition(
      pthread_equal(thread, pthread_self()) != 0, "a write transaction is bound to its thread")
    for table in newTables { table.invalidate() }
    mdb_txn_abort(handle)
    release(core, holdsTableOpening)
  }

  private static func release(_ core: EnvironmentCore, _ holdsTableOpening: Bool) {
    if holdsTableOpening { core.tableOpening.unlock() }
    core.setWriter(nil)
    core.writing.unlock()
  }
}
