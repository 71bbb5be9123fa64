// Replays recorded events into a state, straight from the log's memory.

import HindsightValue

/// Applies the log's events to a state.
package struct Replayer<R: Reducer>: ~Copyable {
  private let reducer: R
  private let coder: EventCoder<R.Event>
  /// The types of the commit read last, and the bytes of their table: neighbours have the same.
  private var types: [EventType] = []
  private var typeTable: [UInt8]?
  private var scratch = CBORWriter()

  package init(reducer: R, coder: EventCoder<R.Event>) {
    self.reducer = reducer
    self.coder = coder
  }

  /// Applies the events of a range in order.
  ///
  /// - Parameters:
  ///   - index: the state's index, kept with it event by event: after an error it says how far the
  ///     state has come.
  ///   - shouldStop: asked after each commit, with the index reached; true ends the replay early.
  /// - Throws: ``HindsightError`` with the index of the event that can't be read.
  package mutating func replay(
    _ log: any EventLog, through last: EventIndex, into state: inout R.State,
    index: inout EventIndex, shouldStop: (EventIndex) throws -> Bool = { _ in false }
  ) throws {
    guard index < last else { return }
    try log.scan((index + 1)...last, reversed: false) { commit in
      try apply(commit, through: last, into: &state, index: &index)
      return try shouldStop(index) ? .stop : .next
    }
  }

  private mutating func apply(
    _ commit: borrowing CommitRecord, through last: EventIndex, into state: inout R.State,
    index: inout EventIndex
  ) throws {
    do {
      try readTypes(of: commit)
      let first = commit.firstIndex
      let recordedTime = commit.recordedTime
      let end = min(commit.eventCount, Int(last - first) + 1)
      for position in Int(index + 1 - first)..<end {
        let record = try commit.event(at: position)
        guard record.typeNumber < types.count else {
          throw CommitRecordError("an event has type \(record.typeNumber) of \(types.count)")
        }
        let event = try coder.decode(
          type: types[record.typeNumber], payload: record.payload, scratch: &scratch)
        let metadata = record.metadata
        let context: EventContext
        if metadata.byteCount == 0 {
          context = EventContext(
            index: first + EventIndex(position), recordedTime: recordedTime,
            occurredTime: record.occurredTime)
        } else {
          context = EventContext(
            index: first + EventIndex(position), recordedTime: recordedTime,
            metadata: try EventMetadata(record: metadata, occurredTime: record.occurredTime))
        }
        reducer.reduce(into: &state, event, context: context)
        index = first + EventIndex(position)
      }
    } catch let error as CommitRecordError {
      throw error.hindsightError(index: index + 1)
    } catch let error as EventDecodingError {
      throw error.hindsightError(index: index + 1)
    }
  }

  private mutating func readTypes(of commit: borrowing CommitRecord) throws(CommitRecordError) {
    let table = commit.typeTableBytes
    let isSame = typeTable.map { known in
      table.withUnsafeBytes { bytes in
        known.withUnsafeBytes { $0.elementsEqual(bytes) }
      }
    }
    if isSame == true { return }
    types = try commit.eventTypes()
    typeTable = table.withUnsafeBytes { Array($0) }
  }
}
