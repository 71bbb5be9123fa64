// What every verb gets: the reducers, the outputs, and stores opened for looking at.

import HindsightCore
import HindsightLog
import HindsightTimeTravel
import HindsightValue

/// What a verb works with.
struct ToolContext: Sendable {
  let reducers: any ReducerSource
  let output: OutputSink
  /// What stands at the other end of standard error.
  let errorTerminal: Terminal

  /// Opens a store's log and snapshots for looking at; no file is changed.
  func openForReading(_ path: String) throws -> InspectedStore {
    DamageSignals.endWithMessage(store: path)
    let options = LMDBLog.Options(access: .readOnly)
    let log = try LMDBLog.open(path: path, options: options)
    return InspectedStore(
      path: path, log: log, snapshots: LMDBSnapshotStorage.open(path: path, options: options),
      head: try log.head().index)
  }

  /// Writes a line to standard error; one line, whatever the text quotes from data.
  func note(_ text: String) {
    var line = text.withoutControls + "\n"
    // There is nobody to tell that standard error can't be written to.
    line.withUTF8 { try? SystemCalls.write(UnsafeRawBufferPointer($0), to: 2) }
  }
}

/// A store that is being looked at.
struct InspectedStore: Sendable {
  let path: String
  let log: LMDBLog
  let snapshots: LMDBSnapshotStorage
  /// The newest index when the store was opened: all that is shown is up to there.
  let head: EventIndex

  func index(of revision: Revision) throws -> EventIndex {
    try revision.resolve(head: head) { try min(log.index(at: $0), head) }
  }

  /// The indexes of a range that is open at its beginning, or nil where it is empty.
  func indexes(of range: RevisionRange) throws -> ClosedRange<EventIndex>? {
    let after = try index(of: range.after)
    let through = try index(of: range.through)
    guard after <= through else {
      throw ToolError(
        .usage, "the range \(range) ends before it begins: write the smaller index first")
    }
    return after == through ? nil : (after + 1)...through
  }

  /// The state at an index as a tree, by the reducer that the store was made for.
  func state(at index: EventIndex, _ reducers: any ReducerSource) async throws -> Value {
    func state<R: Reducer>(_ reducer: R) async throws -> Value {
      let timeline = try Timeline(reducer, log: log, snapshots: snapshots)
      return try Value(encoded: CBOREncoder().encode(try await timeline.state(at: index)))
    }
    return try await state(reducers.reducer(named: log.genesis.reducerName))
  }

  func close() {
    // Looking has left nothing that closing could lose.
    snapshots.close()
    log.close()
  }
}

/// A command of the tool.
protocol ToolCommand: ParsableCommand {
  /// Does what was asked for.
  ///
  /// - Returns: the process's exit status.
  func run(in tool: ToolContext) async throws -> ExitStatus
}
