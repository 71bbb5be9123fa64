// Notices a data file that was cut off before LMDB touches a page that isn't there, which would be
// a signal (SIGBUS) and the process's end.
//
// Looked at whenever a transaction begins. A file that is cut off while a transaction reads it
// still ends the process; nothing but a signal handler could prevent that.

import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension EnvironmentCore {
  /// Throws where the file ends before a page that is in use. O(1), unless the file is short.
  ///
  /// A sound file may end before its last page, if that is a free one that was never written; then
  /// all pages are looked at, once for each length and commit.
  ///
  /// - Parameter transaction: the number of a read transaction that holds the pages in place.
  func checkSize(transaction: UInt64) throws(LMDBError) {
    let size = try fileSize()
    guard size < (information().lastPage + 1) * pageSize else { return }
    let shortFile = ShortFile(size: size, transaction: transaction)
    if soundShortFile.withLock({ $0 == shortFile }) { return }
    let report = try treeReport(transaction: transaction)
    // A writer makes the file long enough; two of its commits take the meta page away.
    if report == nil, try fileSize() >= (information().lastPage + 1) * pageSize { return }
    if let error = report?.readError { throw error }
    guard let report, !report.isTruncated else {
      throw LMDBError(
        .truncated, "reading \(path)",
        message: "the file was cut off: it has \(size) bytes, and pages behind that are in use")
    }
    soundShortFile.withLock { $0 = shortFile }
  }

  /// The same for a writer, which makes a sound file as long as its last page says.
  func checkSizeForWriting() throws(LMDBError) {
    let needed = (information().lastPage + 1) * pageSize
    guard try fileSize() < needed else { return }
    // Nobody else can commit now: the newest state is what the write transaction begins with.
    try checkSize(transaction: UInt64(information().lastTransaction))
    guard ftruncate(descriptor, off_t(needed)) == 0 else {
      throw LMDBError.system("extending \(path)")
    }
  }

  /// Checks all pages that a transaction's state is made of, or nil where its meta page is gone.
  ///
  /// O(n) in the pages. The transaction must be alive, so that its pages aren't reused.
  ///
  /// - Throws: ``LMDBError`` where the system doesn't read the meta pages.
  func treeReport(
    transaction: UInt64, extent: TreeExtent = .everything, visitor: EntryVisitor? = nil
  ) throws(LMDBError) -> TreeReport? {
    let reader = PageReader(descriptor: descriptor, pageSize: pageSize)
    for number in UInt64(0)...1 {
      guard let meta = reader.meta(number), meta.transaction == transaction else { continue }
      var check = TreeCheck(reader, meta, extent, visitor)
      check.run()
      return check.report
    }
    if let number = reader.refusal.number { throw .system("reading \(path)", number) }
    return nil
  }
}

/// A file that ends before its last page, and is sound all the same.
struct ShortFile: Equatable {
  let size: Int
  let transaction: UInt64
}

extension Environment {
  /// Checks all pages of the newest state against each other and against the file's size.
  ///
  /// Reads the file, not the map: damage is found, not stumbled over. A visitor gets the entries of
  /// its table as far as they can be read. O(n) in the pages, which are held in place meanwhile; of
  /// the edges alone, O(log n).
  ///
  /// - Throws: ``LMDBError`` where there is no read transaction to be had.
  package func checkTrees(
    _ extent: TreeExtent = .everything, visiting visitor: EntryVisitor? = nil
  ) throws(LMDBError) -> TreeReport {
    for _ in 0..<1_000 {
      let transaction = try beginRead()
      // Other processes may commit twice and take the meta page, before it was read.
      let report = try core.treeReport(
        transaction: transaction.number, extent: extent, visitor: visitor)
      if let report { return report }
    }
    throw LMDBError(.corrupted, "checking \(path)", message: "its meta pages can't be read")
  }
}
