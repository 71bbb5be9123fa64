// `show`: shows one event whole.

import HindsightCore
import HindsightLog
import HindsightTimeTravel
import HindsightValue

struct ShowCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "show", abstract: "Show one event whole, and what it changed.",
      discussion: """
        Works for every store: events describe themselves. What the event changed in the state is \
        shown where this tool knows the store's reducer.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(
    help: "The event's index (default: HEAD).", transform: { try Revision(parsing: $0) })
  var index: Revision?
  @Flag(help: "Print one line of JSON.") var json = false
  @Flag(help: "Print large values whole.") var full = false

  init() {}

  func run(in tool: ToolContext) async throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let event = try opened.log.event(at: try opened.index(of: index ?? .head))
    let difference = try await difference(of: event, opened, tool)
    if json {
      var object = try event.json(withIndex: true, withRecordedTime: true)
      if let difference, case .map(var map) = object, case .map(let changes) = difference.json {
        map["changes"] = changes["changes"]
        object = .map(map)
      }
      try tool.output.writeLine(JSONWriter.tool.string(object))
    } else {
      try write(event, tool)
      if let difference {
        try tool.output.writeLine(tool.output.terminal.styled("changed", .faint))
        try ChangeLines(isFull: full).write(difference.changes, to: tool.output)
      }
    }
    return .success
  }

  /// What the event changed; nil where this tool doesn't know the store's reducer.
  private func difference(
    of event: RecordedEvent, _ opened: InspectedStore, _ tool: ToolContext
  ) async throws -> StateDifference? {
    guard tool.reducers.names.contains(opened.log.genesis.reducerName) else { return nil }
    return try await opened.difference(from: event.index - 1, to: event.index, tool.reducers)
  }

  private func write(_ event: RecordedEvent, _ tool: ToolContext) throws {
    let terminal = tool.output.terminal
    let names = event.metadata.json.pairs.compactMap { pair -> String? in
      if case .string(let name) = pair.key { name.onOneLine } else { nil }
    }
    let labelCount = max(9, names.map(\.count).max() ?? 0) + 2
    func field(_ name: String, _ text: String) throws {
      let label = name.padding(to: labelCount)
      try tool.output.writeLine(terminal.styled(label, .faint) + text)
    }
    try field("event", terminal.styled("\(event.index)", .index))
    try field("type", terminal.styled(event.typeName.onOneLine, .eventType))
    if let time = event.metadata.occurredTime { try field("occurred", time.description) }
    try field("recorded", event.recordedTime.description)
    for pair in event.metadata.json.pairs {
      guard case .string(let name) = pair.key else { continue }
      try field(name.onOneLine, pair.value.rendering(.none, style: .compact).text)
    }
    guard let payload = try event.payload() else { return }
    try tool.output.writeRendering(of: payload, isFull: full)
  }
}
