// A folder that a test works in, with the tool at hand.
// It always holds: each store in it is verified when the test ends, and then the folder is gone.

import Foundation
import Testing

/// A folder for one test.
final class Workspace: Sendable {
  let path: String

  fileprivate init() throws {
    let base = FileManager.default.temporaryDirectory.path
    path = "\(base)/hindsight-cli-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    // Others may look into it, for the tests that run as another user.
    chmod(path, 0o755)
  }

  func file(_ name: String) -> String { "\(path)/\(name)" }

  func write(_ text: String, to name: String) throws {
    try write(Array(text.utf8), to: name)
  }

  func write(_ bytes: [UInt8], to name: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: file(name)))
  }

  func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: file(name)) }

  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: file(name)) }

  /// Runs `hindsight` with words as one would type them.
  ///
  /// - Parameter input: what it reads from standard input; nothing by default.
  func hindsight(
    _ arguments: String..., input: String? = nil, environment: [String: String?] = [:]
  ) async throws -> Outcome {
    try await run(
      Tool.path(), arguments, input: input.map { Array($0.utf8) }, environment: environment)
  }

  /// Runs a line of `sh`, in which `$hindsight` is the tool.
  func shell(_ line: String) async throws -> Outcome {
    try await run("/bin/sh", ["-c", line], environment: ["hindsight": Tool.path()])
  }

  /// Runs a program to its end.
  func run(
    _ program: String, _ arguments: [String], input: [UInt8]? = nil,
    environment: [String: String?] = [:]
  ) async throws -> Outcome {
    let stem = file(".run-\(UUID().uuidString)")
    if let input { try Data(input).write(to: URL(fileURLWithPath: "\(stem).in")) }
    let hasInput = input != nil
    return try await onThread { [path] in
      defer { for end in ["in", "out", "err"] { unlink("\(stem).\(end)") } }
      let running = try RunningProgram(
        program, arguments, in: path, environment: environment,
        input: .file(hasInput ? "\(stem).in" : "/dev/null"), output: .file("\(stem).out"),
        error: .file("\(stem).err"))
      let status = running.wait()
      let output = try Data(contentsOf: URL(fileURLWithPath: "\(stem).out"))
      let error = try Data(contentsOf: URL(fileURLWithPath: "\(stem).err"))
      return Outcome(
        status: status, bytes: Array(output), error: String(decoding: error, as: UTF8.self))
    }
  }

  /// The stores that are in the folder.
  fileprivate var stores: [String] {
    get throws {
      try FileManager.default.contentsOfDirectory(atPath: path)
        .filter { exists("\($0)/log.mdb") }.sorted()
    }
  }
}

/// Gives a test a folder, and verifies in the end all stores that it left there.
///
/// - Parameter damaged: the stores that the test has damaged on purpose.
func withWorkspace(
  damaged: Set<String> = [], _ body: (Workspace) async throws -> Void
) async throws {
  let workspace = try Workspace()
  defer { try? FileManager.default.removeItem(atPath: workspace.path) }
  try await body(workspace)
  for store in try workspace.stores where !damaged.contains(store) {
    let outcome = try await workspace.hindsight("verify", store)
    #expect(outcome.status == 0, "\(outcome.output)\(outcome.error)")
  }
}

/// Three events of an account, which occurred long ago, with every kind of metadata.
let accountLines = """
  {"type":"opened","time":"2001-01-02T03:04:05Z","data":{"owner":"alice","balance":0}}
  {"type":"deposited","time":"2001-01-02T04:04:05.5Z","data":{"balance":100},\
  "metadata":{"tags":["account:a","big"],"correlationId":"r1","source":{"ip":"::1"}}}
  {"type":"closed","time":"2001-01-03T00:00:00+02:00","data":{"balance":null}}

  """

extension Workspace {
  /// Imports lines into a store, which must go well.
  func makeStore(
    _ name: String = "a.hindsight", _ lines: String = accountLines, reducer: String = "merge-patch"
  ) async throws {
    let outcome = try await hindsight("import", "--reducer", reducer, "--", name, "-", input: lines)
    try #require(outcome.status == 0, "\(outcome.error)")
  }
}

extension Workspace {
  func read(_ name: String) throws -> [UInt8] {
    Array(try Data(contentsOf: URL(fileURLWithPath: file(name))))
  }
}
