// Runs programs with their outputs joined, as one sees them on a terminal.

import Foundation

/// Why an example doesn't work.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// Runs a program that is found by `PATH`, to its end and that of all it started.
///
/// - Returns: its exit status, and what it wrote to standard output and error.
func runProgram(
  _ program: String, _ arguments: [String], in folder: String, path: String? = nil
) throws -> (status: Int32, output: String) {
  let file = "\(folder)/.output-\(UUID().uuidString)"
  _ = FileManager.default.createFile(atPath: file, contents: nil)
  defer { try? FileManager.default.removeItem(atPath: file) }
  guard let output = FileHandle(forWritingAtPath: file) else {
    throw Failure(description: "\(file) can't be written")
  }
  let process = Process()
  process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
  process.arguments = [program] + arguments
  process.currentDirectoryURL = URL(fileURLWithPath: folder)
  var environment = ProcessInfo.processInfo.environment
  if let path { environment["PATH"] = "\(path):\(environment["PATH"] ?? "/usr/bin:/bin")" }
  process.environment = environment
  process.standardInput = FileHandle.nullDevice
  process.standardOutput = output
  process.standardError = output
  try withoutBlockedSignals { try process.run() }
  process.waitUntilExit()
  try output.close()
  let text = try String(contentsOfFile: file, encoding: .utf8)
  return (process.terminationStatus, text)
}

/// Does something while this thread blocks no signal.
///
/// A program inherits what the thread that starts it blocks, and the threads of a test block almost
/// all. A shell that never hears of its children's ends waits for them forever.
private func withoutBlockedSignals(_ body: () throws -> Void) rethrows {
  var none = sigset_t()
  sigemptyset(&none)
  var before = sigset_t()
  pthread_sigmask(SIG_SETMASK, &none, &before)
  defer { pthread_sigmask(SIG_SETMASK, &before, nil) }
  try body()
}

/// A folder that is gone afterwards.
func withFolder<Result>(_ body: (String) throws -> Result) throws -> Result {
  let folder = FileManager.default.temporaryDirectory
    .appendingPathComponent("hindsight-docs-\(UUID().uuidString)").path
  try FileManager.default.createDirectory(
    atPath: folder + "/bin", withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(atPath: folder) }
  return try body(folder)
}
