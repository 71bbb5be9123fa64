// Decides from traced system calls whether each acknowledgement came after its event was durable.
// It always holds: what isn't proven to be on the disk counts as not there.

import CrashHarness
import CrashLedger

/// Why an acknowledgement must not have been given.
struct DurabilityViolation: Equatable, CustomStringConvertible {
  enum Reason: Equatable {
    /// No write to the log held the event before it was acknowledged.
    case neverWritten
    /// Pages of the event's commit weren't flushed in time.
    case pagesNotDurable
    /// The pages were, but not the meta page that makes the commit the newest.
    case metaPageNotDurable
    /// The names of the log or of its directory weren't flushed in time.
    case namesNotDurable
  }

  var mark: EventMark
  var reason: Reason

  var description: String { "\(mark.text) \(reason)" }
}

/// Checks a trace of a process that dispatched to a new store.
struct DurabilityCheck {
  /// What was acknowledged, and when its line began to be written.
  private(set) var acknowledgements: [(mark: EventMark, begin: UInt64)] = []
  /// What is wrong.
  private(set) var violations: [DurabilityViolation] = []
  /// How many commits held marked events.
  private(set) var commitCount = 0

  /// The writes of one transaction, up to and with the one of its meta page.
  private struct Transaction {
    var pages: [TracedCall] = []
    var meta: TracedCall?
  }

  private let trace: SystemCallTrace
  private let logPath: String
  private let pageSize: Int
  private var firstHolders: [EventMark: Int] = [:]
  private var transactions: [Transaction] = []

  /// - Parameters:
  ///   - store: the path of the store's directory.
  ///   - pageSize: the log's page size; the first two pages are its meta pages.
  init(_ trace: SystemCallTrace, store: String, pageSize: Int) throws {
    self.trace = trace
    self.pageSize = pageSize
    logPath = store + "/log.mdb"
    try readAcknowledgements()
    readTransactions()
    check(namesOf: store)
    for acknowledgement in acknowledgements { check(acknowledgement) }
  }

  private mutating func readAcknowledgements() throws {
    for call in trace.calls where call.kind == .write && call.descriptor == 1 {
      for line in String(decoding: call.data, as: UTF8.self).split(separator: "\n") {
        guard case .acknowledged(let mark, _)? = ChildLine(String(line)) else { continue }
        for part in mark.parts { acknowledgements.append((part, call.begin)) }
      }
    }
  }

  /// Groups the writes to the log by commit: each ends with a write to one of the meta pages.
  ///
  /// An event's commit is the first that holds it. Later ones may write it again, as LMDB copies
  /// the pages that it changes; those copies needn't be durable for the event to be.
  private mutating func readTransactions() {
    var current = Transaction()
    for call in trace.calls where call.kind == .write && call.path == logPath && call.result > 0 {
      if call.offset < 2 * pageSize, call.length < 2 * pageSize {
        current.meta = call
        close(&current)
      } else {
        current.pages.append(call)
      }
    }
    close(&current)
  }

  private mutating func close(_ transaction: inout Transaction) {
    var isNew = false
    for run in Self.runs(transaction.pages) {
      for mark in EventMark.all(in: run) where firstHolders[mark] == nil {
        firstHolders[mark] = transactions.count
        isNew = true
      }
    }
    if isNew { commitCount += 1 }
    transactions.append(transaction)
    transaction = Transaction()
  }

  /// What writes put into a file, joined where one begins at the end of another: an event may lie
  /// across pages that were written apart.
  static func runs(_ writes: [TracedCall]) -> [[UInt8]] {
    var runs: [[UInt8]] = []
    var end: Int?
    for write in writes.sorted(by: { $0.offset < $1.offset }) {
      if write.offset == end {
        runs[runs.count - 1] += write.data
      } else {
        runs.append(write.data)
      }
      end = write.offset + write.data.count
    }
    return runs
  }

  /// Whether a write was on the disk before a moment.
  private func isDurable(_ write: TracedCall, before moment: UInt64) -> Bool {
    if write.result < write.length { return false }
    if write.writesThrough, write.end < moment { return true }
    return trace.calls.contains {
      $0.isSuccessfulSync && $0.inode == write.inode && $0.begin > write.end && $0.end < moment
    }
  }

  private mutating func check(_ acknowledgement: (mark: EventMark, begin: UInt64)) {
    func add(_ reason: DurabilityViolation.Reason) {
      violations.append(DurabilityViolation(mark: acknowledgement.mark, reason: reason))
    }
    guard let number = firstHolders[acknowledgement.mark] else { return add(.neverWritten) }
    let transaction = transactions[number]
    guard transaction.pages.allSatisfy({ isDurable($0, before: acknowledgement.begin) }) else {
      return add(.pagesNotDurable)
    }
    guard let meta = transaction.meta, isDurable(meta, before: acknowledgement.begin) else {
      return add(.metaPageNotDurable)
    }
  }

  /// The log's name in its directory and the directory's in its parent are flushed after they were
  /// made and before the first acknowledgement.
  private mutating func check(namesOf store: String) {
    guard let first = acknowledgements.first else { return }
    let parent = store.split(separator: "/").dropLast().map { "/" + $0 }.joined()
    let namings: [(directory: String, made: TracedCall?)] = [
      (store, trace.calls.first { $0.kind == .open && $0.path == logPath }),
      (parent, trace.calls.first { $0.kind == .makeDirectory && $0.path == store }),
    ]
    for (directory, made) in namings {
      let isFlushed = trace.calls.contains {
        $0.kind == .sync && $0.result == 0 && $0.path == directory && $0.end < first.begin
          && $0.begin > made?.end ?? .max
      }
      if !isFlushed {
        violations.append(DurabilityViolation(mark: first.mark, reason: .namesNotDurable))
      }
    }
  }
}
