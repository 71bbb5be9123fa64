// An LMDB environment: one file with its lock file, open once in this process.
// It always holds: the environment is closed when its last user and last transaction are gone.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// An open LMDB environment.
///
/// Opening one file again, under whatever path, gives another user of the one that is open. There
/// is no `close`: the file is closed when the last user and the last transaction are released, so
/// that it never is under a live reader. After a fork the child's every use throws
/// ``LMDBError/Code/forked``; it may open the file anew.
///
/// May be used from any thread.
package final class Environment: Sendable {
  let core: EnvironmentCore

  private init(core: EnvironmentCore) { self.core = core }

  deinit { EnvironmentRegistry.release(core) }

  /// Opens the environment in a file.
  ///
  /// Asked for reading only, it may get one that another user opened for writing.
  ///
  /// - Throws: ``LMDBError``; code `conflictingOpen` where the file is open in this process for
  ///   reading only and is to be written.
  package static func open(
    _ path: String, options: EnvironmentOptions = EnvironmentOptions()
  ) throws(LMDBError) -> Environment {
    Environment(core: try EnvironmentRegistry.open(path, options: options))
  }

  /// The path of the data file, without symbolic links.
  package var path: String { core.path }

  /// Whether LMDB has it open for reading only.
  package var isReadOnly: Bool { core.isReadOnly }

  /// The size of the map that was got in the end, in bytes.
  package var mapSize: Int { core.information().mapSize }

  /// The number of reader slots that the first opener chose.
  package var readerSlots: Int { core.information().readerSlots }

  /// The size of a page in bytes.
  package var pageSize: Int { core.pageSize }

  /// The size of all pages up to the last one in use, in bytes.
  package var usedSizeBytes: Int { (core.information().lastPage + 1) * core.pageSize }

  /// A table by its name, or nil where there is none. Its handle is kept.
  package func table(named name: String) throws(LMDBError) -> Table? {
    try core.table(named: name)
  }

  /// Begins a read transaction: the state of the last commit, until it ends or is renewed.
  ///
  /// - Throws: ``LMDBError``; code `readersFull` where all slots are taken.
  package func beginRead() throws(LMDBError) -> ReadTransaction {
    try ReadTransaction(environment: self)
  }

  /// Begins a write transaction, waiting for those of other threads and processes to end.
  ///
  /// - Throws: ``LMDBError``; code `nestedWrite` where this thread already has one, `latched` after
  ///   a commit whose outcome is unknown.
  package func beginWrite() throws(LMDBError) -> WriteTransaction {
    try WriteTransaction(environment: self)
  }

  /// Gives the reader slots of dead processes back, and says how many there were.
  @discardableResult
  package func removeStaleReaders() throws(LMDBError) -> Int {
    try core.checkProcess("looking for stale readers of")
    return try core.removeStaleReaders()
  }

  /// Makes durable what a reader sees now, whatever became of the flushes of former processes.
  ///
  /// A flush that fails leaves pages in memory that are on no disk, and that no later flush writes.
  /// Of a commit that is seen, that can only be the meta page: it is written after all others were
  /// flushed. So both meta pages are written once more, as they are.
  package func synchronize() throws(LMDBError) {
    try core.checkProcess("flushing")
    try beginWrite().rewriteMetaPages()
    try LMDBError.check(mdb_env_sync(core.handle, 1), "flushing \(path)")
  }
}
