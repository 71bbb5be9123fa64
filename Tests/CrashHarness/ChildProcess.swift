// Starts a program, reads what it says line by line, and kills it when told to.
// It always holds: its output is in no other process, so that the lines end when the process does.

package import CrashLedger
import Foundation

/// A running program whose standard output is read here.
package final class ChildProcess {
  /// How a program ended.
  package enum Ending: Equatable {
    case exited(Int32)
    case killed(Int32)
  }

  package struct Failure: Error, CustomStringConvertible {
    package let description: String

    package init(description: String) { self.description = description }
  }

  private let identifier: pid_t
  private let output: Int32
  private var buffer: [UInt8] = []
  private var ending: Ending?

  /// A program that says nothing for so long is given up.
  package var patienceMilliseconds: Int32 = 120_000

  /// Starts a program, with the environment of this process and the given variables.
  package init(_ program: String, _ arguments: [String], environment: [String: String] = [:]) throws
  {
    var ends: [Int32] = [-1, -1]
    #if os(Linux)
      // Unlike a pipe, it is closed on exec from the start: others may start programs.
      let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else {
        throw Self.failure("socketpair", errno)
      }
    #else
      guard pipe(&ends) == 0 else { throw Self.failure("pipe", errno) }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #endif
    defer { close(ends[1]) }
    var variables = ProcessInfo.processInfo.environment
    variables.merge(environment) { $1 }
    do {
      identifier = try Self.spawn(program, arguments, variables, output: ends[1])
    } catch {
      close(ends[0])
      throw error
    }
    output = ends[0]
  }

  deinit {
    if ending == nil { kill() }
    close(output)
  }

  private static func spawn(
    _ program: String, _ arguments: [String], _ environment: [String: String], output: Int32
  ) throws -> pid_t {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    posix_spawn_file_actions_adddup2(&actions, output, 1)
    var pointers = ([program] + arguments).map { strdup($0) } + [nil]
    var variables = environment.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in pointers + variables { free(pointer) } }
    var identifier: pid_t = 0
    let number = posix_spawn(&identifier, program, &actions, nil, &pointers, &variables)
    guard number == 0 else { throw failure("starting \(program)", number) }
    return identifier
  }

  private static func failure(_ what: String, _ number: Int32) -> Failure {
    Failure(description: "\(what): \(String(cString: strerror(number)))")
  }

  /// The next line, nil where the program has closed its output. Blocks.
  package func readLine() throws -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        return line
      }
      var request = pollfd(fd: output, events: Int16(POLLIN), revents: 0)
      let count = poll(&request, 1, patienceMilliseconds)
      if count < 0, errno == EINTR { continue }
      guard count > 0 else {
        kill()
        throw Failure(description: "the program said nothing for too long and was killed")
      }
      var bytes = [UInt8](repeating: 0, count: 1 << 16)
      let size = read(output, &bytes, bytes.count)
      if size < 0, errno == EINTR { continue }
      guard size > 0 else { return nil }
      buffer += bytes[..<size]
    }
  }

  /// Everything that is still to come, to the end. Blocks.
  package func readAll() throws -> [UInt8] {
    var bytes: [UInt8] = []
    while let line = try readLine() { bytes += Array((line + "\n").utf8) }
    defer { buffer = [] }
    return bytes + buffer
  }

  /// Ends the program at once, wherever it is, and waits until it is gone.
  package func kill() {
    guard ending == nil else { return }
    #if canImport(Darwin)
      Darwin.kill(identifier, SIGKILL)
    #else
      Glibc.kill(identifier, SIGKILL)
    #endif
    wait()
  }

  /// Waits until the program has ended by itself or was killed.
  @discardableResult
  package func wait() -> Ending {
    if let ending { return ending }
    var status: Int32 = 0
    while waitpid(identifier, &status, 0) < 0 && errno == EINTR {}
    let signal = status & 0x7f
    let found: Ending = signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal)
    ending = found
    return found
  }
}

extension ChildProcess {
  /// Starts the crash tests' own program.
  package convenience init(_ task: ChildTask, environment: [String: String] = [:]) throws {
    try self.init(Self.program(), task.arguments, environment: environment)
  }

  /// The next line of the crash tests' own program.
  package func next() throws -> ChildLine? {
    guard let text = try readLine() else { return nil }
    guard let line = ChildLine(text) else {
      throw Failure(description: "the program said what it shouldn't: \(text)")
    }
    return line
  }

  /// All lines that are still to come.
  package func remaining() throws -> [ChildLine] {
    var lines: [ChildLine] = []
    while let line = try next() { lines.append(line) }
    return lines
  }

  /// The crash tests' own program.
  package static func program() throws -> String { try neighbour("crash-child") }

  /// A program of the package, which is built beside the one that runs.
  package static func neighbour(_ name: String) throws -> String {
    #if os(Linux)
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      let tests = bundle?.bundlePath ?? CommandLine.arguments[0]
    #endif
    let path = URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent(name).path
    guard FileManager.default.isExecutableFile(atPath: path) else {
      throw Failure(description: "there is no \(path): build the whole package")
    }
    return path
  }
}

/// Runs blocking work on a thread of its own, so that other tests go on.
package func onThread<Result: Sendable>(
  _ body: @escaping @Sendable () throws -> Result
) async throws -> Result {
  try await withCheckedThrowingContinuation { continuation in
    Thread.detachNewThread { continuation.resume(with: Swift.Result(catching: body)) }
  }
}
