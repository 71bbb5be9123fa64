// What a traced process did to the files of a store, in order, as the preloaded library wrote it.
// It always holds: a call that ended before another began has the smaller numbers.

import Foundation

/// One call that a traced process made.
package struct TracedCall: Equatable {
  /// What a call did. The numbers are those of the library.
  package enum Kind: UInt32 {
    case open = 1
    case write, sync, dataSync, mapSync, rangeSync, truncate, allocate, rename, unlink
    case makeDirectory, mapWritable
  }

  package var kind: Kind
  /// When it began and ended, on a clock that all calls of the process share.
  package var begin: UInt64
  package var end: UInt64
  /// The file's path when the call ended; of a rename, the old path.
  package var path: String
  /// Where in the file, of a write even where the call didn't say it.
  package var offset = 0
  /// The number of bytes that were asked for; of an open, its flags.
  package var length = 0
  /// What it returned; negative where it failed.
  package var result = 0
  package var inode: UInt64 = 0
  package var descriptor: Int32 = 0
  /// Whether the call itself only returns when the data is on the disk (`O_DSYNC` and its like).
  package var writesThrough = false
  /// What was written, as far as the call took it; of a rename, the new path.
  package var data: [UInt8] = []

  package init(
    kind: Kind, begin: UInt64, end: UInt64, path: String, offset: Int = 0, length: Int = 0,
    result: Int = 0, inode: UInt64 = 0, descriptor: Int32 = 0, writesThrough: Bool = false,
    data: [UInt8] = []
  ) {
    self.kind = kind
    self.begin = begin
    self.end = end
    self.path = path
    self.offset = offset
    self.length = length
    self.result = result
    self.inode = inode
    self.descriptor = descriptor
    self.writesThrough = writesThrough
    self.data = data
  }

  /// Whether it flushed a whole file, and succeeded.
  package var isSuccessfulSync: Bool { (kind == .sync || kind == .dataSync) && result == 0 }
}

/// All calls of a traced process, in the order in which they ended.
package struct SystemCallTrace {
  package struct Malformed: Error {
    let offset: Int
  }

  package var calls: [TracedCall]

  private static let magic: UInt32 = 0x3154_5348
  private static let headerSize = 80

  /// - Parameter mayBeCutOff: whether the process may have been killed while it wrote its last
  ///   record, which is passed over then.
  /// - Throws: where the file isn't a whole trace.
  package init(contentsOf file: String, mayBeCutOff: Bool = false) throws {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: file)))
    calls = []
    var start = 0
    while start < bytes.count {
      func number<Number: FixedWidthInteger>(_ offset: Int, _: Number.Type) -> Number {
        bytes.withUnsafeBytes {
          Number(
            littleEndian: $0.loadUnaligned(fromByteOffset: start + offset, as: Number.self))
        }
      }
      if mayBeCutOff, bytes.count - start < Self.headerSize { break }
      guard bytes.count - start >= Self.headerSize, number(0, UInt32.self) == Self.magic,
        let kind = TracedCall.Kind(rawValue: number(4, UInt32.self))
      else { throw Malformed(offset: start) }
      let pathStart = start + Self.headerSize
      let dataStart = pathStart + Int(number(72, UInt32.self))
      let end = dataStart + Int(number(76, UInt32.self))
      if mayBeCutOff, end > bytes.count { break }
      guard end <= bytes.count else { throw Malformed(offset: start) }
      calls.append(
        TracedCall(
          kind: kind, begin: number(8, UInt64.self), end: number(16, UInt64.self),
          path: String(decoding: bytes[pathStart..<dataStart], as: UTF8.self),
          offset: Int(number(24, Int64.self)),
          length: Int(truncatingIfNeeded: number(32, UInt64.self)),
          result: Int(number(40, Int64.self)), inode: number(48, UInt64.self),
          descriptor: number(56, Int32.self), writesThrough: number(64, UInt32.self) & 1 != 0,
          data: Array(bytes[dataStart..<end])))
      start = end
    }
  }

  package init(_ calls: [TracedCall]) { self.calls = calls }

  /// The calls of several processes that shared a clock, some of which may have been killed.
  package init(merging files: [String]) throws {
    calls = try files.flatMap { try SystemCallTrace(contentsOf: $0, mayBeCutOff: true).calls }
    calls.sort { $0.end < $1.end }
  }
}
