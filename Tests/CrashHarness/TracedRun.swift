// Runs the child with the tracing library preloaded, which is compiled for that.
// It always holds: where there is no C compiler, nothing pretends to have been tested.

package import CrashLedger
import Foundation

/// A run of the child whose system calls were traced.
package struct TracedRun {
  /// What the library is told to leave undone.
  package enum Swallowing: String {
    case nothing = ""
    /// Flushes of whole files return success at once.
    case syncs = "sync"
    /// Files are never written through.
    case writeThrough = "dsync"
    case all = "sync,dsync"
  }

  package let lines: [ChildLine]
  package let trace: SystemCallTrace
  /// The store's real path, as it stands in the trace.
  package let store: String

  /// Runs a task on a new store in a directory. Blocks.
  package init(
    _ task: ChildTask, in directory: String, swallowing: Swallowing, library: String
  ) throws {
    var task = task
    guard let resolved = realpath(directory, nil) else {
      throw ChildProcess.Failure(description: "there is no \(directory)")
    }
    defer { free(resolved) }
    store = String(cString: resolved) + "/traced.hindsight"
    task.path = store
    let file = FileManager.default.temporaryDirectory
      .appendingPathComponent("trace-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: file) }
    let child = try ChildProcess(
      task,
      environment: [
        "LD_PRELOAD": library, "HINDSIGHT_TRACE_FILE": file,
        "HINDSIGHT_TRACE_DIRECTORY": String(cString: resolved),
        "HINDSIGHT_TRACE_SWALLOW": swallowing.rawValue,
      ])
    lines = try child.remaining()
    guard child.wait() == .exited(0), lines.last == .done else {
      throw ChildProcess.Failure(description: "the traced program failed: \(lines.suffix(1))")
    }
    trace = try SystemCallTrace(contentsOf: file)
  }
}

/// The preloaded library, compiled at the first use.
package enum TracingLibrary {
  /// A C compiler: the toolchain's own beside `swift`, or the system's.
  package static let compiler: String? = {
    #if os(Linux)
      let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
      func find(_ name: String, beside neighbour: String? = nil) -> String? {
        folders.map(String.init).filter { folder in
          guard let neighbour else { return true }
          return FileManager.default.isExecutableFile(atPath: folder + "/" + neighbour)
        }.map { $0 + "/" + name }.first { FileManager.default.isExecutableFile(atPath: $0) }
      }
      return find("clang", beside: "swift") ?? find("clang") ?? find("cc")
    #else
      return nil
    #endif
  }()

  /// Compiles the library, or another one beside it, into a directory and returns its path. Blocks.
  package static func compile(
    _ name: String = "trace", into directory: String
  ) throws -> String {
    guard let compiler else { throw ChildProcess.Failure(description: "there is no C compiler") }
    let code = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("Shim/\(name).c").path
    let library = "\(directory)/\(name).so"
    let process = try ChildProcess(
      compiler, ["-Wall", "-Werror", "-O1", "-shared", "-fPIC", "-o", library, code])
    while let line = try process.readLine() { print(line) }
    guard process.wait() == .exited(0) else {
      throw ChildProcess.Failure(description: "\(compiler) can't compile \(code)")
    }
    return library
  }
}
