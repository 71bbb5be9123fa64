// Where snapshots are kept. A cache: anything in it may be missing, damaged or deleted.

/// What a snapshot was made from, checked before its state is decoded.
public struct SnapshotHeader: Sendable, Hashable {
  /// The name of the reducer.
  public var reducerName: String
  /// The version of the reducer.
  public var reducerVersion: UInt64
  /// The index whose state it holds.
  public var index: EventIndex
  /// The digest of the commit at that index, so that it belongs to exactly one history.
  public var commitDigest: UInt64
  /// The digest of the initial state's encoding.
  public var initialStateDigest: UInt64
  /// The version of upcasters and known event types.
  public var schemaVersion: UInt64
  /// How often events of the log were redacted.
  public var redactionEpoch: UInt64
  /// The digest of the state's encoding.
  public var stateDigest: UInt64
  /// The size of the state's encoding in bytes.
  public var stateSize: UInt64

  package init(
    reducerName: String, reducerVersion: UInt64, index: EventIndex, commitDigest: UInt64,
    initialStateDigest: UInt64, schemaVersion: UInt64, redactionEpoch: UInt64, stateDigest: UInt64,
    stateSize: UInt64
  ) {
    self.reducerName = reducerName
    self.reducerVersion = reducerVersion
    self.index = index
    self.commitDigest = commitDigest
    self.initialStateDigest = initialStateDigest
    self.schemaVersion = schemaVersion
    self.redactionEpoch = redactionEpoch
    self.stateDigest = stateDigest
    self.stateSize = stateSize
  }
}

/// Where a snapshot is, and how much room it takes.
public struct SnapshotSummary: Sendable, Hashable {
  /// The index whose state it holds.
  public let index: EventIndex
  /// How many bytes it takes as it is stored.
  public let storedSize: UInt64

  package init(index: EventIndex, storedSize: UInt64) {
    self.index = index
    self.storedSize = storedSize
  }
}

/// A place for snapshots. Blocking; may be called from any thread.
public protocol SnapshotStorage: AnyObject, Sendable {
  /// What was wrong with the storage as a whole when it was opened. Default: nothing.
  var problems: [String] { get }

  /// All snapshots of a reducer and version, ascending by index, whatever state they are in.
  func summaries(reducerName: String, reducerVersion: UInt64) throws -> [SnapshotSummary]

  /// The header of a snapshot, or nil where there is none.
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot` where it can't be read.
  func header(
    reducerName: String, reducerVersion: UInt64, index: EventIndex
  ) throws -> SnapshotHeader?

  /// The encoded state of a snapshot, its digest and size checked against the header.
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot` where they don't fit.
  func state(of header: SnapshotHeader) throws -> [UInt8]

  /// Stores a snapshot, in place of one of the same reducer, version and index.
  func save(_ header: SnapshotHeader, state: [UInt8]) throws

  /// Removes a snapshot, if it is there.
  func remove(reducerName: String, reducerVersion: UInt64, index: EventIndex) throws

  /// Ends the use of the storage.
  func close() throws
}

extension SnapshotStorage {
  /// What was wrong with the storage as a whole when it was opened: nothing.
  public var problems: [String] { [] }
}
