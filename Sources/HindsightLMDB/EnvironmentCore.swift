// What the users of one environment share: LMDB's handle and everything that is kept beside it.

import Synchronization
import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The one open environment of a file in this process.
final class EnvironmentCore: @unchecked Sendable {
  // LMDB's handle may be used from any thread; all else is constant, atomic or locked.

  static let lockSuffix = "-lock"

  let handle: OpaquePointer
  /// The data file's real path.
  let path: String
  let file: FileIdentity
  let lockFile: LockFile?
  let descriptor: Int32
  let isReadOnly: Bool
  let pageSize: Int
  let processID: pid_t
  private let tables = Mutex<[String: Table]>([:])
  /// Held by the one transaction that opens or creates tables, until it has ended.
  let tableOpening = Condition()
  /// Held by the thread that has the write transaction, until what came of it is known here.
  let writing = Condition()
  /// That thread.
  private let writer = Mutex<pthread_t?>(nil)
  /// The short file that was looked at last, and found to be sound.
  let soundShortFile = Mutex<ShortFile?>(nil)
  private let isLatched = Atomic<Bool>(false)

  /// Opens a file; only for ``EnvironmentRegistry``, which knows that it isn't open yet.
  init(path: String, options: EnvironmentOptions) throws(LMDBError) {
    if options.access == .create, let contentMark = options.contentMark {
      try InterruptedCreation(path: path, contentMark: contentMark).clear()
    }
    try MetaPages.refuseForeignFile(path, mayBeEmpty: options.access == .create)
    let isReadOnly = options.access == .readOnly
    try LockFile.reserve(besideFile: path, readerSlots: options.readerSlots)
    let handle = try Self.openHandle(path: path, options: options)
    do throws(LMDBError) {
      var descriptor: Int32 = -1
      try LMDBError.check(mdb_env_get_fd(handle, &descriptor), "opening \(path)")
      guard let file = FileIdentity(descriptor: descriptor) else {
        throw LMDBError.system("opening \(path)")
      }
      let lockFile = LockFile(besideFile: path)
      var statistics = MDB_stat()
      try LMDBError.check(mdb_env_stat(handle, &statistics), "opening \(path)")
      Descriptors.closeOnExec(Set([file, lockFile?.identity].compactMap { $0 }))
      var staleReaderCount: Int32 = 0
      try LMDBError.check(
        mdb_reader_check(handle, &staleReaderCount), "looking for stale readers of \(path)")
      self.descriptor = descriptor
      self.file = file
      self.lockFile = lockFile
      pageSize = Int(statistics.ms_psize)
    } catch {
      mdb_env_close(handle)
      throw error
    }
    self.handle = handle
    self.path = path
    self.isReadOnly = isReadOnly
    processID = getpid()
  }

  /// Opens LMDB's handle with the largest map that the system grants.
  private static func openHandle(
    path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> OpaquePointer {
    var flags = UInt32(MDB_NOSUBDIR | MDB_NOTLS)
    if options.access == .readOnly { flags |= UInt32(MDB_RDONLY) }
    let pageSize = Int(getpagesize())
    var mapSize = max(options.mapSize / pageSize * pageSize, EnvironmentOptions.mapSizeMin)
    while true {
      var created: OpaquePointer?
      try LMDBError.check(mdb_env_create(&created), "opening \(path)")
      guard let handle = created else { throw LMDBError.system("opening \(path)", ENOMEM) }
      var result = mdb_env_set_maxreaders(handle, UInt32(clamping: options.readerSlots))
      if result == 0 { result = mdb_env_set_maxdbs(handle, EnvironmentOptions.tableCountMax) }
      if result == 0 { result = mdb_env_set_mapsize(handle, mapSize) }
      if result == 0 { result = mdb_env_open(handle, path, flags, 0o600) }
      if result == 0 { return handle }
      mdb_env_close(handle)
      if result == EINTR { continue }
      // Which error a refused map is differs: ENOMEM under a limit, EINVAL under valgrind.
      guard [ENOMEM, EINVAL, EOVERFLOW, EFBIG, EAGAIN].contains(result),
        mapSize / 2 >= EnvironmentOptions.mapSizeMin
      else { throw LMDBError(LMDBError.Code(rawValue: result), "opening \(path)") }
      mapSize = mapSize / 2 / pageSize * pageSize
    }
  }

  func checkProcess(_ operation: @autoclosure () -> String) throws(LMDBError) {
    guard getpid() == processID else {
      throw LMDBError(
        .forked, "\(operation()) \(path)",
        message: "it was opened before this process was forked; open it anew")
    }
  }

  func checkNotLatched(_ operation: @autoclosure () -> String) throws(LMDBError) {
    guard !isLatched.load(ordering: .acquiring) else {
      throw LMDBError(
        .latched, operation(),
        message: "an earlier commit failed and may or may not be in it; close it and open it anew")
    }
  }

  /// Throws where the newest meta page isn't the one that a write transaction begins after.
  ///
  /// A commit of another process that failed at its meta page, which then couldn't be written back
  /// either, leaves a page that the lock file knows nothing of. Whatever is written now is written
  /// over what that page refers to, and that page is what the next first opener begins with.
  func checkNewestCommit(before transaction: UInt64) throws(LMDBError) {
    guard UInt64(information().lastTransaction) != transaction - 1 else { return }
    latch()
    throw LMDBError(
      .latched, "writing to \(path)",
      message: "a commit of another process failed and left its meta page: close the file in all "
        + "processes before it is opened anew")
  }

  /// Gives the reader slots of dead processes back, and says how many there were.
  @discardableResult
  func removeStaleReaders() throws(LMDBError) -> Int {
    var count: Int32 = 0
    try LMDBError.check(mdb_reader_check(handle, &count), "looking for stale readers of \(path)")
    return Int(count)
  }

  /// Refuses all further write transactions.
  func latch() { isLatched.store(true, ordering: .releasing) }

  /// Throws where the calling thread is the writer, and would wait for itself.
  func checkNotWriting() throws(LMDBError) {
    let isNested = writer.withLock { writer in
      writer.map { pthread_equal($0, pthread_self()) != 0 } ?? false
    }
    guard !isNested else {
      throw LMDBError(
        .nestedWrite, "writing to \(path)",
        message: "this thread already has a write transaction on it")
    }
  }

  func setWriter(_ thread: pthread_t?) { writer.withLock { $0 = thread } }

  func information() -> (mapSize: Int, readerSlots: Int, lastPage: Int, lastTransaction: Int) {
    var information = MDB_envinfo()
    let result = mdb_env_info(handle, &information)
    precondition(result == 0, "mdb_env_info fails only for want of an environment")
    return (
      Int(information.me_mapsize), Int(information.me_maxreaders), Int(information.me_last_pgno),
      Int(information.me_last_txnid)
    )
  }

  func fileSize() throws(LMDBError) -> Int {
    var information = stat()
    guard fstat(descriptor, &information) == 0 else {
      throw LMDBError.system("asking for the size of \(path)")
    }
    return Int(information.st_size)
  }

  /// A table that is known, or that a short transaction of its own finds.
  func table(named name: String) throws(LMDBError) -> Table? {
    try checkProcess("opening table \(name) of")
    if let table = knownTable(named: name) { return table }
    try checkNotWriting()
    tableOpening.lock()
    defer { tableOpening.unlock() }
    if let table = knownTable(named: name) { return table }
    var transaction: OpaquePointer?
    try LMDBError.check(
      mdb_txn_begin(handle, nil, UInt32(MDB_RDONLY), &transaction), "opening table \(name)")
    do throws(LMDBError) {
      // Finding the table reads the main tree's pages.
      try checkSize(transaction: UInt64(mdb_txn_id(transaction)))
    } catch {
      mdb_txn_abort(transaction)
      throw error
    }
    var identifier: MDB_dbi = 0
    let result = mdb_dbi_open(transaction, name, 0, &identifier)
    guard result == MDB_SUCCESS else {
      mdb_txn_abort(transaction)
      if result == MDB_NOTFOUND { return nil }
      throw LMDBError(LMDBError.Code(rawValue: result), "opening table \(name) of \(path)")
    }
    // The handle outlives the transaction only if that is committed.
    try LMDBError.check(mdb_txn_commit(transaction), "opening table \(name) of \(path)")
    let table = Table(name: name, identifier: identifier)
    keep(table)
    return table
  }

  func knownTable(named name: String) -> Table? { tables.withLock { $0[name] } }

  /// Keeps a table whose transaction was committed.
  func keep(_ table: Table) { tables.withLock { $0[table.name] = table } }
}
