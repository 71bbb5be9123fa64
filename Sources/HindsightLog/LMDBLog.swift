// The log in an LMDB environment: opening, creating and what belongs to a log as a whole.
// It always holds: a log that was opened has a genesis record, and what it shows is durable.

public import HindsightCore
import HindsightLMDB
import Synchronization

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// The log of a store directory, `log.mdb`.
///
/// May be used from any thread; the functions block. Several processes may have one store open at a
/// time, and so may one process several times.
public final class LMDBLog: EventLog {
  /// How a log is opened.
  public struct Options: Sendable {
    /// What the log is opened for.
    public enum Access: Sendable, Hashable {
      /// Reading. Nothing on the disk is changed but the reader's slot in the lock file.
      case readOnly
      /// Reading and writing, and creating the store where there is none, if so said.
      case readWrite(createIfMissing: Bool)
    }

    /// What the log is opened for.
    public var access: Access
    /// The reducer's name: what a new log is made for, and what an existing one must have been.
    ///
    /// Nil accepts every existing log, and creates none.
    public var reducerName: String?
    /// The most that the log can grow to, in bytes. Address space, not memory.
    ///
    /// Where the system refuses it, it is halved until it doesn't.
    public var mapSizeBytes = 1 << 40
    /// How many reads can run at a time, of all processes together. The first opener decides.
    public var readerSlotCount = 1024
    /// Whether a network file system is accepted, whose locks may not hold what they promise.
    public var allowsNetworkFileSystem = false

    /// Options with the default sizes.
    public init(
      access: Access = .readWrite(createIfMissing: true), reducerName: String? = nil
    ) {
      self.access = access
      self.reducerName = reducerName
    }

    func check() throws(HindsightError) {
      let sizeMax = GenesisRecord.reducerNameSizeMax
      guard (reducerName?.utf8.count ?? 0) <= sizeMax else {
        throw HindsightError(
          .invalidOption, "a reducer's name can have \(sizeMax) bytes in UTF-8 at most")
      }
      guard mapSizeBytes > 0, readerSlotCount > 0 else {
        throw HindsightError(.invalidOption, "a map size or a count of readers must be positive")
      }
    }
  }

  /// What the log was made with.
  public let genesis: LogGenesis
  /// Whether commits can be appended.
  public let isReadOnly: Bool
  /// The path of the store's directory, as it was opened.
  public let path: String

  let genesisDigest: UInt64
  let commits: Table
  let shared: SharedUse
  let appending = Mutex(AppendState())

  /// The name of the table of commits.
  static let commitsTableName = "commits"
  /// The key of the genesis record, below all indexes.
  static let genesisKey = TableKey.number(0)

  private init(
    path: String, environment: Environment, commits: Table, genesis: (LogGenesis, UInt64),
    isReadOnly: Bool
  ) {
    self.path = path
    self.commits = commits
    (self.genesis, genesisDigest) = genesis
    self.isReadOnly = isReadOnly
    shared = SharedUse(environment, path: path)
  }

  /// Opens the log of a store directory, and creates both if the options say so.
  ///
  /// - Throws: ``HindsightError`` with code `notAStore`, `unsupportedFormat`, `reducerMismatch`,
  ///   `permissionDenied`, `networkFileSystem`, `inUse`, `corrupt`, `invalidOption` or
  ///   `inputOutput`.
  public static func open(path: String, options: Options = Options()) throws -> LMDBLog {
    try options.check()
    let directory = StoreDirectory(path: path)
    do {
      switch options.access {
      case .readWrite(createIfMissing: true) where options.reducerName != nil:
        try directory.createIfMissing()
      default: try directory.requireStore()
      }
      return try open(directory, options)
    } catch let error as LMDBError {
      throw HindsightError(error)
    }
  }

  private static func open(_ directory: StoreDirectory, _ options: Options) throws -> LMDBLog {
    var environmentOptions = EnvironmentOptions(options)
    if !StoreDirectory.isThere(directory.snapshotsPath) {
      // Its making may have been cut off. Beside snapshots, which come later, it was lost.
      environmentOptions.contentMark = withUnsafeBytes(of: CommitLayout.magic.littleEndian) {
        Array($0)
      }
    }
    let environment = try Environment.open(directory.logPath, options: environmentOptions)
    let isReadOnly = options.access == .readOnly
    // LMDB ends the process at a page that can't be. Those that opening and appending need are
    // looked at; all others only by the verifier.
    let report = try environment.checkTrees(.edges)
    if let error = report.readError { throw error }
    if let problem = report.problems.first {
      throw HindsightError(
        .corrupt, "the log of \(directory.path) is damaged: \(problem); verify it")
    }
    let table: Table
    if let known = try environment.table(named: commitsTableName) {
      table = known
    } else if case .readWrite(createIfMissing: true) = options.access,
      let reducerName = options.reducerName
    {
      table = try create(directory, environment, reducerName: reducerName)
    } else {
      throw HindsightError.notAStore(directory.path, "its log has no table of commits")
    }
    let genesis = try readGenesis(
      directory.path, environment, table, forWriting: !isReadOnly)
    if let expected = options.reducerName, expected != genesis.record.reducerName {
      throw HindsightError(
        .reducerMismatch,
        "\(directory.path) was made for the reducer \(genesis.record.reducerName), "
          + "not for \(expected)")
    }
    if !isReadOnly {
      // Whoever created the files may have died before this.
      try environment.synchronize()
      try directory.synchronize()
    }
    return LMDBLog(
      path: directory.path, environment: environment, commits: table,
      genesis: (genesis.record.genesis, genesis.digest), isReadOnly: isReadOnly)
  }

  /// Makes the genesis record, unless another process has just done that.
  private static func create(
    _ directory: StoreDirectory, _ environment: Environment, reducerName: String
  ) throws -> Table {
    var transaction = try environment.beginWrite()
    let table = try transaction.createTable(commitsTableName)
    guard try transaction.value(table, genesisKey) == nil else {
      // Another process was faster. The table's handle goes with this transaction.
      transaction.abort()
      guard let table = try environment.table(named: commitsTableName) else {
        throw HindsightError.notAStore(directory.path, "its log has no table of commits")
      }
      return table
    }
    // A file that has seen a commit, but has no commits, has lost them.
    guard try transaction.number() == 1 else {
      throw HindsightError.notAStore(directory.path, "its log has no table of commits")
    }
    let record = GenesisRecord(creationTime: .now, reducerName: reducerName)
    try transaction.put(table, genesisKey, record.encoded())
    try transaction.commit()
    return table
  }

  private static func readGenesis(
    _ path: String, _ environment: Environment, _ table: Table, forWriting: Bool
  ) throws -> (record: GenesisRecord, digest: UInt64) {
    let transaction = try environment.beginRead()
    guard let bytes = try transaction.value(table, genesisKey) else {
      throw HindsightError.notAStore(path, "its log has no first record")
    }
    let record = try GenesisRecord(bytes, path: path, forWriting: forWriting)
    let digestOffset = bytes.byteCount - GenesisRecord.digestSize
    return (record, bytes.load(digestOffset, as: UInt64.self))
  }

  /// The digest function of all LMDB logs.
  package static func digest(of bytes: UnsafeRawBufferPointer) -> UInt64 { Digest.of(bytes) }

  /// The log's digest function: XXH3, 64 bits, seed 0.
  public func digest(of bytes: UnsafeRawBufferPointer) -> UInt64 { Digest.of(bytes) }

  /// Ends the use of the log, waiting for what is running.
  ///
  /// Closing again does nothing. The file is closed when all that have it open have closed it. Not
  /// from within ``append(_:)`` or ``scan(_:reversed:_:)``: that is a precondition.
  public func close() { shared.close() }
}

extension EnvironmentOptions {
  init(_ options: LMDBLog.Options) {
    self.init()
    access =
      switch options.access {
      case .readOnly: .readOnly
      case .readWrite(createIfMissing: true) where options.reducerName != nil: .create
      case .readWrite: .readWrite
      }
    mapSize = options.mapSizeBytes
    readerSlots = options.readerSlotCount
    allowsNetworkFileSystem = options.allowsNetworkFileSystem
  }
}

extension Timestamp {
  /// The system's clock.
  static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(rawValue: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
  }
}
