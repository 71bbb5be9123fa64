// The few system calls that the tool makes itself, on whole buffers and with their errors' words.
// It always holds: a call that a signal interrupted is made again.

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// What the operating system said.
struct SystemError: Error, CustomStringConvertible, Equatable {
  let number: Int32

  static var last: SystemError { SystemError(number: errno) }

  var description: String { String(cString: strerror(number)) }

  var isBrokenPipe: Bool { number == EPIPE }
}

enum SystemCalls {
  /// Writes all of the bytes.
  static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) throws(SystemError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let buffer = UnsafeRawBufferPointer(rebasing: rest)
      #if canImport(Darwin)
        let count = Darwin.write(descriptor, buffer.baseAddress, buffer.count)
      #elseif canImport(Glibc)
        let count = Glibc.write(descriptor, buffer.baseAddress, buffer.count)
      #else
        let count = Musl.write(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 {
        rest = rest.dropFirst(count)
      } else if errno == EAGAIN {
        waitUntilWritable(descriptor)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Reads what is there, at least one byte unless the end is reached (0).
  static func read(
    into buffer: UnsafeMutableRawBufferPointer, from descriptor: Int32
  ) throws(SystemError) -> Int {
    while true {
      #if canImport(Darwin)
        let count = Darwin.read(descriptor, buffer.baseAddress, buffer.count)
      #elseif canImport(Glibc)
        let count = Glibc.read(descriptor, buffer.baseAddress, buffer.count)
      #else
        let count = Musl.read(descriptor, buffer.baseAddress, buffer.count)
      #endif
      if count >= 0 { return count }
      if errno == EAGAIN {
        waitUntilReadable(descriptor)
      } else if errno != EINTR {
        throw .last
      }
    }
  }

  /// Opens a file for reading; programs that are started later don't inherit it.
  static func open(_ path: String) throws(SystemError) -> Int32 {
    while true {
      #if canImport(Darwin)
        let descriptor = Darwin.open(path, O_RDONLY | O_CLOEXEC)
      #elseif canImport(Glibc)
        let descriptor = Glibc.open(path, O_RDONLY | O_CLOEXEC)
      #else
        let descriptor = Musl.open(path, O_RDONLY | O_CLOEXEC)
      #endif
      if descriptor >= 0 { return descriptor }
      if errno != EINTR { throw .last }
    }
  }

  static func close(_ descriptor: Int32) {
    #if canImport(Darwin)
      _ = Darwin.close(descriptor)
    #elseif canImport(Glibc)
      _ = Glibc.close(descriptor)
    #else
      _ = Musl.close(descriptor)
    #endif
  }

  /// Lets a write to a closed pipe fail, instead of ending the process by a signal.
  static func ignoreBrokenPipes() {
    _ = signal(SIGPIPE, SIG_IGN)
  }

  private static func waitUntilWritable(_ descriptor: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
    _ = poll(&waiting, 1, -1)
  }

  private static func waitUntilReadable(_ descriptor: Int32) {
    var waiting = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
    _ = poll(&waiting, 1, -1)
  }
}
