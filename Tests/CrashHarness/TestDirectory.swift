// A directory for what a test writes.
// It always holds: it is gone after the test, unless the test wants it to be looked at.

import Foundation

/// A new directory, removed when it is released.
package final class TestDirectory {
  package let path: String
  /// Whether it stays, as something in it shows a failure.
  package var isKept = false

  /// - Parameter inMemory: whether it is better in memory, where there is such a file system: for
  ///   what isn't about the disk, and writes much.
  package init(inMemory: Bool = false) throws {
    let memory = URL(fileURLWithPath: "/dev/shm")
    let isThere = inMemory && FileManager.default.isWritableFile(atPath: memory.path)
    path =
      (isThere ? memory : FileManager.default.temporaryDirectory)
      .appendingPathComponent("hindsight-crash-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit {
    if !isKept { try? FileManager.default.removeItem(atPath: path) }
  }
}
