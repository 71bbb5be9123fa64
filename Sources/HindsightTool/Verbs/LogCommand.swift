// `log`: lists events, one a line, newest first.

import HindsightCore
import HindsightLog
import HindsightValue

struct LogCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "log", abstract: "List events, one a line, newest first.",
      discussion: "Works for every store, whatever its reducer: events describe themselves.")
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(
    help: "Which events: 40..42, ..42, HEAD~10.. (default: all).",
    transform: { try RevisionRange(parsing: $0) })
  var range: RevisionRange?
  @Flag(help: "Oldest first.") var reverse = false
  @Option(name: .customLong("type"), help: "Only events of this type; may be repeated.")
  var types: [String] = []
  @Option(
    help: "Only events at or after a time.", transform: { try parsedTime($0) })
  var since: Timestamp?
  @Option(
    help: "Only events at or before a time.", transform: { try parsedTime($0) })
  var until: Timestamp?
  @Option(name: .shortAndLong, help: "At most that many events.") var number: Int?
  @Flag(help: "Oldest first, and go on with each event that comes, until interrupted.")
  var follow = false
  @Flag(help: "Print each event as one line of JSON.") var json = false
  @Flag(help: "Print payloads whole.") var full = false

  init() {}

  func validate() throws {
    if let number, number < 0 { throw ValidationError("--number can't be below 0") }
    if follow, range.map({ $0.through != .head }) ?? false {
      throw ValidationError("--follow goes on from the head: leave the range's end out")
    }
    if follow, until != nil {
      // Times may go backwards: no event says that none will match any more.
      throw ValidationError("--follow has no end but -n: leave --until out")
    }
  }

  func run(in tool: ToolContext) async throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let line = EventLine(
      terminal: tool.output.terminal, indexWidth: String(opened.head).count, isFull: full)
    var count = 0
    func show(_ indexes: ClosedRange<EventIndex>, reversed: Bool) throws {
      guard count != number else { return }
      try opened.log.forEachEvent(in: indexes, reversed: reversed) { event in
        guard matches(event) else { return .next }
        try write(event, line, tool.output)
        count += 1
        return count == number ? .stop : .next
      }
    }
    let indexes = try opened.indexes(of: range ?? .all)
    if let indexes { try show(indexes, reversed: !reverse && !follow) }
    var head = opened.head
    while follow, count != number {
      try tool.output.flush()
      let next = try opened.log.head().index
      if next > head {
        try show((head + 1)...next, reversed: false)
        head = next
      } else {
        try await Task.sleep(for: Self.pollInterval)
      }
    }
    return .success
  }

  /// How long to wait before looking for new commits.
  private static let pollInterval = Duration.milliseconds(50)

  private func write(_ event: RecordedEvent, _ line: EventLine, _ output: OutputSink) throws {
    if json {
      try output.writeLine(
        JSONWriter.tool.string(
          try event.json(withIndex: true, withRecordedTime: true)))
    } else {
      try output.writeLine(try line.text(event))
    }
  }

  private func matches(_ event: RecordedEvent) -> Bool {
    let time = event.metadata.occurredTime ?? event.recordedTime
    if let since, time < since { return false }
    if let until, time > until { return false }
    return types.isEmpty || types.contains(event.typeName)
  }
}

/// A time of the command line.
func parsedTime(_ text: String) throws -> Timestamp {
  guard let time = Timestamp(text) else {
    throw ValidationError("write it as 2026-11-30T12:00:00Z")
  }
  return time
}

/// Lays an event out in one line: index, time, type, payload, metadata.
private struct EventLine {
  let terminal: Terminal
  let indexWidth: Int
  let isFull: Bool
  /// How much of a payload is shown where the line's width isn't given.
  private let payloadCountMax = 100

  func text(_ event: RecordedEvent) throws -> String {
    let index = String(event.index)
    let indent = String(repeating: " ", count: max(0, indexWidth - index.count))
    let time = (event.metadata.occurredTime ?? event.recordedTime).description
    let typeName = event.typeName.onOneLine
    let head = [
      indent + terminal.styled(index, .index), terminal.styled(time, .faint),
      terminal.styled(typeName, .eventType),
    ].joined(separator: "  ")
    let used = indexWidth + time.count + typeName.count + 6
    let room = isFull ? Int.max : max(20, (terminal.columns ?? used + payloadCountMax) - used)
    let rest = try details(event)
    return rest.isEmpty ? head : "\(head)  \(cut(rest, room))"
  }

  private func details(_ event: RecordedEvent) throws -> String {
    var parts: [String] = []
    if let payload = try event.payload() {
      let limits = JSONRendering.Limits(
        stringScalars: payloadCountMax, elements: payloadCountMax, sizeBytes: 1_024)
      parts.append(payload.rendering(isFull ? .none : limits, style: .compact).text)
    }
    let metadata = event.metadata.json
    if !metadata.isEmpty {
      parts.append(Value.map(metadata).rendering(.none, style: .compact).text)
    }
    return parts.joined(separator: "  ")
  }

  private func cut(_ text: String, _ count: Int) -> String {
    guard count != .max, text.count > count else { return text }
    // How much more there is, is said where it is cut.
    func mark(_ shown: Int) -> String { "… (\(text.count - shown) more)" }
    let shown = max(0, count - mark(0).count)
    return text.prefix(shown) + mark(shown)
  }
}
