// A store in a directory: its log and its snapshots, opened together.

import HindsightLog

extension Store {
  /// Opens the store in a directory, or makes it where there is none.
  ///
  /// The directory holds the log, which is everything, and the snapshots, which can be deleted. The
  /// state is read from the newest usable snapshot and the events after it. Several processes may
  /// have a store open at the same time.
  ///
  /// - Parameters:
  ///   - path: the directory, by convention with the extension `hindsight`.
  ///   - options: how it is opened; with `isReadOnly`, the store must exist.
  /// - Throws: ``HindsightError``: `notAStore`, `unsupportedFormat`, `reducerMismatch`,
  ///   `permissionDenied`, `networkFileSystem`, `invalidOption`, `inputOutput`, or with the index
  /// of
  ///   an event that can't be replayed (`corrupt`, `missingCommit`, `unknownEventType`,
  ///   `undecodableEvent`, `unknownControlEvent`).
  public convenience init(
    _ reducer: R, at path: String, options: StoreOptions = StoreOptions()
  ) async throws {
    try options.check()
    let files = try StoreFiles.open(path: path, reducerName: reducer.name, options: options)
    try await self.init(
      reducer, log: files.log, snapshots: files.snapshots, options: options)
  }

  /// Opens a store of an initial state and a function that changes it.
  ///
  /// - Parameters:
  ///   - name: the name that the store carries; it opens only with the same.
  ///   - version: raised when the function or the state's encoding changes.
  public convenience init<S, E>(
    name: String, version: UInt64 = 1, initialState: S,
    reduce: @escaping @Sendable (inout S, E) -> Void, at path: String,
    options: StoreOptions = StoreOptions()
  ) async throws where R == ClosureReducer<S, E> {
    let reducer = ClosureReducer(
      name: name, version: version, initialState: initialState, reduce: reduce)
    try await self.init(reducer, at: path, options: options)
  }

  /// Opens a store of an initial state and a function that returns the next one.
  public convenience init<S, E>(
    name: String, version: UInt64 = 1, initialState: S,
    reduce: @escaping @Sendable (S, E) -> S, at path: String,
    options: StoreOptions = StoreOptions()
  ) async throws where R == ClosureReducer<S, E> {
    let reducer = ClosureReducer(
      name: name, version: version, initialState: initialState, reduce: reduce)
    try await self.init(reducer, at: path, options: options)
  }
}
