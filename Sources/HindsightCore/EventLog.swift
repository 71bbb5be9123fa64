// What a store needs of a log: one call for each commit, scans, and the newest position.

/// The newest position of a log.
public struct LogHead: Sendable, Hashable {
  /// The index of the newest event; 0 in an empty log.
  public var index: EventIndex
  /// The digest of the newest commit's record, or of the genesis record.
  public var digest: UInt64
  /// When the newest commit was recorded.
  public var recordedTime: Timestamp
  /// The latest event time (occurred, else recorded) up to the head.
  public var maximumEventTime: Timestamp

  package init(
    index: EventIndex, digest: UInt64, recordedTime: Timestamp, maximumEventTime: Timestamp
  ) {
    self.index = index
    self.digest = digest
    self.recordedTime = recordedTime
    self.maximumEventTime = maximumEventTime
  }
}

/// What a log was made with, and what no commit changes.
public struct LogGenesis: Sendable, Hashable {
  /// Identifies the store among all others: 16 random bytes, as hexadecimal digits.
  public var storeID: String
  /// When the log was made.
  public var creationTime: Timestamp
  /// The name of the reducer whose events it holds.
  public var reducerName: String

  package init(storeID: String, creationTime: Timestamp, reducerName: String) {
    self.storeID = storeID
    self.creationTime = creationTime
    self.reducerName = reducerName
  }
}

/// Whether a scan goes on after a commit.
public enum ScanStep: Sendable {
  case next
  case stop
}

/// A log of commits, as the store uses it.
///
/// A log is the only truth: what it returns was durable before (in the in-memory log: applied). The
/// functions may be called from any thread; ``append(_:)`` from one at a time, blocking.
public protocol EventLog: AnyObject, Sendable {
  /// What the log was made with.
  var genesis: LogGenesis { get }

  /// Whether commits can be appended.
  var isReadOnly: Bool { get }

  /// The newest durable position. O(1).
  func head() throws -> LogHead

  /// Appends at most one commit and makes it durable.
  ///
  /// The closure runs inside of the write transaction, on the calling thread: no other process can
  /// append until it is through. It gets the newest head and returns the commit to append after it,
  /// or nil for none.
  ///
  /// - Returns: the head after the commit, or nil where the closure returned none.
  /// - Throws: what the closure throws, or a ``HindsightError``; nothing was appended then, unless
  ///   its code is ``HindsightError/Code/commitOutcomeUnknown``.
  func append(_ prepare: (LogHead) throws -> PendingCommit?) throws -> LogHead?

  /// Visits the commits that hold the events of a range, in order or in reverse order.
  ///
  /// Each record's digest is checked, and that no commit is missing. The first and the last visited
  /// commits may hold further events. The record is valid until the closure returns. O(log n) to
  /// start, then O(1) a commit.
  ///
  /// - Throws: what the closure throws, or a ``HindsightError`` with the index of the event that a
  ///   damaged or missing commit holds.
  func scan(
    _ range: ClosedRange<EventIndex>, reversed: Bool,
    _ body: (borrowing CommitRecord) throws -> ScanStep) throws

  /// The digest of the commit that ends the history up to an index: of the commit that holds it,
  /// or of the genesis record for 0. Nil where the log doesn't reach the index.
  func digest(at index: EventIndex) throws -> UInt64?

  /// How many bytes the log takes as it is stored.
  func storedSize() throws -> UInt64

  /// The log's digest function (LMDB: XXH3, 64 bits, seed 0).
  func digest(of bytes: UnsafeRawBufferPointer) -> UInt64

  /// Ends the use of the log. What is running is waited for; later calls fail.
  func close() throws
}

/// A commit that is ready to be appended.
public struct PendingCommit {
  package let builder: CommitBuilder
  package let position: CommitPosition

  package init(builder: CommitBuilder, position: CommitPosition) {
    self.builder = builder
    self.position = position
  }
}
