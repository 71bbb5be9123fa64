// The log and the snapshots in a store's directory, opened with a store's options.

import HindsightCore
import HindsightLog

/// What a store's directory holds, opened.
struct StoreFiles {
  let log: LMDBLog
  let snapshots: LMDBSnapshotStorage

  /// Opens both, and makes them where the options allow that.
  static func open(path: String, reducerName: String, options: StoreOptions) throws -> StoreFiles {
    var logOptions = LMDBLog.Options(
      access: options.isReadOnly ? .readOnly : .readWrite(createIfMissing: true),
      reducerName: reducerName)
    logOptions.mapSizeBytes = options.mapSize
    logOptions.readerSlotCount = options.readerSlots
    logOptions.allowsNetworkFileSystem = options.allowsNetworkFileSystem
    let log = try LMDBLog.open(path: path, options: logOptions)
    let snapshots = LMDBSnapshotStorage.open(path: path, options: logOptions)
    return StoreFiles(log: log, snapshots: snapshots)
  }
}
