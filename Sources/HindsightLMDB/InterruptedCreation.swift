// Clears a data file whose making was cut off between its two meta pages, which LMDB would refuse.
// It always holds: a file that has seen two commits, or that anybody has open, isn't touched.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A data file whose first write was cut short: by a full disk, an error or a power cut.
///
/// LMDB makes a file by writing both meta pages at once, with transaction number 0. The first
/// commit goes to the second meta page, so that a file that ends after a first one of number 0 has
/// lost one commit at most: the one with which a store begins, before anything is dispatched to it.
enum InterruptedCreation {
  /// Empties such a file, so that LMDB makes it anew.
  static func clear(_ path: String) throws(LMDBError) {
    guard try isInterrupted(path) else { return }
    // Whoever makes a file holds this lock of LMDB's, and who has it open, a shared one.
    let lock = Descriptors.open(path + EnvironmentCore.lockSuffix, O_RDWR | O_CREAT)
    guard lock >= 0 else { throw LMDBError.system("opening the lock file of \(path)") }
    defer { close(lock) }
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_len = 1
    guard fcntl(lock, F_SETLK, &range) == 0 else { return }
    guard try isInterrupted(path) else { return }
    guard truncate(path, 0) == 0 else { throw LMDBError.system("emptying \(path)") }
  }

  private static func isInterrupted(_ path: String) throws(LMDBError) -> Bool {
    var information = stat()
    let pageSize = Int(getpagesize())
    guard stat(path, &information) == 0, information.st_size > 0,
      information.st_size < off_t(2 * pageSize)
    else { return false }
    let descriptor = Descriptors.open(path, O_RDONLY)
    guard descriptor >= 0 else { throw LMDBError.system("opening \(path)") }
    defer { close(descriptor) }
    let reader = PageReader(descriptor: descriptor, pageSize: pageSize)
    return reader.meta(0)?.transaction == 0
  }
}
