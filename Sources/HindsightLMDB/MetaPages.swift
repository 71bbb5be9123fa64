// LMDB's two meta pages, read from the file: is it one of LMDB's, and what do its trees start from.
//
//   page header (16 bytes)   8 page number, 2 padding, 2 flags, 4 bounds
//   meta                     4 magic, 4 version, 8 address, 8 map size,
//                            2 × 48 free list and main table, 8 last page, 8 transaction

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The meta pages of a data file.
enum MetaPages {
  static let magic: UInt32 = 0xbeef_c0de
  static let magicOffset = 16
  static let version: UInt32 = 1

  /// Throws unless a file begins as LMDB's do, before LMDB makes a lock file beside it.
  ///
  /// - Parameter mayBeEmpty: whether a missing or empty file, which LMDB would initialize, passes.
  static func refuseForeignFile(_ path: String, mayBeEmpty: Bool) throws(LMDBError) {
    var information = stat()
    guard stat(path, &information) == 0 else {
      if errno == ENOENT, mayBeEmpty { return }
      throw LMDBError.system("opening \(path)")
    }
    guard information.st_mode & S_IFMT == S_IFREG else {
      throw LMDBError(.invalid, "opening \(path)", message: "it isn't a file")
    }
    if information.st_size == 0, mayBeEmpty { return }
    // LMDB locks the other file: this one can be opened and closed.
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw LMDBError.system("opening \(path)") }
    defer { close(descriptor) }
    var words: (UInt32, UInt32) = (0, 0)
    let count = withUnsafeMutableBytes(of: &words) {
      pread(descriptor, $0.baseAddress, $0.count, off_t(magicOffset))
    }
    guard count >= 0 else { throw LMDBError.system("reading \(path)") }
    guard count == 8, words.0 == magic else {
      throw LMDBError(.invalid, "opening \(path)", message: "it isn't an LMDB file")
    }
    guard words.1 == version else {
      throw LMDBError(
        .versionMismatch, "opening \(path)",
        message: "it has version \(words.1) of LMDB's format, not \(version)")
    }
  }
}
