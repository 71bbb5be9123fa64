// What a log takes on the disk, and who reads it.

import HindsightLMDB

/// What a log takes on the disk, and who reads it.
public struct LogStatistics: Sendable, Hashable {
  /// The size of the pages in use, in bytes.
  public let storedSize: UInt64
  /// What the log can grow to, in bytes.
  public let mapSize: UInt64
  /// How many read transactions there can be at a time, of all processes.
  public let readerSlotCount: Int
  /// How many processes' threads hold a reader slot now, this call's own not counted.
  public let readerCount: Int
  /// How many commits ago the oldest read transaction began.
  ///
  /// Pages that were freed since can't be reused: where this stays large, a reader is stuck, and
  /// the file grows with every commit.
  public let pinnedCommitCount: UInt64
}

extension LMDBLog {
  /// What the log takes on the disk, and who reads it.
  public func statistics() throws -> LogStatistics {
    try using { environment in
      let newest = environment.newestTransactionID
      let readers = try environment.readers()
      let oldest = readers.compactMap(\.transactionID).min() ?? newest
      return LogStatistics(
        storedSize: UInt64(environment.usedSizeBytes), mapSize: UInt64(environment.mapSize),
        readerSlotCount: environment.readerSlots, readerCount: readers.count,
        pinnedCommitCount: newest - min(oldest, newest))
    }
  }
}
