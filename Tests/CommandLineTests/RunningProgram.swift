// Starts a program with its inputs and outputs connected to files, and waits for its end.
// It always holds: no other program inherits its descriptors, and it is gone when this is.

import Foundation

/// Where a program's input comes from, or its output goes.
enum Stream {
  case file(String)
  case descriptor(Int32)
}

/// A program that runs.
final class RunningProgram {
  private let identifier: pid_t
  private var status: Int32?
  /// How much of a processor's time it took, once it has ended.
  private(set) var processorTime = Duration.zero

  /// Starts a program in a folder.
  ///
  /// - Parameter environment: changes to this process's; nil takes a variable away.
  init(
    _ program: String, _ arguments: [String], in folder: String,
    environment: [String: String?] = [:], input: Stream, output: Stream, error: Stream
  ) throws {
    #if canImport(Darwin)
      var actions: posix_spawn_file_actions_t?
    #else
      var actions = posix_spawn_file_actions_t()
    #endif
    posix_spawn_file_actions_init(&actions)
    defer { posix_spawn_file_actions_destroy(&actions) }
    for (number, stream) in [input, output, error].enumerated() {
      switch stream {
      case .file(let path):
        let flags = number == 0 ? O_RDONLY : O_WRONLY | O_CREAT | O_TRUNC
        posix_spawn_file_actions_addopen(&actions, Int32(number), path, flags | O_NOCTTY, 0o644)
      case .descriptor(let descriptor):
        posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
      }
    }
    var variables = ProcessInfo.processInfo.environment
    for (name, value) in environment { variables[name] = value }
    // The shell changes the folder, and then becomes the program.
    let changing = ["-c", "cd \"$1\" && shift && exec \"$@\"", "sh", folder, program]
    var words = (["/bin/sh"] + changing + arguments).map { strdup($0) } + [nil]
    var pairs = variables.map { strdup("\($0)=\($1)") } + [nil]
    defer { for pointer in words + pairs { free(pointer) } }
    var identifier: pid_t = 0
    let number = posix_spawn(&identifier, "/bin/sh", &actions, nil, &words, &pairs)
    guard number == 0 else {
      throw Failure(
        description: "\(program) can't be started: \(String(cString: strerror(number)))")
    }
    self.identifier = identifier
  }

  deinit { if status == nil { kill() } }

  /// Sends a signal, SIGKILL by default, and waits until it is gone.
  @discardableResult
  func kill(_ signal: Int32 = SIGKILL) -> Int32 {
    guard status == nil else { return wait() }
    #if canImport(Darwin)
      Darwin.kill(identifier, signal)
    #else
      Glibc.kill(identifier, signal)
    #endif
    return wait()
  }

  /// Waits for its end: the exit status, or 128 and the signal's number. Blocks.
  @discardableResult
  func wait() -> Int32 {
    if let status { return status }
    var raw: Int32 = 0
    var usage = rusage()
    while wait4(identifier, &raw, 0, &usage) < 0 && errno == EINTR {}
    processorTime = [usage.ru_utime, usage.ru_stime].reduce(.zero) {
      $0 + .seconds($1.tv_sec) + .microseconds($1.tv_usec)
    }
    let signal = raw & 0x7f
    let found = signal == 0 ? raw >> 8 & 0xff : 128 + signal
    status = found
    return found
  }
}

/// Two ends of a channel that no program inherits by itself.
struct Channel {
  let readEnd: Int32
  let writeEnd: Int32

  init() throws {
    var ends: [Int32] = [-1, -1]
    #if os(Linux)
      // Unlike a pipe, it is closed on exec from the start: another test may be starting a program.
      let type = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
      guard socketpair(AF_UNIX, type, 0, &ends) == 0 else { throw Failure(description: "no pipe") }
    #else
      guard pipe(&ends) == 0 else { throw Failure(description: "no pipe") }
      for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
    #endif
    (readEnd, writeEnd) = (ends[0], ends[1])
  }

  /// Leaves the writing to the program that was started, so that its end is seen.
  func closeWriteEnd() { close(writeEnd) }
}

/// Reads lines from a descriptor, which it closes in the end.
final class LineSource {
  private let descriptor: Int32
  private var buffer: [UInt8] = []

  init(_ descriptor: Int32) { self.descriptor = descriptor }

  deinit { close(descriptor) }

  /// The next whole line; nil at the end, where an unfinished one is dropped. Blocks.
  func next() -> String? {
    while true {
      if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
        let line = String(decoding: buffer[..<end], as: UTF8.self)
        buffer.removeSubrange(...end)
        return line
      }
      guard let bytes = read(), !bytes.isEmpty else { return nil }
      buffer += bytes
    }
  }

  /// Everything that is left, to the end.
  func rest() -> [UInt8] {
    while let bytes = read(), !bytes.isEmpty { buffer += bytes }
    return buffer
  }

  private func read() -> ArraySlice<UInt8>? {
    var bytes = [UInt8](repeating: 0, count: 1 << 16)
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, &bytes, bytes.count)
      #else
        let count = Glibc.read(descriptor, &bytes, bytes.count)
      #endif
      if count >= 0 { return bytes[..<count] }
      if errno != EINTR { return nil }
    }
  }
}
