// All snapshots of a store, of whatever reducer and version.

public import HindsightCore

/// A snapshot as a list shows it.
public struct SnapshotListing: Sendable, Hashable {
  /// The reducer's name.
  public let reducerName: String
  /// The reducer's version.
  public let reducerVersion: UInt64
  /// The index whose state it holds.
  public let index: EventIndex
  /// The size of the state's encoding in bytes; nil where the header can't be read.
  public let stateSize: UInt64?
  /// What it takes as it is stored, in bytes.
  public let storedSize: UInt64
  /// The digest of the commit that it belongs to; nil where the header can't be read.
  public let commitDigest: UInt64?
}

extension LMDBSnapshotStorage {
  /// All snapshots, of whatever reducer and version, whatever state they are in.
  public func listing() throws -> [SnapshotListing] {
    var sizes: [String: [EventIndex: UInt64]] = [:]
    return try keys().map { key in
      let group = "\(key.reducerVersion) \(key.reducerName)"
      if sizes[group] == nil {
        let summaries = try summaries(
          reducerName: key.reducerName, reducerVersion: key.reducerVersion)
        sizes[group] = Dictionary(
          summaries.map { ($0.index, $0.storedSize) }, uniquingKeysWith: { first, _ in first })
      }
      let header = try? header(
        reducerName: key.reducerName, reducerVersion: key.reducerVersion, index: key.index)
      return SnapshotListing(
        reducerName: key.reducerName, reducerVersion: key.reducerVersion, index: key.index,
        stateSize: header?.stateSize, storedSize: sizes[group]?[key.index] ?? 0,
        commitDigest: header?.commitDigest)
    }
  }
}
