// A log in memory, for tests and for states that needn't outlive the process.
// It always holds: records are as the durable log would keep them, byte for byte but the digest.

/// A log that is kept in memory and ends with the process.
///
/// It behaves as the durable one does, and holds the same records; "durable" means applied here.
public final class MemoryLog: EventLog {
  /// What the log was made with.
  public let genesis: LogGenesis
  /// Never: whoever has the log may append to it.
  public var isReadOnly: Bool { false }

  // Protected by the lock.
  private let contents: LockedContents

  /// An empty log.
  ///
  /// - Parameter creationTime: when the log says that it was made.
  public init(reducerName: String, creationTime: Timestamp = .now) {
    var generator = SystemRandomNumberGenerator()
    let words = (0..<2).map { _ in generator.next() }
    let digits = words.map { word in
      let text = String(word, radix: 16)
      return String(repeating: "0", count: 16 - text.count) + text
    }
    genesis = LogGenesis(
      storeID: digits.joined(), creationTime: creationTime, reducerName: reducerName)
    contents = LockedContents(
      head: LogHead(
        index: 0, digest: words[0] ^ words[1], recordedTime: creationTime,
        maximumEventTime: Timestamp(rawValue: .min)))
  }

  /// The newest position. O(1).
  ///
  /// - Throws: ``HindsightError`` with code `closed`, as all of these.
  public func head() throws -> LogHead {
    try contents.withLock { contents in
      try contents.checkOpen()
      return contents.head
    }
  }

  /// Appends at most one commit; see ``EventLog/append(_:)``.
  public func append(_ prepare: (LogHead) throws -> PendingCommit?) throws -> LogHead? {
    contents.writing.lock()
    defer { contents.writing.unlock() }
    guard let commit = try prepare(head()) else { return nil }
    return try contents.withLock { contents in
      try contents.checkOpen()
      return contents.append(commit, digest: Self.digest)
    }
  }

  /// Visits the commits of a range; see ``EventLog/scan(_:reversed:_:)``.
  public func scan(
    _ range: ClosedRange<EventIndex>, reversed: Bool,
    _ body: (borrowing CommitRecord) throws -> ScanStep
  ) throws {
    let records = try contents.withLock { contents in
      try contents.checkOpen()
      guard range.lowerBound >= 1, range.upperBound <= contents.head.index else {
        throw HindsightError(
          .indexBeyondHead,
          "the log ends at index \(contents.head.index): "
            + "there is no \(range.lowerBound)..\(range.upperBound)", index: range.upperBound)
      }
      let first = contents.position(of: range.lowerBound)
      let last = contents.position(of: range.upperBound)
      return contents.records[first...last]
    }
    for record in reversed ? Array(records.reversed()) : Array(records) {
      let span = record.bytes.span
      let commit: CommitRecord
      do { commit = try CommitRecord(validating: span.bytes) } catch {
        throw HindsightError(.corrupt, error.message, index: record.firstIndex, cause: error)
      }
      if case .stop = try body(commit) { return }
    }
  }

  /// The digest of the commit that ends the history up to an index; nil beyond the head.
  public func digest(at index: EventIndex) throws -> UInt64? {
    try contents.withLock { contents in
      try contents.checkOpen()
      if index == 0 { return contents.genesisDigest }
      guard index <= contents.head.index else { return nil }
      return contents.records[contents.position(of: index)].digest
    }
  }

  /// The size of all records in bytes. O(n) in the commits.
  public func storedSize() throws -> UInt64 {
    contents.withLock { contents in
      contents.records.reduce(0) { $0 + UInt64($1.bytes.count) }
    }
  }

  /// A digest that tells contents apart within this process.
  public func digest(of bytes: UnsafeRawBufferPointer) -> UInt64 { Self.digest(bytes) }

  /// Ends the use of the log; later calls fail.
  public func close() throws {
    contents.withLock { $0.isClosed = true }
  }

  /// FNV-1a over 64 bits: enough to tell states and histories apart that never leave the process.
  private static func digest(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    var hash: UInt64 = 0xcbf2_9ce4_8422_2325
    for byte in bytes { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
    return hash
  }
}

/// A record of the in-memory log.
private struct MemoryRecord {
  let firstIndex: EventIndex
  let digest: UInt64
  let bytes: [UInt8]
}

/// The log's contents behind a lock. Unchecked: `withLock` is the only way to them.
private final class LockedContents: @unchecked Sendable {
  struct Contents {
    var records: [MemoryRecord] = []
    var head: LogHead
    let genesisDigest: UInt64
    var attemptStamp: UInt64 = 0
    var isClosed = false

    func checkOpen() throws {
      if isClosed { throw HindsightError(.closed, "the log has been closed: make another one") }
    }

    /// The record that holds an event, by binary search.
    func position(of index: EventIndex) -> Int {
      var low = 0
      var high = records.count
      while low < high {
        let middle = (low + high) / 2
        if records[middle].firstIndex <= index { low = middle + 1 } else { high = middle }
      }
      return low - 1
    }

    mutating func append(
      _ commit: PendingCommit, digest: (UnsafeRawBufferPointer) -> UInt64
    ) -> LogHead {
      precondition(commit.position.firstIndex == head.index + 1, "the commit isn't the next one")
      attemptStamp += 1
      var position = commit.position
      position.attemptStamp = attemptStamp
      var seal: UInt64 = 0
      let size = commit.builder.recordSize
      let bytes = [UInt8](unsafeUninitializedCapacity: size) { buffer, count in
        let target = UnsafeMutableRawBufferPointer(buffer)
        commit.builder.write(into: target, at: position)
        let body = UnsafeRawBufferPointer(rebasing: target[..<(size - CommitLayout.digestSize)])
        seal = digest(body)
        target.storeBytes(
          of: seal.littleEndian, toByteOffset: size - CommitLayout.digestSize, as: UInt64.self)
        count = size
      }
      records.append(
        MemoryRecord(firstIndex: position.firstIndex, digest: seal, bytes: bytes))
      head = LogHead(
        index: position.firstIndex + UInt64(commit.builder.eventCount) - 1, digest: seal,
        recordedTime: position.recordedTime, maximumEventTime: position.maximumEventTime)
      return head
    }
  }

  /// Held for the whole of an append, so that two stores on one log don't decide at once.
  let writing = Lock()
  private let lock = Lock()
  private var contents: Contents

  init(head: LogHead) {
    contents = Contents(head: head, genesisDigest: head.digest)
  }

  func withLock<Result>(_ body: (inout Contents) throws -> Result) rethrows -> Result {
    lock.lock()
    defer { lock.unlock() }
    return try body(&contents)
  }
}
