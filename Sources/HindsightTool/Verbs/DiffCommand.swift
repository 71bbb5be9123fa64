// `diff`: shows what changed between two states, by place.

import HindsightCore
import HindsightLog
import HindsightTimeTravel
import HindsightValue

struct DiffCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "diff", abstract: "Show what changed between the states at two indexes.",
      discussion: """
        Each line is a place (a JSON Pointer): ~ for a value that was replaced, + for one that \
        was added, - for one that was removed. A single index is compared with the one before it.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "Two indexes, as 40..42 (default: HEAD~1..HEAD).") var range: String?
  @Flag(help: "Print one JSON document.") var json = false
  @Flag(help: "Print a JSON Patch (RFC 6902) that makes the second state of the first.")
  var jsonPatch = false
  @Flag(help: "Exit with 1 where the states differ.") var exitCode = false
  @Flag(help: "Print large values whole.") var full = false

  init() {}

  func validate() throws {
    _ = try parsedRange()
    if json && jsonPatch { throw ValidationError("--json and --json-patch exclude each other") }
  }

  func run(in tool: ToolContext) async throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let (first, second) = try parsedRange()
    let from = try opened.index(of: first)
    let to = try opened.index(of: second)
    let difference = try await opened.difference(from: from, to: to, tool.reducers)
    if jsonPatch {
      try tool.output.writeLine(JSONWriter().string(difference.patch.value))
    } else if json {
      try tool.output.writeLine(JSONWriter.tool.string(difference.json))
    } else {
      try ChangeLines(isFull: full).write(difference.changes, to: tool.output)
    }
    return exitCode && !difference.changes.isEmpty ? .finding : .success
  }

  /// A single index is compared with the one before it.
  private func parsedRange() throws -> (Revision, Revision) {
    guard let range else { return (Revision(.head, back: 1), .head) }
    if range.contains("..") {
      let parsed = try RevisionRange(parsing: range)
      return (parsed.after, parsed.through)
    }
    let revision = try Revision(parsing: range)
    return (Revision(revision.base, back: revision.back + 1), revision)
  }
}

extension InspectedStore {
  /// What changed between two states, by the reducer that the store was made for.
  func difference(
    from: EventIndex, to: EventIndex, _ reducers: any ReducerSource
  ) async throws -> StateDifference {
    func difference<R: Reducer>(_ reducer: R) async throws -> StateDifference {
      let timeline = try Timeline(reducer, log: log, snapshots: snapshots)
      return try await timeline.diff(from: from, to: to)
    }
    return try await difference(reducers.reducer(named: log.genesis.reducerName))
  }
}

extension StateDifference {
  /// The difference as an object.
  var json: Value {
    var object = ValueMap()
    object["from"] = .unsigned(from)
    object["to"] = .unsigned(to)
    object["changes"] = .array(
      changes.map { change in
        var entry = ValueMap()
        entry["path"] = .string("\(change.pointer)")
        if let old = change.old { entry["old"] = old }
        if let new = change.new { entry["new"] = new }
        return .map(entry)
      })
    return .map(object)
  }
}

/// Lays changes out, one a line.
struct ChangeLines {
  let isFull: Bool
  /// From this many scalars on, of two texts only the part that differs is shown.
  private static let wholeTextScalarCountMax = 60

  func write(_ changes: [ValueChange], to output: OutputSink) throws {
    let terminal = output.terminal
    for change in changes {
      let place = change.pointer.tokens.isEmpty ? "(whole)" : "\(change.pointer)".onOneLine
      switch (change.old, change.new) {
      case (nil, let new?):
        try output.writeLine(terminal.styled("+ \(place)  \(text(new))", .added))
      case (let old?, nil):
        try output.writeLine(terminal.styled("- \(place)  \(text(old))", .removed))
      case (let old?, let new?):
        try output.writeLine("~ \(terminal.styled(place, .strong))  \(replacement(old, new))")
      case (nil, nil): break
      }
    }
  }

  private func text(_ value: Value) -> String {
    let limits = JSONRendering.Limits(stringScalars: 200, elements: 20, sizeBytes: 2_048)
    return value.rendering(isFull ? .none : limits, style: .compact).text
  }

  private func replacement(_ old: Value, _ new: Value) -> String {
    if case .string(let old) = old, case .string(let new) = new, !isFull,
      max(old.unicodeScalars.count, new.unicodeScalars.count) > Self.wholeTextScalarCountMax
    {
      return edit(Array(old.unicodeScalars), Array(new.unicodeScalars))
    }
    return "\(text(old)) → \(text(new))"
  }

  /// The part in which two long texts differ, with the position that it begins at.
  private func edit(_ old: [Unicode.Scalar], _ new: [Unicode.Scalar]) -> String {
    var start = 0
    while start < min(old.count, new.count), old[start] == new[start] { start += 1 }
    var end = 0
    while end < min(old.count, new.count) - start,
      old[old.count - 1 - end] == new[new.count - 1 - end]
    {
      end += 1
    }
    func part(_ scalars: [Unicode.Scalar]) -> String {
      var string = ""
      string.unicodeScalars.append(contentsOf: scalars[start..<(scalars.count - end)])
      return text(.string(string))
    }
    return "at scalar \(start): \(part(old)) → \(part(new))"
  }
}
