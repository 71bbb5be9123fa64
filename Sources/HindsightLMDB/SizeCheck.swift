// Notices a data file that was cut off before LMDB touches a page that isn't there.

extension EnvironmentCore {
  /// Throws where the file ends before the last page of the newest commit.
  func checkSize() throws(LMDBError) {
    let needed = (information().lastPage + 1) * pageSize
    let size = try fileSize()
    guard size < needed else { return }
    throw LMDBError(
      .truncated, "reading \(path)", message: "it has \(size) bytes where \(needed) are needed")
  }
}
