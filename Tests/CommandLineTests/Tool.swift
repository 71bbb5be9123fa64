// Finds the real `hindsight` and runs it, as a shell would, with nothing between.
// It always holds: what it wrote and how it ended are complete before a test sees them.

import Foundation
import Testing

/// The executable under test.
enum Tool {
  /// Whether it is the release build, which can be given more to do.
  static let isRelease = ProcessInfo.processInfo.environment["HINDSIGHT_RELEASE_TOOL"] != nil

  /// The release build where the environment names one, else the build beside the tests.
  static func path() throws -> String {
    let named = ProcessInfo.processInfo.environment["HINDSIGHT_RELEASE_TOOL"]
    let path = try named ?? besideTests()
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw Failure(description: "there is no \(path): build the whole package")
    }
    return path
  }

  private static func besideTests() throws -> String {
    #if os(Linux)
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      let tests = bundle?.bundlePath ?? CommandLine.arguments[0]
    #endif
    return URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("hindsight").path
  }
}

/// Why a test couldn't do what it meant to.
struct Failure: Error, CustomStringConvertible {
  let description: String
}

/// How a program ended, and what it wrote.
struct Outcome: Equatable {
  /// The exit status; 128 and the signal's number where a signal ended it, as in a shell.
  var status: Int32
  var bytes: [UInt8] = []
  var error = ""

  var output: String { String(decoding: bytes, as: UTF8.self) }

  var lines: [String] {
    output.split(separator: "\n", omittingEmptySubsequences: true).map(String.init)
  }

  /// The output with the times at which events were recorded replaced, as they differ each time.
  var masked: String { output.maskingRecordedTimes }
}

extension Outcome: CustomTestStringConvertible {
  var testDescription: String { "status \(status), output:\n\(output)error:\n\(error)" }
}

extension String {
  /// Every moment of these years as `NOW`; tests let their events occur before.
  var maskingRecordedTimes: String {
    replacing(/20[2-9]\d-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/, with: "NOW")
  }
}

/// Runs blocking work on a thread of its own, so that other tests go on.
func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}
