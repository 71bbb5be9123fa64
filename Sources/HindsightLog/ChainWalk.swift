// Checks commits against each other as they are visited, in either direction.

import HindsightCore
import HindsightLMDB

/// Where a scan is in the chain of commits.
struct ChainWalk {
  /// The index that the next commit must hold.
  private(set) var next: EventIndex
  let isReversed: Bool
  private let genesisDigest: UInt64
  /// What the neighbour visited before says of the next commit: backwards, the digest it has;
  /// forwards, the digest that it must name.
  private var neighbourDigest: UInt64?

  init(next: EventIndex, isReversed: Bool, genesisDigest: UInt64) {
    self.next = next
    self.isReversed = isReversed
    self.genesisDigest = genesisDigest
  }

  /// The record of an entry, which must be the next of the chain.
  ///
  /// - Throws: ``HindsightError`` with code `corrupt`, `unsupportedFormat` or `missingCommit`.
  @_lifetime(copy entry)
  mutating func check(_ entry: TableEntry) throws(HindsightError) -> CommitRecord {
    guard entry.number != 0 else { throw .missingCommit(next) }
    let record = try commitRecord(entry)
    let isFirstVisited = neighbourDigest == nil
    guard record.firstIndex <= next, next <= record.lastIndex else {
      throw .missingCommit(next)
    }
    // Only the first visited commit may hold the index that was asked for in its middle.
    guard isFirstVisited || next == (isReversed ? record.lastIndex : record.firstIndex) else {
      throw .corrupt("it holds events that its neighbour holds, too", index: record.firstIndex)
    }
    try checkDigest(record)
    if let neighbourDigest {
      let digest = isReversed ? record.digest : record.predecessorDigest
      guard digest == neighbourDigest else {
        throw .corrupt("its neighbour belongs to another history", index: record.firstIndex)
      }
    }
    guard record.firstIndex > 1 || record.predecessorDigest == genesisDigest else {
      throw .corrupt("it doesn't follow this log's first record", index: record.firstIndex)
    }
    neighbourDigest = isReversed ? record.predecessorDigest : record.digest
    next = isReversed ? record.firstIndex - 1 : record.lastIndex + 1
    return record
  }

  /// Whether what was visited reaches the end of a range.
  func isThrough(_ range: ClosedRange<EventIndex>) -> Bool {
    isReversed ? next < range.lowerBound : next > range.upperBound
  }
}

/// The record of an entry, its header checked.
///
/// - Throws: ``HindsightError`` with code `corrupt` or `unsupportedFormat`.
@_lifetime(copy entry)
func commitRecord(_ entry: TableEntry) throws(HindsightError) -> CommitRecord {
  guard let index = entry.number else {
    throw HindsightError(.corrupt, "the table of commits has a key that isn't an index")
  }
  let record: CommitRecord
  do throws(CommitRecordError) {
    record = try CommitRecord(validating: entry.value)
  } catch {
    throw HindsightError(error, index: index)
  }
  guard record.firstIndex == index else {
    throw .corrupt("it says that it begins with event \(record.firstIndex)", index: index)
  }
  return record
}

/// Throws unless a record's bytes have the digest that it ends with. O(n) in its bytes.
func checkDigest(_ record: borrowing CommitRecord) throws(HindsightError) {
  guard Digest.of(record.digestedBytes) == record.digest else {
    throw .corrupt("its bytes don't have its digest", index: record.firstIndex)
  }
}
