// Snapshots in an LMDB environment of their own, so that writing one never holds up a commit.
// It always holds: whatever is the matter with the file, the storage opens, if need be without it.

public import HindsightCore
import HindsightLMDB

/// The snapshots of a store directory, `snapshots.mdb`.
///
/// May be used from any thread; the functions block. A file that is damaged, or none of LMDB's, is
/// replaced by an empty one when it is opened for writing, and passed over when only for reading.
public final class LMDBSnapshotStorage: SnapshotStorage {
  /// What was wrong with the file, and what was done about it; empty where nothing was.
  public let problems: [String]
  /// Why the file couldn't be opened, where there is one and it isn't open.
  public let failure: HindsightError?
  private let path: String
  private let shared: SharedUse?
  private let tables: Tables?

  private struct Tables {
    let headers: Table
    let chunks: Table
  }

  static let headersTableName = "snapshots"
  static let chunksTableName = "chunks"

  private init(
    path: String, opened: (Environment, Tables)?, problems: [String], failure: LMDBError? = nil
  ) {
    self.path = path
    self.failure = failure.map { HindsightError($0) }
    self.problems = problems
    shared = opened.map { SharedUse($0.0, path: path) }
    tables = opened?.1
  }

  /// Opens the snapshots of a store directory, creating the file where it is opened for writing.
  ///
  /// Never fails: see ``problems``.
  ///
  /// - Parameter options: those that the log was opened with.
  public static func open(
    path: String, options: LMDBLog.Options = LMDBLog.Options()
  ) -> LMDBSnapshotStorage {
    let file = StoreDirectory(path: path).snapshotsPath
    let isReadOnly = options.access == .readOnly
    var environmentOptions = EnvironmentOptions(options)
    environmentOptions.access = isReadOnly ? .readOnly : .create
    if isReadOnly, !StoreDirectory.isThere(file) {
      return LMDBSnapshotStorage(path: file, opened: nil, problems: [])
    }
    var problems: [String] = []
    do throws(LMDBError) {
      return LMDBSnapshotStorage(
        path: file, opened: try open(file, environmentOptions), problems: problems)
    } catch {
      problems.append("\(error)")
      if isReadOnly || !error.isDamage {
        return LMDBSnapshotStorage(path: file, opened: nil, problems: problems, failure: error)
      }
    }
    StoreDirectory.removeEnvironment(file)
    do throws(LMDBError) {
      let opened = try open(file, environmentOptions)
      problems.append("\(file) was replaced by an empty one")
      return LMDBSnapshotStorage(path: file, opened: opened, problems: problems)
    } catch {
      problems.append("\(error)")
      return LMDBSnapshotStorage(path: file, opened: nil, problems: problems, failure: error)
    }
  }

  private static func open(
    _ path: String, _ options: EnvironmentOptions
  ) throws(LMDBError) -> (Environment, Tables)? {
    let environment = try Environment.open(path, options: options)
    // Damaged pages would end the process when LMDB comes across them.
    let report = try environment.checkTrees()
    if let error = report.readError { throw error }
    if let problem = report.problems.first {
      throw LMDBError(.corrupted, "checking \(path)", message: problem)
    }
    if let headers = try environment.table(named: headersTableName),
      let chunks = try environment.table(named: chunksTableName)
    {
      return (environment, Tables(headers: headers, chunks: chunks))
    }
    if options.access == .readOnly { return nil }
    var transaction = try environment.beginWrite()
    let tables = Tables(
      headers: try transaction.createTable(headersTableName),
      chunks: try transaction.createTable(chunksTableName))
    try transaction.commit()
    return (environment, tables)
  }

  /// All snapshots of a reducer and version, ascending by index. O(n) in their number.
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot`, or `closed`.
  public func summaries(reducerName: String, reducerVersion: UInt64) throws -> [SnapshotSummary] {
    try reading(index: 0) { environment, tables in
      let prefix = SnapshotKey(
        reducerName: reducerName, reducerVersion: reducerVersion, index: 0
      ).prefix
      var found: [SnapshotSummary] = []
      let transaction = try environment.beginRead()
      var cursor = try transaction.cursor(tables.headers)
      var next = try cursor.seek(.bytes(prefix))
      while let entry = next {
        let key = entry.key.withUnsafeBytes { Array($0) }
        guard key.starts(with: prefix) else { break }
        // A longer name may begin with the bytes of this one and its version.
        if key.count == prefix.count + 8 {
          let index = key.suffix(8).reduce(0) { $0 << 8 | UInt64($1) }
          // A damaged header is listed, too: looking closer says what is wrong with it.
          let record = try? SnapshotRecord(entry.value, index: index)
          found.append(SnapshotSummary(index: index, storedSize: record?.storedSize ?? 0))
        }
        next = try cursor.move(.next)
      }
      return found
    } ?? []
  }

  /// The keys of all snapshots, of whatever reducer, in the order of their bytes.
  func keys() throws -> [SnapshotKey] {
    try reading(index: 0) { environment, tables in
      var found: [SnapshotKey] = []
      let transaction = try environment.beginRead()
      var cursor = try transaction.cursor(tables.headers)
      var next = try cursor.move(.first)
      while let entry = next {
        let bytes = entry.key.withUnsafeBytes { Array($0) }
        guard let key = SnapshotKey(bytes) else {
          throw HindsightError(.unusableSnapshot, "there is a key that isn't a snapshot's")
        }
        found.append(key)
        next = try cursor.move(.next)
      }
      return found
    } ?? []
  }

  /// The header of a snapshot, or nil where there is none. O(log n).
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot` where it can't be read.
  public func header(
    reducerName: String, reducerVersion: UInt64, index: EventIndex
  ) throws -> SnapshotHeader? {
    try reading(index: index) { environment, tables in
      let key = SnapshotKey(
        reducerName: reducerName, reducerVersion: reducerVersion, index: index)
      let transaction = try environment.beginRead()
      return try record(key, transaction, tables)?.header
    } ?? nil
  }

  /// The encoded state of a snapshot, its size and digest checked. O(n) in its bytes.
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot` where it isn't what the header says.
  public func state(of header: SnapshotHeader) throws -> [UInt8] {
    let key = SnapshotKey(header)
    let state: [UInt8]? = try reading(index: header.index) { environment, tables in
      let transaction = try environment.beginRead()
      guard let record = try record(key, transaction, tables), record.header == header else {
        throw HindsightError.unusableSnapshot("it is gone, or another", index: header.index)
      }
      guard let size = Int(exactly: header.stateSize),
        record.chunkCount
          == UInt32(exactly: (size + SnapshotRecord.chunkSize - 1) / SnapshotRecord.chunkSize)
      else {
        throw HindsightError.unusableSnapshot("its sizes contradict", index: header.index)
      }
      var state: [UInt8] = []
      for chunk in 0..<record.chunkCount {
        guard let bytes = try transaction.value(tables.chunks, .bytes(key.bytes(chunk: chunk))),
          append(bytes, of: record, size: min(SnapshotRecord.chunkSize, size - state.count), &state)
        else {
          throw HindsightError.unusableSnapshot(
            "a part of it is missing or damaged", index: header.index)
        }
      }
      guard state.count == size,
        state.withUnsafeBytes({ Digest.of($0) }) == header.stateDigest
      else {
        throw HindsightError.unusableSnapshot("its state is damaged", index: header.index)
      }
      return state
    }
    guard let state else {
      throw HindsightError.unusableSnapshot("it is gone", index: header.index)
    }
    return state
  }

  /// Appends a chunk's content, of a size, to a state.
  ///
  /// - Returns: false where the chunk hasn't got that content.
  private func append(
    _ chunk: RawSpan, of record: SnapshotRecord, size: Int, _ state: inout [UInt8]
  ) -> Bool {
    switch record.compression {
    case .none:
      guard chunk.byteCount == size else { return false }
      chunk.withUnsafeBytes { state.append(contentsOf: $0) }
      return true
    case .zstandard:
      let start = state.count
      state.append(contentsOf: repeatElement(0, count: size))
      return chunk.withUnsafeBytes { bytes in
        state.withUnsafeMutableBytes { target in
          Zstandard.decompress(
            bytes, into: UnsafeMutableRawBufferPointer(rebasing: target[start...]))
        }
      }
    }
  }

  /// Stores a snapshot durably, in place of one of the same reducer, version and index; compressed
  /// where that makes all of its chunks smaller.
  ///
  /// - Throws: ``HindsightError``; nothing is stored then. Code `readOnly` where there is no file.
  public func save(_ header: SnapshotHeader, state: [UInt8]) throws {
    guard header.reducerName.utf8.count <= GenesisRecord.reducerNameSizeMax else {
      throw HindsightError(.invalidOption, "the reducer's name is too long for a snapshot")
    }
    precondition(header.stateSize == UInt64(state.count), "a header says its state's size")
    let key = SnapshotKey(header)
    let (chunks, compression) = Self.chunks(of: state)
    let storedSize = chunks.reduce(0) { $0 + $1.count }
    let record = SnapshotRecord(
      header, storedSize: UInt64(storedSize), compression: compression)
    try writing { transaction, tables in
      try transaction.reserveSpace(forValueBytes: storedSize)
      try removeChunks(key, &transaction, tables)
      try transaction.put(tables.headers, .bytes(key.bytes), record.encoded())
      for (number, chunk) in chunks.enumerated() {
        try transaction.reserve(
          tables.chunks, .bytes(key.bytes(chunk: UInt32(number))), sizeBytes: chunk.count,
          placement: .anywhere
        ) { target in
          chunk.withUnsafeBytes { target.copyMemory(from: $0) }
        }
      }
    }
  }

  /// A state's chunks as they are stored.
  private static func chunks(
    of state: [UInt8]
  ) -> ([ArraySlice<UInt8>], SnapshotRecord.Compression) {
    let plain = stride(from: 0, to: state.count, by: SnapshotRecord.chunkSize).map {
      state[$0..<min($0 + SnapshotRecord.chunkSize, state.count)]
    }
    var compressed: [ArraySlice<UInt8>] = []
    for chunk in plain {
      guard let smaller = chunk.withUnsafeBytes({ Zstandard.compressed($0) }) else {
        return (plain, .none)
      }
      compressed.append(smaller[...])
    }
    return (compressed, .zstandard)
  }

  /// Removes a snapshot, if it is there.
  ///
  /// - Throws: ``HindsightError``; code `readOnly` where there is no file to write to.
  public func remove(reducerName: String, reducerVersion: UInt64, index: EventIndex) throws {
    let key = SnapshotKey(reducerName: reducerName, reducerVersion: reducerVersion, index: index)
    try writing { transaction, tables in
      try removeChunks(key, &transaction, tables)
      try transaction.remove(tables.headers, .bytes(key.bytes))
    }
  }

  /// Ends the use of the storage, waiting for what is running. Closing again does nothing.
  public func close() { shared?.close() }

  /// Removes all chunks of a key, whatever its header says of them.
  private func removeChunks(
    _ key: SnapshotKey, _ transaction: inout WriteTransaction, _ tables: Tables
  ) throws {
    let prefix = key.bytes
    while true {
      var found: [UInt8]?
      do {
        var cursor = try transaction.cursor(tables.chunks)
        var next = try cursor.seek(.bytes(prefix))
        while let entry = next, found == nil {
          let candidate = entry.key.withUnsafeBytes { Array($0) }
          guard candidate.starts(with: prefix) else { break }
          if candidate.count == prefix.count + 4 { found = candidate }
          next = try cursor.move(.next)
        }
      }
      guard let found else { return }
      try transaction.remove(tables.chunks, .bytes(found))
    }
  }

  private func record(
    _ key: SnapshotKey, _ transaction: borrowing ReadTransaction, _ tables: Tables
  ) throws -> SnapshotRecord? {
    guard let bytes = try transaction.value(tables.headers, .bytes(key.bytes)) else { return nil }
    let record = try SnapshotRecord(bytes, index: key.index)
    guard SnapshotKey(record.header).bytes == key.bytes else {
      throw HindsightError.unusableSnapshot("its header is another one's", index: key.index)
    }
    return record
  }

  /// Calls a closure with the environment and its tables; nil where there are none.
  private func reading<Result>(
    index: EventIndex, _ body: (Environment, Tables) throws -> Result
  ) throws -> Result? {
    guard let shared, let tables else { return nil }
    do {
      return try shared.use { try body($0, tables) }
    } catch let error as LMDBError {
      throw HindsightError.unusableSnapshot("\(error)", index: index)
    }
  }

  private func writing(_ body: (inout WriteTransaction, Tables) throws -> Void) throws {
    guard let shared, let tables else {
      throw HindsightError(
        .readOnly, "there is no \(path) to write to\(problems.first.map { ": \($0)" } ?? "")")
    }
    do {
      try shared.use { environment in
        var transaction = try environment.beginWrite()
        try body(&transaction, tables)
        try transaction.commit()
      }
    } catch let error as LMDBError {
      throw HindsightError(error)
    }
  }
}

extension SnapshotKey {
  init(_ header: SnapshotHeader) {
    self.init(
      reducerName: header.reducerName, reducerVersion: header.reducerVersion, index: header.index)
  }
}

extension LMDBError {
  /// Whether it says that a file isn't what it should be, so that it can only be replaced.
  fileprivate var isDamage: Bool {
    let damages: [Code] = [
      .invalid, .versionMismatch, .corrupted, .pageNotFound, .truncated, .missingTable,
    ]
    return damages.contains(code)
  }
}
