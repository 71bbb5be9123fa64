// Runs this tool once more as a child, for what may end a process.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A child process that has this one's inputs and outputs.
enum ChildProcess {
  /// How a child ended.
  enum End {
    case exited(Int32)
    case killed(signal: Int32)
  }

  /// Runs this tool with other arguments, and waits for its end.
  ///
  /// - Throws: ``ToolError`` where it can't be started.
  static func runThisTool(_ arguments: [String]) throws -> End {
    var child = pid_t()
    var words: [UnsafeMutablePointer<CChar>?] = ([RootCommand.name] + arguments).map { strdup($0) }
    words.append(nil)
    defer { for word in words { free(word) } }
    let result = posix_spawn(&child, try executablePath(), nil, nil, words, environ)
    guard result == 0 else {
      throw ToolError(
        .inputOutput,
        "a process for the check can't be started: \(String(cString: strerror(result)))"
      )
    }
    var status: Int32 = 0
    while waitpid(child, &status, 0) == -1 {
      guard errno == EINTR else {
        throw ToolError(.inputOutput, "the process for the check got lost")
      }
    }
    let signal = status & 0x7f
    return signal == 0 ? .exited(status >> 8 & 0xff) : .killed(signal: signal)
  }

  private static func executablePath() throws -> String {
    #if os(Linux)
      return "/proc/self/exe"
    #else
      var size = UInt32(PATH_MAX)
      var buffer = [CChar](repeating: 0, count: Int(size))
      guard _NSGetExecutablePath(&buffer, &size) == 0 else {
        throw ToolError(.software, "the tool's own path is too long")
      }
      return String(cString: buffer)
    #endif
  }
}
