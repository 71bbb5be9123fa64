// `state`: shows the state at an index, or a part of it.

import HindsightCore
import HindsightValue

struct StateCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "state", abstract: "Show the state at an index, or a part of it.",
      discussion: """
        The state after event INDEX (0: the initial state) by the reducer that the store was made \
        for. A part is named by a JSON Pointer, such as /balances/alice. Large values are cut; \
        --full, --json and --raw never cut.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "The index, and a JSON Pointer (default: HEAD, and the whole state).")
  var place: [String] = []
  @Flag(help: "Print one line of JSON.") var json = false
  @Flag(help: "Print a text as it is, without quotes and newline.") var raw = false
  @Flag(help: "Print large values whole.") var full = false

  init() {}

  func validate() throws {
    _ = try parsedPlace()
    if json && raw { throw ValidationError("--json and --raw exclude each other") }
  }

  func run(in tool: ToolContext) async throws -> ExitStatus {
    let (revision, pointer) = try parsedPlace()
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let index = try opened.index(of: revision)
    let state = try await opened.state(at: index, tool.reducers)
    let part: Value
    do { part = try state.value(at: pointer) } catch {
      throw ToolError(.noInput, "the state at index \(index) has no \(pointer): \(error)")
    }
    try write(part, pointer, tool)
    return .success
  }

  /// Index and pointer may each be left out; a pointer begins with a slash, or is empty.
  private func parsedPlace() throws -> (Revision, JSONPointer) {
    func pointer(_ text: String) throws -> JSONPointer {
      do { return try JSONPointer(parsing: text) } catch {
        throw ValidationError("\(quoted(text)) is no JSON Pointer: \(error)")
      }
    }
    switch place.count {
    case 0: return (.head, JSONPointer([]))
    case 1 where place[0].isEmpty || place[0].hasPrefix("/"):
      return (.head, try pointer(place[0]))
    case 1: return (try Revision(parsing: place[0]), JSONPointer([]))
    case 2: return (try Revision(parsing: place[0]), try pointer(place[1]))
    default: throw ValidationError("\(quoted(place[2])) is one argument too many")
    }
  }

  private func write(_ value: Value, _ pointer: JSONPointer, _ tool: ToolContext) throws {
    if raw, case .string(let text) = value { return try tool.output.write(text) }
    if raw {
      throw ToolError(
        .badData, "the value at '\(pointer)' isn't a text: leave --raw out to print it as JSON")
    }
    if json { return try tool.output.writeLine(JSONWriter.tool.string(value)) }
    try tool.output.writeRendering(of: value, isFull: full)
  }
}

extension OutputSink {
  /// Writes a value for a person: indented, and cut where it is large.
  func writeRendering(of value: Value, isFull: Bool) throws {
    let rendering = value.rendering(isFull ? .none : JSONRendering.Limits())
    try writeLine(rendering.text)
    if let note = rendering.note { try writeLine("(\(note); --full prints all)") }
  }
}
