// Directories, waiting and errors for the tests with several processes.

import Foundation
import Hindsight
import HindsightLMDB
import HindsightLog
import HindsightTimeTravel
import Testing

/// Tests whose processes wait for each other, one after the other.
///
/// Waiting for a process takes one of the few threads that tasks run on: two such tests at a time
/// could leave none to go on with.
@Suite(.serialized) struct InteractingTests {}

/// A new directory, removed when it is released.
final class TestDirectory: Sendable {
  let path: String
  var store: String { path + "/bank.hindsight" }
  var log: String { store + "/log.mdb" }

  init() throws {
    path =
      FileManager.default.temporaryDirectory
      .appendingPathComponent("hindsight-many-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }
}

struct Impatience: Error {}

/// Waits until something is so, for at most a minute; looks often.
func wait(_ isSo: () throws -> Bool) async throws {
  let deadline = ContinuousClock.now + .seconds(60)
  while try !isSo() {
    guard ContinuousClock.now < deadline else { throw Impatience() }
    try await Task.sleep(for: .milliseconds(2))
  }
}

/// Makes a file that other processes wait for, see ``isThere(_:)``.
func announce(_ path: String) throws {
  guard FileManager.default.createFile(atPath: path, contents: nil) else { throw Impatience() }
}

func isThere(_ path: String) -> Bool { access(path, F_OK) == 0 }

/// Expects a ``HindsightError`` of a code, and returns it.
@discardableResult
func expectError<Result>(
  _ code: HindsightError.Code, index: EventIndex? = nil,
  sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Result
) async -> HindsightError? {
  let error = await #expect(throws: HindsightError.self, sourceLocation: sourceLocation) {
    _ = try await body()
  }
  #expect(error?.code == code, "\(String(describing: error))", sourceLocation: sourceLocation)
  if let index {
    #expect(
      error?.index == index, "\(String(describing: error))", sourceLocation: sourceLocation)
  }
  return error
}

/// Expects a store in which nothing is wrong.
func expectSound(_ path: String, sourceLocation: SourceLocation = #_sourceLocation) throws {
  let findings = try LogVerifier(path: path).verify().findings
  #expect(findings.isEmpty, "\(findings)", sourceLocation: sourceLocation)
}

/// The state that all events of a store lead to, made here from nothing, and the events.
func replayed(_ path: String) async throws -> (state: Bank.State, events: [Bank.Event]) {
  let timeline = try Timeline(Bank(), at: path)
  var state = Bank().initialState
  var events: [Bank.Event] = []
  for try await stored in timeline.events() {
    #expect(stored.index == EventIndex(events.count) + 1)
    let event = try #require(stored.event)
    let context = EventContext(index: stored.index, recordedTime: stored.recordedTime)
    Bank().reduce(into: &state, event, context: context)
    events.append(event)
  }
  #expect(EventIndex(events.count) == timeline.head)
  try timeline.close()
  return (state, events)
}

extension StoreOptions {
  static let withoutSnapshots = StoreOptions(snapshotPolicy: .never)
  static let readOnly = StoreOptions(isReadOnly: true)
}

/// Makes a store of so many notes, each a commit of its own.
func makeNotes(at path: String, count: Int, snapshotAt snapshot: Int? = nil) async throws {
  let store = try await Store(Bank(), at: path, options: .withoutSnapshots)
  for step in 1...count {
    try await store.dispatch(.noted(text: "note \(step)", by: 0, step: step))
    if step == snapshot { try await store.snapshot() }
  }
  try await store.close()
}
