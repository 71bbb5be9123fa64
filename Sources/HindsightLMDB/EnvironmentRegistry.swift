// The environments that are open in this process, so that none is opened twice: LMDB's locks belong
// to the process, and closing one of two would drop those of the other.

import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The open environments by file, counted by their users.
enum EnvironmentRegistry {
  private struct Entry {
    let core: EnvironmentCore
    var userCount: Int
  }

  // Held while a file is opened or closed, so that the two never overlap.
  private static let entries = Mutex<[FileIdentity: Entry]>([:])

  static func open(
    _ path: String, options: EnvironmentOptions
  ) throws(LMDBError) -> EnvironmentCore {
    try entries.withLock { (entries) throws(LMDBError) in
      let path = try resolve(path, mayBeMissing: options.access == .create)
      if !options.allowsNetworkFileSystem,
        let name = try options.fileSystemProbe.networkFileSystem(directory(of: path))
      {
        throw LMDBError(
          .networkFileSystem, "opening \(path)",
          message: "it is on a network file system (\(name)), where its locks can't be relied on")
      }
      if let file = FileIdentity(path: path), let entry = entries[file],
        entry.core.processID == getpid()
      {
        if entry.core.isReadOnly, options.access != .readOnly {
          throw LMDBError(
            .conflictingOpen, "opening \(path) for writing",
            message: "this process has it open for reading only; close that first")
        }
        try entry.core.checkNotLatched("opening \(path)")
        entries[file]?.userCount += 1
        return entry.core
      }
      try refuseSharedLockFile(path, entries)
      let core = try EnvironmentCore(path: path, options: options)
      entries[core.file] = Entry(core: core, userCount: 1)
      return core
    }
  }

  static func release(_ core: EnvironmentCore) {
    // A child after fork must not touch what it shares with its parent.
    guard core.processID == getpid() else { return }
    entries.withLock { entries in
      guard let entry = entries[core.file], entry.core === core else { return }
      if entry.userCount > 1 {
        entries[core.file]?.userCount -= 1
      } else {
        entries[core.file] = nil
        core.close()
      }
    }
  }

  /// A data file that was replaced while it is open still has the old one's lock file.
  private static func refuseSharedLockFile(
    _ path: String, _ entries: [FileIdentity: Entry]
  ) throws(LMDBError) {
    guard let lock = FileIdentity(path: path + EnvironmentCore.lockSuffix) else { return }
    for entry in entries.values
    where entry.core.lockFile?.identity == lock && entry.core.processID == getpid() {
      throw LMDBError(
        .conflictingOpen, "opening \(path)",
        message: "the file was replaced while this process has it open; close that first")
    }
  }

  /// The path without symbolic links, as the lock file lies beside the real file.
  private static func resolve(
    _ path: String, mayBeMissing: Bool
  ) throws(LMDBError) -> String {
    if let real = realPath(path) { return real }
    let number = errno
    var information = stat()
    guard mayBeMissing, number == ENOENT, lstat(path, &information) != 0 else {
      throw LMDBError.system("opening \(path)", number)
    }
    let parent = directory(of: path)
    guard let real = realPath(parent) else { throw LMDBError.system("opening \(parent)") }
    let name = path.split(separator: "/").last.map(String.init) ?? path
    return real == "/" ? real + name : real + "/" + name
  }

  private static func realPath(_ path: String) -> String? {
    guard let resolved = realpath(path, nil) else { return nil }
    defer { free(resolved) }
    return String(cString: resolved)
  }

  private static func directory(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }
}
