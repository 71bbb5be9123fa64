// Stores that earlier versions wrote, kept as files: every later version opens them.
//
// HINDSIGHT_WRITE_FIXTURE=NAME swift test --filter FixtureTests writes one of this version into
// Tests/HindsightTests/Fixtures/NAME.hindsight; an existing one is never changed.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import Testing

/// Events of every form, with everything that can be recorded beside them.
private struct Diary: Reducer {
  enum Weather: String, Codable, Sendable { case rainy, sunny }

  enum Event: Codable, Sendable {
    case wrote(text: String, mood: Int?)
    case saw(Weather)
    case counted(birds: [String: Int], at: Date)
  }

  struct State: Codable, Sendable, Equatable {
    var texts: [String] = []
    var birds: [String: Int] = [:]
    var weather: [Weather] = []
    var lastTime: Timestamp?
    var tags: Set<String> = []
  }

  var version: UInt64 { 3 }
  var initialState: State { State(texts: ["in the beginning"]) }

  func reduce(into state: inout State, _ event: Event, context: EventContext) {
    state.lastTime = context.time
    state.tags.formUnion(context.metadata.tags)
    switch event {
    case .wrote(let text, _): state.texts.append(text)
    case .saw(let weather): state.weather.append(weather)
    case .counted(let birds, _): state.birds.merge(birds) { $0 + $1 }
    }
  }
}

@Suite struct FixtureTests {
  private static let folder = URL(filePath: #filePath).deletingLastPathComponent()
    .appendingPathComponent("Fixtures")

  private static var names: [String] {
    let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
    return files.filter { $0.hasSuffix(".hindsight") }.sorted()
  }

  /// The states that the fixture's events lead to, index by index.
  private static func write(_ store: Store<Diary>) async throws {
    try await store.dispatch(.wrote(text: "héllo e\u{301} 👩‍👩‍👧", mood: nil))
    try await store.dispatch(
      .saw(.rainy),
      metadata: EventMetadata(
        occurredTime: Timestamp("2026-01-02T03:04:05.678901Z"), tags: ["weather", "day:2"],
        correlationID: "c", causationID: "d", traceparent: "00-1-2-01", idempotencyKey: "k",
        custom: ["deep": .array([.null, .double(1.5), .bytes([1, 2])])]))
    try await store.dispatch(
      contentsOf: (1...40).map { (line: Int) in .wrote(text: "line \(line)", mood: line) })
    try await store.snapshot()
    try await store.transact { state in
      [.counted(birds: ["robin": state.texts.count], at: Date(timeIntervalSince1970: 0.1))]
    }
    try await store.dispatch(.saw(.sunny))
  }

  private func check(_ state: Diary.State) {
    #expect(state.texts.count == 42)
    #expect(state.texts[1].unicodeScalars.elementsEqual("héllo e\u{301} 👩‍👩‍👧".unicodeScalars))
    #expect(state.texts.last == "line 40")
    #expect(state.birds == ["robin": 42])
    #expect(state.weather == [.rainy, .sunny])
    #expect(state.tags == ["weather", "day:2"])
  }

  @Test(arguments: names)
  func `a store of an earlier version opens, with its snapshots and without`(
    name: String
  ) async throws {
    try await withStoreDirectory { path in
      try FileManager.default.copyItem(
        atPath: Self.folder.appendingPathComponent(name).path, toPath: path)
      let store = try await Store(Diary(), at: path)
      #expect(store.recovery.snapshotIndex == 42)
      #expect(store.recovery.ignoredSnapshots.isEmpty)
      #expect(store.current.index == 44)
      check(store.current.state)
      var second: StoredEvent<Diary.Event>?
      for try await event in store.events(from: 2) {
        second = event
        break
      }
      #expect(second?.typeName == "saw")
      #expect(second?.metadata.occurredTime == Timestamp("2026-01-02T03:04:05.678901Z"))
      #expect(second?.metadata.traceparent == "00-1-2-01")
      #expect(second?.metadata.custom["deep"] == .array([.null, .double(1.5), .bytes([1, 2])]))
      let state = store.current.state
      try await store.close()
      try FileManager.default.removeItem(atPath: path + "/snapshots.mdb")
      let timeline = try Timeline(Diary(), at: path)
      #expect(try await timeline.state(at: 44) == state)
      #expect(try await timeline.state(at: 0) == Diary().initialState)
      try timeline.close()
    }
  }

  @Test func `there is a fixture of the first version`() {
    #expect(Self.names.contains("0.1.0.hindsight"))
  }

  @Test(
    .enabled(
      if: ProcessInfo.processInfo.environment["HINDSIGHT_WRITE_FIXTURE"] != nil,
      "writes a fixture only where HINDSIGHT_WRITE_FIXTURE names it"))
  func `a fixture of this version is written where it is asked for`() async throws {
    let name = try #require(ProcessInfo.processInfo.environment["HINDSIGHT_WRITE_FIXTURE"])
    let target = Self.folder.appendingPathComponent(name + ".hindsight")
    try #require(!FileManager.default.fileExists(atPath: target.path))
    try FileManager.default.createDirectory(at: Self.folder, withIntermediateDirectories: true)
    let store = try await Store(
      Diary(), at: target.path, options: StoreOptions(snapshotPolicy: .never))
    try await Self.write(store)
    check(store.current.state)
    try await store.close()
    for lock in ["log.mdb-lock", "snapshots.mdb-lock"] {
      try FileManager.default.removeItem(at: target.appendingPathComponent(lock))
    }
  }
}
