// `export`: writes events as NDJSON, in the form that `import` reads.

import HindsightCore
import HindsightValue

struct ExportCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "export", abstract: "Write the events as NDJSON, one a line, oldest first.",
      discussion: """
        Each line is {"type": …, "time": …, "data": …, "metadata": …}; time (when the event \
        occurred), data and metadata only where the event has them. Importing the lines gives \
        the same events; commit boundaries and recorded times aren't kept.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(
    help: "Which events: 40..42, ..42, HEAD~10.. (default: all).",
    transform: { try RevisionRange(parsing: $0) })
  var range: RevisionRange?
  @Flag(help: "Add when each event was recorded, as \"recorded\".") var recorded = false

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    guard let indexes = try opened.indexes(of: range ?? .all) else { return .success }
    let progress = ProgressLine("exporting", terminal: tool.errorTerminal)
    defer { progress.clear() }
    let writer = JSONWriter.tool
    var line: [UInt8] = []
    try opened.log.forEachEvent(in: indexes) { event in
      line.removeAll(keepingCapacity: true)
      writer.write(
        try event.json(withIndex: false, withRecordedTime: recorded), to: &line)
      line.append(UInt8(ascii: "\n"))
      try tool.output.write(line)
      progress.update(
        Int(event.index - indexes.lowerBound) + 1, of: indexes.count)
      return .next
    }
    return .success
  }
}
