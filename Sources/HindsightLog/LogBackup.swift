// Copies a log while it is in use.
// It always holds: nothing at the destination looks like a store before it is a whole one, and
// durable.

public import HindsightCore
import HindsightLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension LMDBLog {
  /// Copies the newest durable state of the log into a new store.
  ///
  /// Works beside writers, in this process and others, which go on meanwhile; the pages that the
  /// copy reads can't be reused until it is done. Snapshots aren't copied: they are a cache, and
  /// made anew. O(n) in the bytes of the log. Blocks.
  ///
  /// - Parameter destination: the new store's directory, which must not be there.
  /// - Returns: the index of the newest event in the copy, which is at least that of the newest
  ///   that was durable when the copy began.
  /// - Throws: ``HindsightError``: `destinationExists`, `permissionDenied`, `diskFull`, `corrupt`,
  ///   `closed` or `inputOutput`. Nothing is left at the destination then.
  public func backup(to destination: String) throws -> EventIndex {
    let target = StoreDirectory(path: destination)
    guard !StoreDirectory.isThere(target.path) else {
      throw HindsightError.destinationExists(target.path)
    }
    // Beside it, so that it is on the same file system, and a name that nothing else has.
    let partial = StoreDirectory(path: "\(target.path).partial-\(getpid())")
    guard mkdir(partial.path, 0o700) == 0 else {
      throw errno == ENOENT
        ? HindsightError(.notAStore, "there is no directory to make \(target.path) in")
        : HindsightError.system("making the directory", path: partial.path)
    }
    var made = partial
    do {
      try using { try $0.copy(to: partial.logPath) }
      let head = try Self.headOfCopy(partial)
      try partial.synchronize()
      // Fails where there is something by now, unless that is an empty directory.
      guard rename(partial.path, target.path) == 0 else {
        if errno == EEXIST || errno == ENOTEMPTY || errno == ENOTDIR {
          throw HindsightError.destinationExists(target.path)
        }
        throw HindsightError.system("making", path: target.path)
      }
      made = target
      try target.synchronize()
      return head
    } catch {
      StoreDirectory.removeEnvironment(made.logPath)
      rmdir(made.path)
      throw error
    }
  }

  /// Opens the copy as any store is, which looks at the pages that matter, and leaves no lock file.
  private static func headOfCopy(_ copy: StoreDirectory) throws -> EventIndex {
    defer { unlink(copy.logPath + StoreDirectory.lockSuffix) }
    let log = try open(path: copy.path, options: Options(access: .readOnly))
    defer { log.close() }
    return try log.head().index
  }
}
