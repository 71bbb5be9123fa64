// Makes sure, before a commit writes anything, that the disk and the map have room for it.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Room at the end of the data file for what a write transaction is about to put.
///
/// LMDB takes pages from its free list first, which the file has already; the worst case is that
/// all are new. File systems that write elsewhere on every write (Btrfs, ZFS) promise nothing.
struct SpaceReservation {
  private let access: TransactionAccess

  init(_ access: TransactionAccess) { self.access = access }

  /// Pages that a transaction may change beside those of its values: the paths to the leaves of the
  /// few tables it touches, with splits, and of the free list.
  private static let pathPageCount = 64

  /// Reserves the worst case of a transaction that puts a value of a size.
  ///
  /// - Throws: ``LMDBError``; code `mapFull`, or `noSpace` where the file system is full.
  func reserve(forValueBytes sizeBytes: Int) throws(LMDBError) {
    let core = access.core
    let pageSize = core.pageSize
    let information = core.information()
    let freeListTable: UInt32 = 0
    let freeListPageCount = try access.statistics(freeListTable).pageCount
    let pageCount =
      information.lastPage + 1 + sizeBytes / pageSize + 2 + 2 * freeListPageCount
      + Self.pathPageCount
    let end = pageCount * pageSize
    guard end <= information.mapSize else {
      throw LMDBError(
        .mapFull, "writing to \(core.path)",
        message: "its memory map of \(information.mapSize) bytes has no room")
    }
    let fileSize = try core.fileSize()
    guard end > fileSize else { return }
    // Some more, so that not every commit changes the file's size.
    let step = min(max(fileSize / 256, 1 << 16), 1 << 22)
    var number = Self.allocate(core.descriptor, from: fileSize, to: end + step)
    if number != 0 { number = Self.allocate(core.descriptor, from: fileSize, to: end) }
    switch number {
    case 0, EOPNOTSUPP, ENOSYS, EINVAL, ENODEV:
      return  // Or a file system that can't reserve.
    case ENOSPC, EDQUOT, EFBIG:
      throw LMDBError(.noSpace, "reserving space for \(core.path)")
    default:
      throw LMDBError.system("reserving space for \(core.path)", number)
    }
  }

  /// Reserves a range behind the file's end, which the file then ends with; 0, or the `errno`.
  private static func allocate(_ descriptor: Int32, from start: Int, to end: Int) -> Int32 {
    while true {
      #if canImport(Darwin)
        var request = fstore_t(
          fst_flags: UInt32(F_ALLOCATEALL), fst_posmode: F_PEOFPOSMODE, fst_offset: 0,
          fst_length: off_t(end - start), fst_bytesalloc: 0)
        let isDone =
          fcntl(descriptor, F_PREALLOCATE, &request) != -1 && ftruncate(descriptor, off_t(end)) == 0
        let number = isDone ? 0 : errno
      #else
        let number = posix_fallocate(descriptor, off_t(start), off_t(end - start))
      #endif
      if number != EINTR { return number }
    }
  }
}
