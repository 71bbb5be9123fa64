// Logs whose commits are damaged, missing or from elsewhere: each an error that names the index,
// and a finding of the verifier.

import Foundation
import HindsightCore
import HindsightLMDB
import HindsightLog
import Testing

@Suite struct DamageTests {
  @Test func `a flipped bit anywhere in a commit is found, and what is before it is readable`()
    throws
  {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    for _ in 0..<40 {
      try withLog(commitSizes: [2, 3, 4]) { path, written in
        try editRecord(path, 3, fixesDigest: false) { bytes in
          let bit = Int.random(in: 0..<(bytes.count * 8), using: &generator)
          bytes[bit / 8] ^= 1 << (bit % 8)
        }
        let log = try LMDBLog.open(path: path, options: .test)
        defer { log.close() }
        #expect(try log.payloads(1...2) == Array(written[..<2]))
        for reversed in [false, true] {
          let error = #expect(throws: HindsightError.self, "seed \(seed)") {
            try log.payloads(1...9, reversed: reversed)
          }
          let codes: [HindsightError.Code?] = [.corrupt, .unsupportedFormat, .missingCommit]
          #expect(codes.contains(error?.code), "seed \(seed): \(String(describing: error))")
          #expect((3...6).contains(error?.index ?? 0), "seed \(seed): \(String(describing: error))")
        }
        let findings = try LogVerifier(path: path).verify().findings
        #expect(findings.contains { (3...5).contains($0.index ?? 0) }, "seed \(seed)")
      }
    }
  }

  @Test func `a missing commit is found, in every direction`() throws {
    try withLog(commitSizes: [2, 3, 4]) { path, written in
      try removeRecord(path, 3)
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      #expect(try log.payloads(1...2) == Array(written[..<2]))
      #expect(try log.payloads(6...9) == Array(written[5...]))
      expect(.missingCommit, index: 3) { try log.payloads(1...9) }
      expect(.missingCommit, index: 4) { try log.payloads(4...4) }
      expect(.missingCommit, index: 5) { try log.payloads(1...9, reversed: true) }
      expect(.missingCommit, index: 4) { try log.digest(at: 4) }
      #expect(try findings(path) == ["log at 3: events 3 to 5 are missing"])
    }
  }

  @Test func `a missing first commit is found`() throws {
    try withLog(commitSizes: [2, 3]) { path, _ in
      try removeRecord(path, 1)
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      expect(.missingCommit, index: 1) { try log.payloads(1...5) }
      expect(.missingCommit, index: 2) { try log.payloads(1...5, reversed: true) }
    }
  }

  @Test func `a commit of another history is found`() throws {
    try withLog(commitSizes: [1, 1, 1, 1]) { path, _ in
      try editRecord(path, 3) { $0[48] ^= 1 }
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      expect(.corrupt, index: 3) { try log.payloads(1...4) }
      expect(.corrupt, index: 3) { try log.payloads(1...4, reversed: true) }
      #expect(try findings(path).count == 2, "it isn't the old one's successor, nor the next its")
    }
    try withLog(commitSizes: [1, 1]) { path, _ in
      try editRecord(path, 1) { $0[48] ^= 1 }
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      expect(.corrupt, index: 1) { try log.payloads(1...1) }
    }
  }

  @Test func `a commit of a newer format is named`() throws {
    for offset in [4, 6, 68, 72] {
      try withLog(commitSizes: [1, 2, 1]) { path, _ in
        try editRecord(path, 2) { $0[offset] = 9 }
        let log = try LMDBLog.open(path: path, options: .test)
        defer { log.close() }
        expect(.unsupportedFormat, index: 2) { try log.payloads(1...4) }
      }
    }
  }

  @Test func `a damaged newest commit takes no successor`() throws {
    try withLog(commitSizes: [1, 1]) { path, _ in
      try editRecord(path, 2, fixesDigest: false) { $0[$0.count - 12] ^= 1 }
      let log = try LMDBLog.open(path: path, options: .test)
      defer { log.close() }
      expect(.corrupt, index: 2) { try log.append { .of([[1]], after: $0) } }
      #expect(try log.head().index == 2)
    }
  }

  @Test func `times and stamps out of order are findings`() throws {
    try withLog(commitSizes: [1, 1, 1]) { path, _ in
      try editRecord(path, 3) { bytes in
        bytes.replaceSubrange(24..<32, with: Array(repeating: 0, count: 8))
        bytes.replaceSubrange(40..<48, with: Array(repeating: 0, count: 8))
      }
      #expect(
        try findings(path) == [
          "log at 3: the commit's attempt stamp isn't above the one before it",
          "log at 3: the commit was recorded before the one before it",
        ])
    }
  }

  @Test func `an event that contradicts its commit is a finding`() throws {
    // The event table begins at 80: the first entry's type number, then its flags.
    let changes: [(offset: Int, byte: UInt8)] = [(84, 7), (87, 0), (87, 0x81), (87, 3), (80, 255)]
    for change in changes {
      try withLog(commitSizes: [1, 2]) { path, _ in
        try editRecord(path, 2) { $0[change.offset] = change.byte }
        // The next commit's predecessor isn't there to complain.
        let findings = try LogVerifier(path: path).verify().findings
        #expect(findings.count >= 1 && findings.allSatisfy { $0.index == 2 }, "\(change)")
      }
    }
  }

  @Test func `what the caller finds in an event is a finding`() throws {
    try withLog(commitSizes: [1, 2]) { path, written in
      var seen: [[UInt8]] = []
      let report = try LogVerifier(path: path).verify(
        checkEvent: { type, metadata, payload in
          #expect(type == EventType(name: "test", form: .whole))
          #expect(metadata.byteCount == 0)
          seen.append(payload.withUnsafeBytes { Array($0) })
          return seen.count == 2 ? "I don't like it" : nil
        })
      #expect(report.findings.map(\.description) == ["log at 2: I don't like it"])
      #expect(seen == written)
      #expect(report.headIndex == 3 && report.commitCount == 2 && report.eventCount == 3)
    }
  }

  @Test func `a log whose first or last pages are damaged is refused, not stumbled over`() async {
    await #expect(processExitsWith: .success) {
      let seed = testSeed()
      var generator = SeededGenerator(seed: seed)
      let directory = try TemporaryStore()
      let log = try LMDBLog.open(path: directory.path, options: .test)
      _ = try fill(log, commitSizes: Array(repeating: 1, count: 300))
      log.close()
      let file = URL(filePath: directory.path + "/log.mdb")
      let sound = try [UInt8](Data(contentsOf: file))
      var refusedCount = 0
      for _ in 0..<200 {
        var damaged = sound
        let page = Int.random(in: 2..<8, using: &generator)
        let start = page * pageSize
        for offset in start..<start + Int.random(in: 1...pageSize, using: &generator) {
          damaged[offset] = UInt8.random(in: 0...255, using: &generator)
        }
        try Data(damaged).write(to: file)
        do {
          let log = try LMDBLog.open(path: directory.path, options: .test)
          _ = try log.head()
          log.close()
        } catch let error as HindsightError {
          #expect(error.code == .corrupt, "seed \(seed): \(error)")
          refusedCount += 1
        }
      }
      #expect(refusedCount > 20, "seed \(seed): \(refusedCount)")
    }
  }

  @Test func `no damage to a meta page takes the log back to an older state`() throws {
    try withLog(commitSizes: [2, 1, 3]) { path, written in
      let bits = (0..<8).map { UInt8(1) << UInt8($0) } + [0xff]
      let offsets = (0..<2 * pageSize).filter { $0 % pageSize < 160 }
      try damageMetaPages(of: path, at: offsets, masks: bits, written)
    }
  }

  @Test func `no wrong transaction number takes the log back, however many commits there are`()
    throws
  {
    // Which changes leave two numbers that follow each other depends on the numbers.
    for count in [1, 2, 3, 6, 7, 14, 15, 16, 17] {
      try withLog(commitSizes: Array(repeating: 1, count: count)) { path, written in
        // The first commit of a log has number 2, as its first record has a transaction, too.
        let newest = UInt8(count + 1)
        let newestOffset = Int(newest & 1) * pageSize + 144
        let olderOffset = Int(~newest & 1) * pageSize + 144
        try damageMetaPages(of: path, at: [olderOffset], masks: Array(1...255), written)
        // A number that is lower by two is what LMDB leaves of a commit that failed.
        let likeAFailedCommit = newest ^ (newest - 2)
        try damageMetaPages(
          of: path, at: [newestOffset], masks: (1...255).filter { $0 != likeAFailedCommit }, written
        )
      }
    }
  }

  /// Changes bytes of a log in turn: it is refused, or has all that it had.
  private func damageMetaPages(
    of path: String, at offsets: [Int], masks: [UInt8], _ written: [[UInt8]]
  ) throws {
    let file = URL(filePath: path + "/log.mdb")
    let sound = try [UInt8](Data(contentsOf: file))
    let last = EventIndex(written.count)
    for offset in offsets {
      for mask in masks {
        var damaged = sound
        damaged[offset] ^= mask
        try Data(damaged).write(to: file)
        do {
          let log = try LMDBLog.open(path: path, options: .test)
          defer { log.close() }
          let head = try log.head().index
          #expect(head == last, "byte \(offset) ^ \(mask)")
          if head == last { #expect(try log.payloads(1...last) == written) }
        } catch let error as HindsightError {
          let codes: [HindsightError.Code] = [.corrupt, .notAStore, .unsupportedFormat]
          #expect(codes.contains(error.code), "byte \(offset) ^ \(mask): \(error)")
        }
      }
    }
  }

  @Test func `damaged pages are findings, and don't end the process`() throws {
    let seed = testSeed()
    var generator = SeededGenerator(seed: seed)
    try withLog(commitSizes: Array(repeating: 1, count: 600)) { path, _ in
      let file = URL(filePath: path + "/log.mdb")
      let sound = try [UInt8](Data(contentsOf: file))
      for _ in 0..<200 {
        var damaged = sound
        for _ in 0..<Int.random(in: 1...40, using: &generator) {
          let offset = Int.random(in: 2 * pageSize..<damaged.count, using: &generator)
          damaged[offset] = UInt8.random(in: 0...255, using: &generator)
        }
        try Data(damaged).write(to: file)
        // Most bytes are on pages of older states; what matters is that it comes to an end.
        _ = try LogVerifier(path: path).verify()
      }
      for _ in 0..<20 {
        // The commits need more than five pages.
        try Data(sound.prefix(Int.random(in: 2 * pageSize..<5 * pageSize, using: &generator)))
          .write(to: file)
        let error = #expect(throws: HindsightError.self, "seed \(seed)") {
          try LogVerifier(path: path).verify()
        }
        #expect(error?.code == .corrupt)
      }
    }
  }
}

/// A store with commits of so many events each, closed, and the payloads.
private func withLog(
  commitSizes: [Int], _ body: (_ path: String, _ written: [[UInt8]]) throws -> Void
) throws {
  try withStore(isDamaged: true) { path in
    let log = try LMDBLog.open(path: path, options: .test)
    let written = try fill(log, commitSizes: commitSizes)
    log.close()
    try body(path, written)
  }
}

private func findings(_ path: String) throws -> [String] {
  try LogVerifier(path: path).verify().findings.map(\.description)
}

/// The size of LMDB's pages, which is the system's.
private let pageSize = Int(getpagesize())
