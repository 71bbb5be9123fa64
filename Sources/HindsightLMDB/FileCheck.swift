// Notices files that were replaced, moved, removed or cut off while the environment is open.
//
// A commit to a file that nobody finds any more isn't one, and whoever opens a new lock file writes
// at the same time as who has the old one, and over what that one reads. Looked at before each
// transaction; what happens to the files after that look is noticed by the next.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension EnvironmentCore {
  /// Throws where the path doesn't lead to the open files any more. Two system calls.
  func checkFiles(_ operation: @autoclosure () -> String) throws(LMDBError) {
    guard FileIdentity(path: path) == file else {
      throw LMDBError(
        .replaced, "\(operation()) \(path)",
        message: "the file was replaced, moved or removed while it was open; close it, see what is "
          + "there now, and open that anew")
    }
    // On a read-only file system there is none.
    guard let lockFile else { return }
    let lockPath = path + Self.lockSuffix
    var information = stat()
    guard stat(lockPath, &information) == 0, FileIdentity(information) == lockFile.identity,
      information.st_size >= lockFile.sizeBytes
    else {
      throw LMDBError(
        .replaced, "\(operation()) \(path)",
        message: "its lock file \(lockPath) was replaced, moved, removed or cut off while it was "
          + "open; close it in all processes and open it anew")
    }
  }
}

extension EnvironmentCore {
  /// Closes the handle; only for ``EnvironmentRegistry``, when nobody uses it any more.
  func close() {
    // LMDB writes to the lock file's map once more: where that is cut off, a signal would end the
    // process. The handle's memory is lost then.
    if let lockFile, let now = LockFile(besideFile: path), now.identity == lockFile.identity,
      now.sizeBytes < lockFile.sizeBytes
    {
      return
    }
    mdb_env_close(handle)
  }
}

/// The lock file as it was when the environment was opened.
struct LockFile {
  let identity: FileIdentity
  let sizeBytes: off_t

  /// The lock file beside a data file, nil where there is none.
  init?(besideFile path: String) {
    var information = stat()
    guard stat(path + EnvironmentCore.lockSuffix, &information) == 0 else { return nil }
    identity = FileIdentity(information)
    sizeBytes = information.st_size
  }

  /// Makes sure that the file system has room for all of the lock file.
  ///
  /// LMDB writes to the file's map, where a page that doesn't fit is a signal (SIGBUS) and the
  /// process's end. The file's size isn't changed: it tells LMDB how many slots there are.
  ///
  /// - Throws: ``LMDBError`` with code `noSpace`. What else is wrong, LMDB tells when it opens it.
  static func reserve(besideFile path: String, readerSlots: Int) throws(LMDBError) {
    #if os(Linux)
      let lockPath = path + EnvironmentCore.lockSuffix
      // Nobody in this process has it open, so that no lock is dropped by closing it.
      let descriptor = Descriptors.open(lockPath, O_RDWR | O_CREAT)
      guard descriptor >= 0 else { return }
      defer { close(descriptor) }
      // The C module doesn't show the function that Linux alone has.
      typealias Allocate = @convention(c) (Int32, Int32, off_t, off_t) -> Int32
      guard let symbol = dlsym(nil, "fallocate") else { return }
      let allocate = unsafeBitCast(symbol, to: Allocate.self)
      let keepsSize: Int32 = 1
      let slotSize = 64
      let headerSizeMax = 4_096
      let size = max(min(readerSlots, 1 << 24), 1) * slotSize + headerSizeMax
      guard allocate(descriptor, keepsSize, 0, off_t(size)) != 0 else { return }
      if errno == ENOSPC || errno == EDQUOT {
        throw LMDBError.system("reserving space for \(lockPath)")
      }
    #endif
  }
}
