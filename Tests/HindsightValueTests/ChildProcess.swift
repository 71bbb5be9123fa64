// Runs one test of this executable in another process, with a hash seed of its own.

import Foundation
import Testing

/// A test that only does its work in a child process says so with `.enabled(if: isChild)`.
let isChild = ProcessInfo.processInfo.environment["HINDSIGHT_CHILD_OUTPUT"] != nil

/// Hands bytes over from a child process.
func handOver(_ bytes: [UInt8]) throws {
  let path = try #require(ProcessInfo.processInfo.environment["HINDSIGHT_CHILD_OUTPUT"])
  try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// Runs the test with this name in a child process, and gives back what it hands over.
func runChild(
  test name: String, environment: [String: String] = [:]
) async throws -> [UInt8] {
  let output = FileManager.default.temporaryDirectory
    .appendingPathComponent("hindsight-\(UUID().uuidString)")
  defer { try? FileManager.default.removeItem(at: output) }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
  process.arguments = ["--testing-library", "swift-testing", "--filter", name]
  process.environment = ProcessInfo.processInfo.environment
    .merging(["HINDSIGHT_CHILD_OUTPUT": output.path]) { $1 }.merging(environment) { $1 }
  process.standardOutput = FileHandle.nullDevice
  process.standardError = FileHandle.nullDevice
  let status = await withCheckedContinuation { continuation in
    process.terminationHandler = { continuation.resume(returning: $0.terminationStatus) }
    do { try process.run() } catch { continuation.resume(returning: -1) }
  }
  #expect(status == 0, "the child for “\(name)” failed")
  return [UInt8](try Data(contentsOf: output))
}
