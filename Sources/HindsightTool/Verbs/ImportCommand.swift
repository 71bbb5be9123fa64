// `import`: appends events that come as NDJSON.

import Hindsight
import HindsightCore
import HindsightLog

struct ImportCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "import", abstract: "Append events that are given as NDJSON, one a line.",
      discussion: """
        Each line is {"type": …, "time": …, "data": …, "metadata": …}; time (RFC 3339) becomes the \
        event's occurred time. The store is made where there is none. A line that isn't an event, \
        or that the reducer refuses, stops the import: all lines before it are kept, nothing of \
        it or after it is. Empty lines are passed over.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "The file with the events, or - for standard input.") var file: String
  @Option(help: "The reducer that a new store is for; remembered in the store.")
  var reducer: String?
  @Option(help: "The most lines that become one commit.") var batch = 4_096
  @Flag(help: "Go on after a bad line; count them, and list the first few.")
  var skipInvalid = false
  @Flag(help: "Print the durable head after each commit.") var verbose = false

  init() {}

  func validate() throws {
    if batch < 1 { throw ValidationError("--batch must be at least 1") }
  }

  func run(in tool: ToolContext) async throws -> ExitStatus {
    var lines = try LineReader(path: file)
    let reducer = try tool.reducers.reducer(named: try reducerName(tool))
    return try await run(reducer, &lines, tool)
  }

  /// The name of the store's reducer, or of the one that it is to be made for.
  private func reducerName(_ tool: ToolContext) throws -> String {
    do {
      let opened = try tool.openForReading(store)
      defer { opened.close() }
      let name = opened.log.genesis.reducerName
      guard let reducer, reducer != name else { return name }
      throw ToolError(
        .badData,
        "\(store) belongs to the reducer \(name), not to \(reducer): leave --reducer out")
    } catch let error as HindsightError where error.code == .notAStore {
      // Made now, unless something else is there, which opening it for writing tells.
      if let reducer, !tool.reducers.names.contains(reducer) {
        throw ToolError(
          .usage,
          "this tool has no reducer \(reducer): choose "
            + tool.reducers.names.joined(separator: " or "))
      }
      if let name = reducer ?? tool.reducers.onlyName { return name }
      throw ToolError(
        .usage,
        "there is no store at \(store) yet: say what it is for with --reducer "
          + tool.reducers.names.joined(separator: " or "))
    }
  }

  private func run<R: Reducer>(
    _ reducer: R, _ lines: inout LineReader, _ tool: ToolContext
  ) async throws -> ExitStatus {
    let store = try await Store(reducer, at: store)
    let progress = ProgressLine("importing", terminal: tool.errorTerminal)
    let isVerbose = verbose
    let importer = Importer(store: store, skipsInvalid: skipInvalid, batchCountMax: batch) {
      head, count in
      progress.update(count)
      if isVerbose { try Self.say("durable \(head)", tool.output) }
    }
    let result: Result<Void, any Error>
    do {
      try await importer.run(&lines)
      result = .success(())
    } catch { result = .failure(error) }
    progress.clear()
    report(importer.invalid, tool)
    let closing: Result<Void, any Error>
    do { closing = .success(try await store.close()) } catch { closing = .failure(error) }
    // What stopped the import says more than what closing thought of it.
    try result.get()
    try closing.get()
    try Self.say(
      "imported \(counted(importer.importedCount, "event")); the head is \(store.current.index)",
      tool.output)
    return importer.invalid.count == 0 ? .success : .finding
  }

  /// Writes a line at once. A reader that has gone is no reason to leave events out.
  private static func say(_ line: String, _ output: OutputSink) throws {
    do {
      try output.writeLine(line)
      try output.flush()
    } catch is OutputClosed {}
  }

  private func report(_ invalid: Importer<some Reducer>.InvalidLines, _ tool: ToolContext) {
    for line in invalid.first { tool.note("line \(line.number): \(line.reason)") }
    if invalid.count > invalid.first.count {
      tool.note("… and \(counted(invalid.count - invalid.first.count, "more bad line"))")
    }
    if invalid.count > 0 { tool.note("skipped \(counted(invalid.count, "bad line"))") }
  }
}
