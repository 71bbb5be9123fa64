// A small file system of a test's own, which can be filled, cut off and mounted again.
// It always holds: it is unmounted when it is released, and its loop device given back.

import Foundation

/// A file system in memory, or one of ext4 in a file.
package final class MountedFileSystem {
  package enum Kind: String, CaseIterable, Sendable {
    case memory = "tmpfs"
    case ext4
  }

  package let kind: Kind
  /// Where it is mounted.
  package let path: String
  private let directory: TestDirectory
  private let image: String
  private var isMounted = false

  /// Makes it and mounts it. Blocks.
  package init(_ kind: Kind, sizeBytes: Int) throws {
    self.kind = kind
    directory = try TestDirectory()
    path = directory.path + "/mounted"
    image = directory.path + "/image"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    switch kind {
    case .memory:
      try Self.run(["mount", "-t", "tmpfs", "-o", "size=\(sizeBytes)", "tmpfs", path])
      isMounted = true
    case .ext4:
      try Self.run(["truncate", "-s", "\(sizeBytes)", image])
      // Nothing is kept for root, so that it can be full.
      try Self.run(["mkfs.ext4", "-q", "-b", "4096", "-m", "0", image])
      try mount()
    }
  }

  deinit {
    guard isMounted else { return }
    // Whatever still uses it: the name is free at once, the rest with its last user.
    try? Self.run(["umount", "-l", path])
  }

  /// Mounts the image, with what its journal holds. Blocks.
  package func mount() throws {
    try Self.run(["mount", "-t", "ext4", "-o", "loop", image, path])
    isMounted = true
  }

  /// Unmounts it. Blocks.
  package func unmount() throws {
    try Self.run(["umount", path])
    isMounted = false
  }

  /// Why one can't be mounted here; nil where it can. Blocks.
  package static func obstacle(_ kind: Kind) -> String? {
    #if os(Linux)
      guard geteuid() == 0 else { return "mounting \(kind.rawValue) needs root" }
      do {
        _ = try MountedFileSystem(kind, sizeBytes: 16 << 20)
        return nil
      } catch {
        return "\(kind.rawValue) can't be mounted: \(error)"
      }
    #else
      return "it needs Linux"
    #endif
  }

  /// Fills it up but for some bytes. Blocks.
  ///
  /// - Returns: the path of the file that takes the room.
  package func fill(leaving remainingBytes: Int) throws -> String {
    let ballast = path + "/ballast"
    let descriptor = open(ballast, O_WRONLY | O_CREAT | O_CLOEXEC, 0o600)
    defer { close(descriptor) }
    let zeros = [UInt8](repeating: 0, count: 4_096)
    var size = 0
    repeat {
      while write(descriptor, zeros, zeros.count) == zeros.count { size += zeros.count }
      // What was promised late may come to less, or leave some room.
    } while fsync(descriptor) == 0 && write(descriptor, zeros, zeros.count) == zeros.count
    guard ftruncate(descriptor, off_t(max(size - remainingBytes, 0))) == 0, fsync(descriptor) == 0
    else { throw ChildProcess.Failure(description: "the disk can't be filled: \(errno)") }
    return ballast
  }

  /// How a file system is cut off.
  package enum Shutdown: UInt32, Sendable {
    /// All is flushed before.
    case flushingAll = 0
    /// Its journal is flushed before.
    case flushingJournal = 1
    /// Nothing is.
    case flushingNothing = 2
  }

  /// Cuts it off: from now on nothing reaches the image.
  package func shutDown(_ how: Shutdown) throws {
    #if os(Linux)
      let descriptor = open(path, O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      let request: UInt = 0x8004_587d  // FS_IOC_SHUTDOWN
      var flags = how.rawValue
      guard ioctl(descriptor, request, &flags) == 0 else {
        throw ChildProcess.Failure(description: "it can't be cut off: \(errno)")
      }
    #endif
  }

  private static func run(_ arguments: [String]) throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin"
    let script = "exec \"$@\" 2>&1 < /dev/null"
    let process = try ChildProcess(
      "/bin/sh", ["-c", script, "sh"] + arguments, environment: ["PATH": path + ":/usr/sbin:/sbin"])
    var output = ""
    while let line = try process.readLine() { output += line + " " }
    guard process.wait() == .exited(0) else {
      throw ChildProcess.Failure(description: "\(arguments.joined(separator: " ")): \(output)")
    }
  }
}
