// How a store is opened.

/// When a store writes snapshots.
public enum SnapshotPolicy: Sendable, Hashable {
  /// When replaying what came since the last one would take longer than a hundredth of a second, by
  /// measured cost; but spending no more than a twentieth of the time on snapshots.
  case automatic
  /// After the commit with which that many events have come since the last one.
  case every(EventIndex)
  /// Only where `snapshot()` is called.
  case never
}

/// How a store is opened.
public struct StoreOptions: Sendable {
  /// When snapshots are written. Default: automatically.
  ///
  /// Whatever the policy, old snapshots are thinned out so that all together take no more bytes
  /// than the log does (but at least 16 MiB); those that remain are spread over all of the history.
  public var snapshotPolicy: SnapshotPolicy
  /// How many bytes of encoded events may wait for their commit before dispatchers do. Default: 64
  /// MiB.
  ///
  /// A batch that is larger by itself is taken when nothing else waits.
  public var queueSizeMax: Int
  /// Whether the store is only looked at: nothing can be dispatched, and no file is changed.
  public var isReadOnly: Bool
  /// The size of the log's memory map in bytes: what the log can grow to. Default: 1 TiB, or less
  /// where the system refuses that.
  ///
  /// It is address space, not memory or disk.
  public var mapSize: Int
  /// How many read transactions all processes can have at a time. Default: 1,024.
  ///
  /// The first process that opens the store decides.
  public var readerSlots: Int
  /// Whether a store on a network file system is opened, although its locks can't be relied on
  /// there.
  public var allowsNetworkFileSystem: Bool
  /// Where recorded times come from. Default: the system's clock.
  public var clock: @Sendable () -> Timestamp

  /// Options with their defaults.
  public init(
    snapshotPolicy: SnapshotPolicy = .automatic, queueSizeMax: Int = 64 << 20,
    isReadOnly: Bool = false, mapSize: Int = 1 << 40, readerSlots: Int = 1_024,
    allowsNetworkFileSystem: Bool = false, clock: @escaping @Sendable () -> Timestamp = { .now }
  ) {
    self.snapshotPolicy = snapshotPolicy
    self.queueSizeMax = queueSizeMax
    self.isReadOnly = isReadOnly
    self.mapSize = mapSize
    self.readerSlots = readerSlots
    self.allowsNetworkFileSystem = allowsNetworkFileSystem
    self.clock = clock
  }

  /// - Throws: ``HindsightError`` with code `invalidOption`.
  package func check() throws {
    func refuse(_ message: String) throws {
      throw HindsightError(.invalidOption, message)
    }
    if case .every(0) = snapshotPolicy {
      try refuse("snapshots can't be written every 0 events: give at least 1, or .never")
    }
    if queueSizeMax < 1 { try refuse("the queue must hold at least 1 byte, not \(queueSizeMax)") }
    if readerSlots < 1 { try refuse("there must be at least 1 reader slot, not \(readerSlots)") }
    if mapSize < 1 << 20 { try refuse("the map must have at least 1 MiB, not \(mapSize) bytes") }
  }
}
