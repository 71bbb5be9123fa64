// Flips every bit of every commit in a log, and expects the verifier to find each.
// It always holds: only the bytes that the newest state is made of are counted, not older copies.

import Foundation
import HindsightCore
import HindsightLog

/// The commits of a sound store, and where they are in its file.
struct DamageBits: Sendable {
  /// The path of the copy that is changed.
  private let copy: String
  private let bytes: [UInt8]
  /// Where the records are.
  private let places: [Range<Int>]

  init(sound: String, copy: String) throws {
    self.copy = copy
    try FileManager.default.copyItem(atPath: sound, toPath: copy)
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: copy + "/log.mdb")))
    self.bytes = bytes
    let log = try LMDBLog.open(path: sound, options: .init(access: .readOnly))
    defer { log.close() }
    var places: [Range<Int>] = []
    let file = try DamagedFile(copy + "/log.mdb", bytes: bytes)
    try log.scan(1...log.head().index) { commit in
      let record = commit.digestedBytes.withUnsafeBytes { [UInt8]($0) }
      var found: [Range<Int>] = []
      // Older copies of pages have it, too; in those nothing is found.
      for start in bytes.places(of: record) {
        let isFound = try file.flipping(byte: start, mask: 1) {
          !(try LogVerifier(path: copy).verify().findings.isEmpty)
        }
        if isFound { found.append(start..<(start + record.count)) }
      }
      // Otherwise some commit's bits would go untried, and nobody would know.
      guard found.count == 1 else {
        throw ChildProcess.Failure(
          description: "the commit of event \(commit.firstIndex) is in \(found.count) places")
      }
      places += found
      return .next
    }
    self.places = places
  }

  /// Flips bits of all records: each one, or one in each byte. Blocks.
  func run(allBits: Bool, generator: SeededGenerator) throws -> FaultReport {
    var generator = generator
    var report = FaultReport()
    let file = try DamagedFile(copy + "/log.mdb", bytes: bytes)
    for place in places.joined() {
      for bit in allBits ? Array(0..<8) : [generator.below(8)] {
        let isFound = try file.flipping(byte: place, mask: 1 << UInt8(bit)) {
          !(try LogVerifier(path: copy).verify().findings.isEmpty)
        }
        report.add(
          isFound ? .refused : .lost("bit \(bit) of byte \(place) is missed by the verifier"))
      }
    }
    report.details = ["\(report.triedCount) bits of commits"]
    return report
  }
}

/// A file in which one byte is wrong for a while.
struct DamagedFile {
  private let descriptor: FileHandle
  private let bytes: [UInt8]

  init(_ path: String, bytes: [UInt8]) throws {
    descriptor = try FileHandle(forUpdating: URL(fileURLWithPath: path))
    self.bytes = bytes
  }

  func flipping<Result>(byte place: Int, mask: UInt8, _ body: () throws -> Result) throws -> Result
  {
    func write(_ byte: UInt8) throws {
      try descriptor.seek(toOffset: UInt64(place))
      try descriptor.write(contentsOf: Data([byte]))
    }
    try write(bytes[place] ^ mask)
    let result = try body()
    try write(bytes[place])
    return result
  }
}

extension [UInt8] {
  /// Where some bytes begin in others.
  fileprivate func places(of part: [UInt8]) -> [Int] {
    guard let first = part.first, count >= part.count else { return [] }
    return (0...(count - part.count)).filter { self[$0] == first && self[$0...].starts(with: part) }
  }
}
