// `stats`: says what a store holds, and what it takes.

import HindsightCore
import HindsightLog
import HindsightValue

struct StatsCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "stats", abstract: "Say what a store holds, what it takes, and who reads it.")
  }

  @Argument(help: "The store's directory.") var store: String
  @Flag(help: "Print one JSON document.") var json = false

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let count = try StoreCount(opened, terminal: tool.errorTerminal)
    let log = try opened.log.statistics()
    let snapshots = try opened.snapshots.listing()
    if json {
      try tool.output.writeLine(
        JSONWriter.tool.string(document(opened, count, log, snapshots)))
    } else {
      try write(opened, count, log, snapshots, tool.output)
    }
    if log.pinnedCommitCount > Self.pinnedCommitCountMax {
      tool.note(
        "a reader keeps \(log.pinnedCommitCount) commits' pages from being reused, so the file "
          + "grows: find the process that reads \(store) and doesn't go on")
    }
    return .success
  }

  /// From so many commits on that a reader lags behind, it is worth a warning.
  private static let pinnedCommitCountMax: UInt64 = 1_000

  private func write(
    _ opened: InspectedStore, _ count: StoreCount, _ log: LogStatistics,
    _ snapshots: [SnapshotListing], _ output: OutputSink
  ) throws {
    let genesis = opened.log.genesis
    func field(_ name: String, _ text: String) throws {
      try output.writeLine(output.terminal.styled(name.padding(to: 12), .faint) + text)
    }
    try field("store", genesis.storeID)
    try field("reducer", genesis.reducerName)
    try field("created", genesis.creationTime.description)
    try field(
      "events",
      "\(grouped(opened.head)) in \(grouped(count.commitCount)) "
        + "commit\(count.commitCount == 1 ? "" : "s")")
    if let first = count.firstRecordedTime, let last = count.lastRecordedTime {
      try field("recorded", "\(first) to \(last)")
    }
    try field(
      "log", "\(grouped(log.storedSize)) bytes for \(grouped(count.payloadSize)) of payloads")
    let snapshotSize = snapshots.reduce(0) { $0 + $1.storedSize }
    try field("snapshots", "\(snapshots.count) of \(grouped(snapshotSize)) bytes")
    try field("readers", "\(log.readerCount) of \(grouped(log.readerSlotCount)) slots")
    for (name, type) in count.sortedTypes {
      try field("type", "\(grouped(type.count).padding(to: 12))\(name.onOneLine)")
    }
  }

  private func document(
    _ opened: InspectedStore, _ count: StoreCount, _ log: LogStatistics,
    _ snapshots: [SnapshotListing]
  ) -> Value {
    var object = ValueMap()
    object["store"] = .string(opened.log.genesis.storeID)
    object["reducer"] = .string(opened.log.genesis.reducerName)
    object["created"] = .string(opened.log.genesis.creationTime.description)
    object["head"] = .unsigned(opened.head)
    object["commits"] = .unsigned(count.commitCount)
    object["payloadSize"] = .unsigned(count.payloadSize)
    object["logSize"] = .unsigned(log.storedSize)
    object["snapshots"] = .unsigned(UInt64(snapshots.count))
    object["snapshotSize"] = .unsigned(snapshots.reduce(0) { $0 + $1.storedSize })
    object["readers"] = .unsigned(UInt64(log.readerCount))
    object["readerSlots"] = .unsigned(UInt64(log.readerSlotCount))
    object["pinnedCommits"] = .unsigned(log.pinnedCommitCount)
    var types = ValueMap()
    for (name, type) in count.types {
      var entry = ValueMap()
      entry["count"] = .unsigned(type.count)
      entry["payloadSize"] = .unsigned(type.payloadSize)
      types[name] = .map(entry)
    }
    object["types"] = .map(types)
    return .map(object)
  }
}

/// What a store's events are, counted.
private struct StoreCount {
  struct TypeCount {
    var count: UInt64 = 0
    var payloadSize: UInt64 = 0
  }

  private(set) var commitCount: UInt64 = 0
  private(set) var payloadSize: UInt64 = 0
  private(set) var firstRecordedTime: Timestamp?
  private(set) var lastRecordedTime: Timestamp?
  private(set) var types: [String: TypeCount] = [:]

  /// The types, the most frequent first.
  var sortedTypes: [(String, TypeCount)] {
    types.sorted { ($1.value.count, $0.key) < ($0.value.count, $1.key) }.map { ($0.key, $0.value) }
  }

  /// Counts everything. O(n) in the events.
  init(_ opened: InspectedStore, terminal: Terminal) throws {
    guard opened.head > 0 else { return }
    let progress = ProgressLine("counting", terminal: terminal)
    defer { progress.clear() }
    try opened.log.scan(1...opened.head) { commit in
      let types = try commit.eventTypes()
      var counts = [TypeCount](repeating: TypeCount(), count: types.count)
      for position in 0..<commit.eventCount {
        let event = try commit.event(at: position)
        guard event.typeNumber < counts.count else { continue }
        counts[event.typeNumber].count += 1
        counts[event.typeNumber].payloadSize += UInt64(event.payload.byteCount)
      }
      for (type, count) in zip(types, counts) where count.count > 0 {
        self.types[type.name, default: TypeCount()].count += count.count
        self.types[type.name, default: TypeCount()].payloadSize += count.payloadSize
        payloadSize += count.payloadSize
      }
      commitCount += 1
      firstRecordedTime = firstRecordedTime ?? commit.recordedTime
      lastRecordedTime = commit.recordedTime
      progress.update(Int(clamping: commit.lastIndex), of: Int(clamping: opened.head))
      return .next
    }
  }
}
