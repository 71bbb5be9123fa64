// Reads events from lines and dispatches them in batches.
// It always holds: a line is in the store as a whole, and so are all good lines before it.

import HindsightCore
import HindsightValue

/// Appends the events of lines to a store.
final class Importer<R: Reducer> {
  /// A line that isn't an event, or that was refused.
  struct InvalidLine {
    let number: Int
    let reason: String
  }

  /// The bad lines that were skipped: how many, and the first few.
  struct InvalidLines {
    fileprivate(set) var count = 0
    fileprivate(set) var first: [InvalidLine] = []
  }

  /// Events that are dispatched together, with the lines that they came from.
  private struct Batch {
    var events: [AnnotatedEvent<R.Event>] = []
    var lineNumbers: [Int] = []
    /// The sizes of the lines, which the batch is bounded by, too.
    var sizeBytes = 0
  }

  /// How many events are tried together after one was refused; then twice as many each time. So
  /// what follows many bad lines isn't tried again as a whole for each of them.
  private static var retryCount: Int { 64 }

  private let store: Store<R>
  private let coder: EventCoder<R.Event>
  private let skipsInvalid: Bool
  private let batchCountMax: Int
  private let batchSizeBytesMax = 8 << 20
  private let committed: (EventIndex, Int) throws -> Void
  private(set) var importedCount = 0
  private(set) var invalid = InvalidLines()
  private let listedCountMax = 5

  /// - Parameter committed: told the durable head and the number of events so far, after each
  ///   commit.
  init(
    store: Store<R>, skipsInvalid: Bool, batchCountMax: Int,
    committed: @escaping (EventIndex, Int) throws -> Void
  ) {
    self.store = store
    coder = EventCoder(eventTypeName: store.reducer.eventTypeName)
    self.skipsInvalid = skipsInvalid
    self.batchCountMax = batchCountMax
    self.committed = committed
  }

  /// Imports all lines; while a batch is being committed, the next one is read.
  ///
  /// - Throws: ``ToolError`` that names the bad line, after all before it have been kept.
  func run(_ lines: inout LineReader) async throws {
    var next = try read(&lines)
    while let batch = next.batch {
      let (events, store) = (batch.events, store)
      async let outcome = Self.dispatch(events, to: store)
      let following = next.failure == nil ? Result { try read(&lines) } : nil
      try await settle(batch, await outcome)
      if let failure = next.failure { throw failure }
      guard let following else { return }
      next = try following.get()
    }
    if let failure = next.failure { throw failure }
  }

  /// Reads the next batch; nil at the end. A bad line ends it, with an error to throw afterwards.
  private func read(
    _ lines: inout LineReader
  ) throws -> (batch: Batch?, failure: ToolError?) {
    var batch = Batch()
    while batch.events.count < batchCountMax, batch.sizeBytes < batchSizeBytesMax {
      do {
        let isMore: Void? = try lines.next { number, bytes in
          try append(bytes, number, to: &batch)
        }
        if isMore == nil { break }
      } catch let error as ToolError {
        // The input can't be read any further.
        return (batch.events.isEmpty ? nil : batch, error)
      } catch {
        let reason = Self.reason(error)
        if skipsInvalid {
          note(lines.lineNumber, reason)
        } else {
          return (batch.events.isEmpty ? nil : batch, failure(lines.lineNumber, reason))
        }
      }
    }
    return (batch.events.isEmpty ? nil : batch, nil)
  }

  /// What is wrong with a line, without the line's number.
  private static func reason(_ error: any Error) -> String {
    switch error {
    case let error as JSONError: "invalid JSON at column \(error.column): \(error.message)"
    case let error as LineTooLong:
      "it is longer than the \(grouped(error.limitBytes)) bytes that a line may have"
    default: "\(error)"
    }
  }

  private func append(
    _ bytes: UnsafeRawBufferPointer, _ number: Int, to batch: inout Batch
  ) throws {
    // A line with nothing on it separates others, or ends the file.
    if bytes.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) { return }
    let line = try ImportedEvent(line: bytes)
    let event = try coder.importedEvent(typeName: line.typeName, payload: line.payload)
    // What can't be recorded is found here, where its line is known.
    var frames = EventFrames()
    try coder.encode(event, metadata: line.metadata, into: &frames)
    batch.events.append(AnnotatedEvent(event, metadata: line.metadata))
    batch.lineNumbers.append(number)
    batch.sizeBytes += bytes.count
  }

  private static func dispatch(
    _ events: [AnnotatedEvent<R.Event>], to store: Store<R>
  ) async -> Result<Receipt, any Error> {
    do { return .success(try await store.dispatch(contentsOf: events)) } catch {
      return .failure(error)
    }
  }

  /// Takes in what became of a batch; of a refused one, what is before the refused line is kept.
  private func settle(_ batch: Batch, _ outcome: Result<Receipt, any Error>) async throws {
    var outcome = outcome
    var (first, count) = (0, batch.events.count)
    while true {
      switch outcome {
      case .success(let receipt):
        importedCount += receipt.count
        try committed(receipt.index, importedCount)
        first += count
        count *= 2
      case .failure(let error as HindsightError)
      where error.code == .eventRefused && error.batchPosition != nil:
        let refused = first + (error.batchPosition ?? 0)
        try await keep(batch.events[first..<refused])
        let reason = "\(error.cause ?? error)"
        guard skipsInvalid else {
          throw failure(batch.lineNumbers[refused], "refused by the reducer: \(reason)")
        }
        note(batch.lineNumbers[refused], "refused by the reducer: \(reason)")
        first = refused + 1
        count = Self.retryCount
      case .failure(let error):
        throw error
      }
      count = min(count, batch.events.count - first)
      if count == 0 { return }
      outcome = await Self.dispatch(Array(batch.events[first..<(first + count)]), to: store)
    }
  }

  private func keep(_ events: ArraySlice<AnnotatedEvent<R.Event>>) async throws {
    if events.isEmpty { return }
    let receipt = try await store.dispatch(contentsOf: Array(events))
    importedCount += receipt.count
    try committed(receipt.index, importedCount)
  }

  private func note(_ number: Int, _ reason: String) {
    invalid.count += 1
    if invalid.first.count < listedCountMax {
      invalid.first.append(InvalidLine(number: number, reason: reason))
    }
  }

  private func failure(_ number: Int, _ reason: String) -> ToolError {
    ToolError(
      .badData,
      "line \(number): \(reason); the lines before it are kept, nothing of it or after it is")
  }
}
