// `snapshots`: lists and drops snapshots, which are a cache.

import HindsightCore
import HindsightLog
import HindsightValue

struct SnapshotsCommand: ParsableCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "snapshots", abstract: "List or drop snapshots.",
      discussion: "Snapshots are a cache of states: dropping them costs time, and loses nothing.",
      subcommands: [ListSnapshotsCommand.self, DropSnapshotsCommand.self])
  }
}

struct ListSnapshotsCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "list", abstract: "List the snapshots, and whether they fit the log.")
  }

  @Argument(help: "The store's directory.") var store: String
  @Flag(help: "Print each snapshot as one line of JSON.") var json = false

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    if let failure = opened.snapshots.failure { throw failure }
    for snapshot in try opened.snapshots.listing() {
      let state = try status(of: snapshot, opened)
      if json {
        try tool.output.writeLine(JSONWriter.tool.string(object(snapshot, state)))
      } else {
        let name = "\(snapshot.reducerName) \(snapshot.reducerVersion)"
        try tool.output.writeLine(
          "\(snapshot.index)".padding(to: 12) + name.padding(to: 20)
            + "\(grouped(snapshot.storedSize)) bytes".padding(to: 20) + state)
      }
    }
    return .success
  }

  private func status(of snapshot: SnapshotListing, _ opened: InspectedStore) throws -> String {
    guard let digest = snapshot.commitDigest else { return "damaged" }
    guard snapshot.index <= opened.head else { return "ahead of the log" }
    return try opened.log.digest(at: snapshot.index) == digest ? "usable" : "of another history"
  }

  private func object(_ snapshot: SnapshotListing, _ status: String) -> Value {
    var object = ValueMap()
    object["index"] = .unsigned(snapshot.index)
    object["reducer"] = .string(snapshot.reducerName)
    object["version"] = .unsigned(snapshot.reducerVersion)
    if let size = snapshot.stateSize { object["stateSize"] = .unsigned(size) }
    object["storedSize"] = .unsigned(snapshot.storedSize)
    object["status"] = .string(status)
    return .map(object)
  }
}

struct DropSnapshotsCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "drop", abstract: "Drop all snapshots, or those at some indexes.")
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "The indexes whose snapshots are dropped (default: all).")
  var indexes: [String] = []

  init() {}

  func validate() throws { _ = try indexes.map { try Revision(parsing: $0) } }

  func run(in tool: ToolContext) throws -> ExitStatus {
    let indexes = try wantedIndexes(tool)
    let storage = LMDBSnapshotStorage.open(
      path: store, options: LMDBLog.Options(access: .readWrite(createIfMissing: false)))
    defer { storage.close() }
    if let failure = storage.failure { throw failure }
    var count = 0
    for snapshot in try storage.listing() {
      guard indexes.isEmpty || indexes.contains(snapshot.index) else { continue }
      try storage.remove(
        reducerName: snapshot.reducerName, reducerVersion: snapshot.reducerVersion,
        index: snapshot.index)
      count += 1
    }
    try tool.output.writeLine("dropped \(counted(count, "snapshot"))")
    return .success
  }

  /// Opens the store for reading, so that what isn't one isn't written to, and closes it again, as
  /// one process can't have it open in two ways.
  private func wantedIndexes(_ tool: ToolContext) throws -> [EventIndex] {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    return try indexes.map { try opened.index(of: Revision(parsing: $0)) }
  }
}
