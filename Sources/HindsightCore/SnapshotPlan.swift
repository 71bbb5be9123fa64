// Which snapshot a state at an index can start from, and what was wrong with the others.

import HindsightValue

/// A snapshot that couldn't be used, and why.
public struct IgnoredSnapshot: Sendable, Hashable {
  /// The index that it claims to hold the state of; 0 where none at all could be read.
  public let index: EventIndex
  /// Why it can't be used.
  public let reason: String
}

/// Finds and decodes the newest usable snapshot, and makes the headers of new ones.
package struct SnapshotPlan<R: Reducer>: Sendable {
  private let reducer: R
  private let log: any EventLog
  private let storage: any SnapshotStorage
  private let initialStateDigest: UInt64

  package init(reducer: R, log: any EventLog, storage: any SnapshotStorage) throws {
    self.reducer = reducer
    self.log = log
    self.storage = storage
    let initial = try CBOREncoder().encode(reducer.initialState)
    initialStateDigest = initial.withUnsafeBytes { log.digest(of: $0) }
  }

  /// The state of the newest usable snapshot up to an index, and those that were passed over.
  ///
  /// What is wrong with a snapshot is never an error: the log has everything.
  ///
  /// - Parameter known: an index whose state is at hand: older snapshots aren't looked at.
  package func newest(
    through index: EventIndex, after known: EventIndex, head: EventIndex
  ) -> (found: (state: R.State, index: EventIndex)?, ignored: [IgnoredSnapshot]) {
    var ignored = storage.problems.map { IgnoredSnapshot(index: 0, reason: $0) }
    let indexes: [EventIndex]
    do {
      indexes = try summaries().map(\.index)
    } catch {
      ignored.append(
        IgnoredSnapshot(index: 0, reason: "the snapshots can't be listed: \(error)"))
      return (nil, ignored)
    }
    for candidate in indexes.reversed() {
      if candidate > head {
        ignored.append(
          IgnoredSnapshot(
            index: candidate, reason: "snapshot ahead of log: the log ends at index \(head)"))
        continue
      }
      guard candidate <= index else { continue }
      guard candidate > known else { break }
      do {
        if let state = try load(candidate) { return ((state, candidate), ignored) }
        ignored.append(IgnoredSnapshot(index: candidate, reason: "it has been removed"))
      } catch {
        ignored.append(IgnoredSnapshot(index: candidate, reason: "\(error)"))
      }
    }
    return (nil, ignored)
  }

  private func summaries() throws -> [SnapshotSummary] {
    try storage.summaries(reducerName: reducer.name, reducerVersion: reducer.version)
  }

  /// Removes as many snapshots as are needed for the others to fit into a number of bytes.
  ///
  /// The newest stays. Of the others, that one goes whose neighbours are nearest to each other, so
  /// that what remains is spread over the history.
  package func thinOut(toSize sizeMax: UInt64) throws {
    var kept = try summaries()
    var size = kept.reduce(0) { $0 + $1.storedSize }
    while size > sizeMax, kept.count > 1 {
      let position = SnapshotThinning.leastUseful(in: kept.map(\.index))
      let removed = kept.remove(at: position)
      size -= removed.storedSize
      try storage.remove(
        reducerName: reducer.name, reducerVersion: reducer.version, index: removed.index)
    }
  }

  private func load(_ index: EventIndex) throws -> R.State? {
    guard
      let header = try storage.header(
        reducerName: reducer.name, reducerVersion: reducer.version, index: index)
    else { return nil }
    func refuse(_ reason: String) throws {
      throw HindsightError(.unusableSnapshot, reason, index: index)
    }
    guard let digest = try log.digest(at: index), digest == header.commitDigest else {
      throw HindsightError(
        .unusableSnapshot, "it belongs to another history of the log", index: index)
    }
    if header.initialStateDigest != initialStateDigest {
      try refuse("it started from another initial state")
    }
    if header.schemaVersion != 0 { try refuse("its events were decoded in another way") }
    if header.redactionEpoch != 0 { try refuse("events of the log were redacted since") }
    let bytes = try storage.state(of: header)
    let actual = bytes.withUnsafeBytes { log.digest(of: $0) }
    if actual != header.stateDigest { try refuse("its state is damaged") }
    do { return try CBORDecoder().decode(R.State.self, from: bytes) } catch {
      throw HindsightError(
        .unusableSnapshot, "its state doesn't decode", index: index, cause: error)
    }
  }

  /// Encodes and stores a state.
  ///
  /// - Parameter commitDigest: the digest of the commit that ends with the index.
  package func save(
    _ state: R.State, index: EventIndex, commitDigest: UInt64
  ) throws {
    let bytes = try CBOREncoder().encode(state)
    let header = SnapshotHeader(
      reducerName: reducer.name, reducerVersion: reducer.version, index: index,
      commitDigest: commitDigest, initialStateDigest: initialStateDigest, schemaVersion: 0,
      redactionEpoch: 0, stateDigest: bytes.withUnsafeBytes { log.digest(of: $0) },
      stateSize: UInt64(bytes.count))
    try storage.save(header, state: bytes)
  }
}

/// Which snapshot is missed least.
package enum SnapshotThinning {
  /// The position of the index without which the gap is smallest; never the last one.
  ///
  /// - Parameter indexes: at least two, ascending.
  package static func leastUseful(in indexes: [EventIndex]) -> Int {
    var best = 0
    var bestGap = EventIndex.max
    for position in indexes.indices.dropLast() {
      let before = position == 0 ? 0 : indexes[position - 1]
      let gap = indexes[position + 1] - before
      if gap < bestGap { (best, bestGap) = (position, gap) }
    }
    return best
  }
}
