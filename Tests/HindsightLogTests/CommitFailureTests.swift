// Commits that the system refuses. Each in a process of its own, whose limits and descriptors it
// changes.

import Foundation
import HindsightCore
import HindsightLMDB
import HindsightLog
import Testing

@Suite struct CommitFailureTests {
  @Test func `no space is an error before anything is written, and passes`() async {
    await #expect(processExitsWith: .success) {
      signal(SIGXFSZ, SIG_IGN)
      let directory = try TemporaryStore()
      let log = try LMDBLog.open(path: directory.path, options: .test)
      var written = try fill(log, commitSizes: [1, 2])
      let large = Array(repeating: UInt8(7), count: 4 << 20)
      try limitFileSize(2 << 20)
      for _ in 0..<3 { expect(.diskFull) { try log.append { .of([large], after: $0) } } }
      #expect(try log.payloads(1...3) == written)
      written += try fill(log, commitSizes: [1])
      try limitFileSize(1 << 40)
      _ = try log.append { .of([large], after: $0) }
      #expect(try log.payloads(1...5) == written + [large])
      log.close()
      #expect(try LogVerifier(path: directory.path).verify().findings == [])
    }
  }

  @Test func `after a commit that failed nothing is appended until the log is opened anew`() async {
    await #expect(processExitsWith: .success) {
      let directory = try TemporaryStore()
      let log = try LMDBLog.open(path: directory.path, options: .test)
      var written = try fill(log, commitSizes: [1, 2])
      // LMDB's descriptors are replaced by some that can't be written to.
      let file = directory.path + "/log.mdb"
      for (descriptor, _) in Descriptors.ofFile(file) {
        let readOnly = open(file, O_RDONLY)
        #expect(dup2(readOnly, descriptor) == descriptor)
        close(readOnly)
      }
      expect(.commitOutcomeUnknown) { try fill(log, commitSizes: [1]) }
      for _ in 0..<2 { expect(.commitOutcomeUnknown) { try fill(log, commitSizes: [1]) } }
      #expect(try log.payloads(1...3) == written)
      // Whoever shares the file is as little allowed to go on.
      expect(.commitOutcomeUnknown) { try LMDBLog.open(path: directory.path, options: .test) }
      log.close()
      let reopened = try LMDBLog.open(path: directory.path, options: .test)
      written += try fill(reopened, commitSizes: [1])
      #expect(try reopened.payloads(1...4) == written)
      reopened.close()
      #expect(try LogVerifier(path: directory.path).verify().findings == [])
    }
  }
}

private func limitFileSize(_ size: Int) throws {
  var limits = rlimit(rlim_cur: rlim_t(size), rlim_max: .max)
  #if os(Linux)
    let result = setrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits)
  #else
    let result = setrlimit(RLIMIT_FSIZE, &limits)
  #endif
  try #require(result == 0)
}
