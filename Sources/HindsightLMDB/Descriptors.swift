// Keeps LMDB's file descriptors out of the programs that this process starts.
// It always holds: files are recognised with stat alone; opening and closing one of them here would
// drop the locks that LMDB holds on it.

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What tells a file from all others on this machine, whatever its path.
struct FileIdentity: Hashable, Sendable {
  let device: UInt64
  let inode: UInt64

  init(_ information: stat) {
    device = UInt64(truncatingIfNeeded: information.st_dev)
    inode = UInt64(truncatingIfNeeded: information.st_ino)
  }

  /// The file at a path, nil where there is none.
  init?(path: String) {
    var information = stat()
    guard stat(path, &information) == 0 else { return nil }
    self.init(information)
  }

  /// The file that is open as a descriptor, nil where it isn't.
  init?(descriptor: Int32) {
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { return nil }
    self.init(information)
  }
}

/// Descriptors of this process.
package enum Descriptors {
  /// Marks every descriptor of the given files as closed on exec.
  ///
  /// LMDB opens the data file twice, and tells only one of the descriptors. A program that another
  /// thread starts between the opening and this call still inherits them.
  static func closeOnExec(_ files: Set<FileIdentity>) {
    for descriptor in all() {
      guard let identity = FileIdentity(descriptor: descriptor), files.contains(identity) else {
        continue
      }
      let flags = fcntl(descriptor, F_GETFD)
      if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
    }
  }

  /// The system's `open`, for one's own use alone; -1 and `errno` where it fails.
  package static func open(_ path: String, _ flags: Int32) -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = Darwin.open(path, flags | O_CLOEXEC, 0o600)
      #else
        let descriptor = Glibc.open(path, flags | O_CLOEXEC, 0o600)
      #endif
      if descriptor >= 0 || errno != EINTR { return descriptor }
    }
  }

  /// The open descriptors of a file, and whether each is closed on exec.
  package static func ofFile(_ path: String) -> [(descriptor: Int32, isClosedOnExec: Bool)] {
    guard let file = FileIdentity(path: path) else { return [] }
    return all().filter { FileIdentity(descriptor: $0) == file }
      .map { ($0, fcntl($0, F_GETFD) & FD_CLOEXEC != 0) }
  }

  private static func all() -> [Int32] {
    for path in ["/proc/self/fd", "/dev/fd"] {
      // One of them is the directory's own, and closed by now.
      if let names = Directory.names(in: path) { return names.compactMap { Int32($0) } }
    }
    return Array(0..<Int32(truncatingIfNeeded: min(sysconf(Int32(_SC_OPEN_MAX)), 65_536)))
  }
}

/// Directories of the file system.
package enum Directory {
  /// The names of all entries, or nil (and `errno`) where the directory can't be read.
  package static func names(in path: String) -> [String]? {
    guard let directory = opendir(path) else { return nil }
    defer { closedir(directory) }
    var names: [String] = []
    while let entry = readdir(directory) {
      // In place: an entry's memory ends with its name, not with its type.
      guard let offset = MemoryLayout<dirent>.offset(of: \dirent.d_name) else { return nil }
      let name = UnsafeRawPointer(entry).advanced(by: offset)
      names.append(String(cString: name.assumingMemoryBound(to: CChar.self)))
    }
    return names.filter { $0 != "." && $0 != ".." }
  }
}
