// Reading commits: the head, scans in both directions, and digests.
// It always holds: a record that is handed out had the right digest and its right place.

public import HindsightCore
import HindsightLMDB

extension LMDBLog {
  /// After so many commits a scan goes on in a new read transaction, so that pages can be reused.
  static let commitsPerTransaction = 4_096

  /// The newest durable position. O(1).
  ///
  /// - Throws: ``HindsightError``; code `corrupt` where the newest commit can't be read,
  ///   `replaced` where the path doesn't lead to the log that is open any more.
  public func head() throws -> LogHead {
    try using { environment in
      let transaction = try environment.beginRead()
      var cursor = try transaction.cursor(commits)
      return try head(try cursor.move(.last), checkingDigest: false).head
    }
  }

  /// Visits the commits that hold the events of a range; see ``EventLog``.
  ///
  /// The body may take its time, and may scan itself. It sees commits that are appended meanwhile,
  /// as far as the range goes. Index 0 has no commit; a range may begin with it.
  public func scan(
    _ range: ClosedRange<EventIndex>, reversed: Bool = false,
    _ body: (borrowing CommitRecord) throws -> ScanStep
  ) throws {
    guard range.upperBound > 0 else { return }
    let range = max(range.lowerBound, 1)...range.upperBound
    try using { environment in
      var transaction = try environment.beginRead()
      let head = try newestIndex(transaction)
      guard range.upperBound <= head else {
        throw HindsightError.beyondHead(range.upperBound, head: head)
      }
      var walk = ChainWalk(
        next: reversed ? range.upperBound : range.lowerBound, isReversed: reversed,
        genesisDigest: genesisDigest)
      while try scanOnce(transaction, range, &walk, body) == .next {
        try transaction.renew()
      }
    }
  }

  /// Goes on with a walk until its end or until the transaction should be renewed.
  private func scanOnce(
    _ transaction: borrowing ReadTransaction, _ range: ClosedRange<EventIndex>,
    _ walk: inout ChainWalk, _ body: (borrowing CommitRecord) throws -> ScanStep
  ) throws -> ScanStep {
    do {
      var cursor = try transaction.cursor(commits)
      var entry = try find(walk.next, &cursor)
      for _ in 0..<Self.commitsPerTransaction {
        guard let found = entry else { throw HindsightError.missingCommit(walk.next) }
        let record = try walk.check(found)
        guard try body(record) == .next, !walk.isThrough(range) else { return .stop }
        entry = try cursor.move(walk.isReversed ? .previous : .next)
      }
      return .next
    } catch let error as LMDBError {
      throw HindsightError(error, index: walk.next)
    }
  }

  /// The digest of the commit that ends the history up to an index, nil beyond the head.
  public func digest(at index: EventIndex) throws -> UInt64? {
    guard index > 0 else { return genesisDigest }
    return try using { environment in
      let transaction = try environment.beginRead()
      guard index <= (try newestIndex(transaction)) else { return nil }
      var cursor = try transaction.cursor(commits)
      guard let entry = try find(index, &cursor) else {
        throw HindsightError.missingCommit(index)
      }
      let record = try commitRecord(entry)
      guard index <= record.lastIndex else { throw HindsightError.missingCommit(index) }
      return record.digest
    }
  }

  /// How many bytes the log's pages take, up to the last one in use.
  public func storedSize() throws -> UInt64 {
    try using { UInt64($0.usedSizeBytes) }
  }

  /// Calls a closure with the environment; storage errors become the store's.
  func using<Result>(_ body: (Environment) throws -> Result) throws -> Result {
    do {
      return try shared.use(body)
    } catch let error as LMDBError {
      throw HindsightError(error)
    }
  }

  private func newestIndex(_ transaction: borrowing ReadTransaction) throws -> EventIndex {
    var cursor = try transaction.cursor(commits)
    return try head(try cursor.move(.last), checkingDigest: false).head.index
  }

  /// The head that the last entry of the table makes, and its attempt stamp.
  func head(
    _ entry: borrowing TableEntry?, checkingDigest: Bool
  ) throws -> (head: LogHead, attemptStamp: UInt64) {
    guard let entry = copy entry else {
      throw HindsightError(.corrupt, "the log at \(path) has lost its first record", index: 0)
    }
    guard entry.number != 0 else {
      let none = Timestamp(rawValue: .min)
      return (
        LogHead(index: 0, digest: genesisDigest, recordedTime: none, maximumEventTime: none), 0
      )
    }
    let record = try commitRecord(entry)
    if checkingDigest { try checkDigest(record) }
    let head = LogHead(
      index: record.lastIndex, digest: record.digest, recordedTime: record.recordedTime,
      maximumEventTime: record.maximumEventTime)
    return (head, record.attemptStamp)
  }
}

/// Moves a cursor to the commit that an index lies in, if it lies in any: the last that begins at
/// it or before it. Nil where there is none but the genesis record.
@_lifetime(copy cursor)
private func find(
  _ index: EventIndex, _ cursor: inout Cursor
) throws -> TableEntry? {
  if let entry = try cursor.seek(.number(index)) {
    if entry.number == index { return entry }
    guard let previous = try cursor.move(.previous) else { return nil }
    return previous.number == 0 ? nil : previous
  }
  guard let last = try cursor.move(.last) else { return nil }
  return last.number == 0 ? nil : last
}
