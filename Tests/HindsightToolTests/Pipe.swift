// Descriptors for tests: a pipe, and a file with given bytes.
// It always holds: what a test opened is closed and deleted in its end.

import Foundation

@testable import HindsightTool

/// A pipe whose ends are closed with it.
final class Pipe {
  let readEnd: Int32
  private(set) var writeEnd: Int32

  init() {
    var ends: [Int32] = [-1, -1]
    precondition(pipe(&ends) == 0, "no pipe to be had")
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  deinit {
    closeWriteEnd()
    SystemCalls.close(readEnd)
  }

  func closeWriteEnd() {
    guard writeEnd >= 0 else { return }
    SystemCalls.close(writeEnd)
    writeEnd = -1
  }

  /// What was written, to the end; the writing end is closed first.
  func contents() throws -> [UInt8] {
    closeWriteEnd()
    var bytes: [UInt8] = []
    var chunk = [UInt8](repeating: 0, count: 4096)
    while true {
      let count = try chunk.withUnsafeMutableBytes { try SystemCalls.read(into: $0, from: readEnd) }
      if count == 0 { return bytes }
      bytes += chunk[..<count]
    }
  }
}

/// Calls the closure with the path of a file that holds the bytes.
func withFile<Result>(_ bytes: [UInt8], _ body: (String) throws -> Result) throws -> Result {
  let url = FileManager.default.temporaryDirectory.appendingPathComponent(
    "hindsight-\(UUID().uuidString)")
  try Data(bytes).write(to: url)
  defer { try? FileManager.default.removeItem(at: url) }
  return try body(url.path)
}
