// Clears a data file whose making was cut off between its two meta pages, which LMDB would refuse.
// It always holds: a file that has seen two commits, or that anybody has open, isn't touched.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A data file whose first write was cut short: by a full disk, an error or a power cut.
///
/// LMDB makes a file by writing both meta pages at once, with transaction number 0, and the first
/// commit is flushed before it changes one of them. So a file of which one meta page is blank, and
/// the other one blank or of number 0, has no commit. Only what is found by its contents to be one
/// after all, its meta pages lost, is left as it is.
struct InterruptedCreation {
  let path: String
  /// What stands in every file with anything in it; see ``EnvironmentOptions/contentMark``.
  let contentMark: [UInt8]

  /// No first commit makes a file larger, in bytes.
  private static let sizeMax = 1 << 22
  /// A disk writes so much at once, in bytes; all that a meta page says lies in its first sector.
  private static let sectorSize = 512

  /// Empties such a file, so that LMDB makes it anew.
  func clear() throws(LMDBError) {
    guard try isInterrupted() else { return }
    // Whoever makes a file holds this lock of LMDB's, and who has it open, a shared one.
    let lock = Descriptors.open(path + EnvironmentCore.lockSuffix, O_RDWR | O_CREAT)
    guard lock >= 0 else { throw LMDBError.system("opening the lock file of \(path)") }
    defer { close(lock) }
    var range = flock()
    range.l_type = Int16(F_WRLCK)
    range.l_whence = Int16(SEEK_SET)
    range.l_len = 1
    guard fcntl(lock, F_SETLK, &range) == 0 else { return }
    guard try isInterrupted() else { return }
    guard truncate(path, 0) == 0 else { throw LMDBError.system("emptying \(path)") }
  }

  private func isInterrupted() throws(LMDBError) -> Bool {
    var information = stat()
    guard stat(path, &information) == 0, information.st_size > 0,
      information.st_size <= off_t(Self.sizeMax)
    else { return false }
    let descriptor = Descriptors.open(path, O_RDONLY)
    guard descriptor >= 0 else { throw LMDBError.system("opening \(path)") }
    defer { close(descriptor) }
    let pageSize = Int(getpagesize())
    let reader = PageReader(descriptor: descriptor, pageSize: pageSize)
    guard let bytes = reader.bytes(of: 0, count: Int(information.st_size)) else { return false }
    let metaPages = (0...1).map { bytes.dropFirst($0 * pageSize).prefix(Self.sectorSize) }
    let areBlank = metaPages.map { page in page.allSatisfy { $0 == 0 } }
    let areNew = [0, 1].map { reader.meta($0)?.transaction == 0 }
    guard areBlank.contains(true), zip(areBlank, areNew).allSatisfy({ $0 || $1 }) else {
      return false
    }
    return !hasContent(bytes.dropFirst(2 * pageSize))
  }

  private func hasContent(_ bytes: ArraySlice<UInt8>) -> Bool {
    guard let first = contentMark.first else { return bytes.contains { $0 != 0 } }
    return bytes.indices.contains { bytes[$0] == first && bytes[$0...].starts(with: contentMark) }
  }
}
