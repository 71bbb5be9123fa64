// The directory that a store is: its files' names, its creation, and that it is on the disk.

import HindsightCore
import HindsightLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The files of a store.
struct StoreDirectory {
  let path: String

  init(path: String) {
    var path = path
    while path.count > 1, path.hasSuffix("/") { path.removeLast() }
    self.path = path
  }

  static let logName = "log.mdb"
  static let snapshotsName = "snapshots.mdb"
  static let lockSuffix = "-lock"

  var logPath: String { path + "/" + Self.logName }
  var snapshotsPath: String { path + "/" + Self.snapshotsName }
  private var parent: String {
    guard let slash = path.lastIndex(of: "/") else { return "." }
    return slash == path.startIndex ? "/" : String(path[..<slash])
  }

  /// Throws unless there is a directory with a log in it.
  func requireStore() throws(HindsightError) {
    guard try kind(of: path) == S_IFDIR else { throw .notAStore(path, "it isn't a directory") }
    guard let kind = try kindIfThere(of: logPath) else {
      throw .notAStore(path, "it has no \(Self.logName)")
    }
    guard kind == S_IFREG else { throw .notAStore(path, "its \(Self.logName) isn't a file") }
    try refuseEmptiedLog()
  }

  /// Makes the directory if there is none; throws where it has a content that isn't a store's.
  func createIfMissing() throws(HindsightError) {
    if mkdir(path, 0o700) == 0 { return }
    let number = errno
    guard number == EEXIST else {
      if number == ENOENT { throw .notAStore(parent, "there is no such directory") }
      if number == ENOTDIR { throw .notAStore(path, "a part of its path isn't a directory") }
      throw .system("creating the directory", path: path, number: number)
    }
    guard try kind(of: path) == S_IFDIR else { throw .notAStore(path, "it isn't a directory") }
    guard try kindIfThere(of: logPath) == nil else {
      return try requireStore()
    }
    guard let names = Directory.names(in: path) else { throw .system("reading", path: path) }
    guard Set(names).subtracting([Self.logName + Self.lockSuffix]).isEmpty else {
      throw .notAStore(path, "it has no \(Self.logName), and other files")
    }
  }

  /// Throws where the log is empty although snapshots were made of it: it isn't a new one.
  ///
  /// An empty log alone is one whose making was cut off, as snapshots are only made after it.
  private func refuseEmptiedLog() throws(HindsightError) {
    var information = stat()
    guard stat(logPath, &information) == 0, information.st_size == 0, Self.isThere(snapshotsPath)
    else { return }
    throw .notAStore(
      path, "its \(Self.logName) is empty, though it has snapshots: the log was lost; restore it")
  }

  /// Makes the log file's and the directory's own names durable.
  func synchronize() throws(HindsightError) {
    for path in [path, parent] {
      let descriptor = Descriptors.open(path, O_RDONLY | O_DIRECTORY)
      guard descriptor >= 0 else {
        // Whoever may not read the parent didn't make an entry in it, either.
        if path == parent, errno == EACCES { continue }
        throw .system("opening", path: path)
      }
      defer { close(descriptor) }
      guard fsync(descriptor) == 0 || errno == EINVAL else {
        throw .system("flushing", path: path)
      }
    }
  }

  /// Whether there is anything at a path.
  static func isThere(_ path: String) -> Bool {
    var information = stat()
    return lstat(path, &information) == 0
  }

  /// Removes an environment's file and its lock file, as far as they are there.
  static func removeEnvironment(_ path: String) {
    unlink(path)
    unlink(path + lockSuffix)
  }

  private func kind(of path: String) throws(HindsightError) -> mode_t {
    guard let kind = try kindIfThere(of: path) else { throw .notAStore(path, "it doesn't exist") }
    return kind
  }

  private func kindIfThere(of path: String) throws(HindsightError) -> mode_t? {
    var information = stat()
    if stat(path, &information) == 0 { return information.st_mode & S_IFMT }
    if errno == ENOENT { return nil }
    if errno == ENOTDIR { throw .notAStore(path, "a part of its path isn't a directory") }
    throw .system("looking for", path: path)
  }
}
