// A timeline of the store in a directory.

import HindsightCore
import HindsightLog

extension Timeline {
  /// Opens the store in a directory for travelling. Changes no file.
  ///
  /// - Throws: ``HindsightError``: `notAStore`, `unsupportedFormat`, `reducerMismatch`,
  ///   `permissionDenied`, `networkFileSystem`, `inputOutput`.
  public convenience init(_ reducer: R, at path: String) throws {
    let options = LMDBLog.Options(access: .readOnly, reducerName: reducer.name)
    let log = try LMDBLog.open(path: path, options: options)
    try self.init(
      reducer, log: log, snapshots: LMDBSnapshotStorage.open(path: path, options: options))
  }
}
