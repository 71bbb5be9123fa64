// Real histories: the states that are known, and the way out and in again.

import Foundation
import Testing

@Suite(
  .enabled(if: Corpus.folder != nil, "needs the corpus: HINDSIGHT_CORPUS isn't set"), .serialized)
struct CorpusTests {
  @Test(arguments: Corpus.traces)
  func `each known state has its length and digest, in any order and without snapshots`(
    trace: String
  ) async throws {
    var random = SeededGenerator("order of asking")
    let known = try Corpus.states(of: trace)
    try await withWorkspace { work in
      let eventCount = try await Corpus.unpack("editing/\(trace)", in: work)
      let importing = try await work.hindsight(
        "import", "a.hindsight", "source", "--reducer", "text")
      #expect(
        importing
          == Outcome(
            status: 0, text: "imported \(eventCount) events; the head is \(eventCount)\n"))
      try await Self.check(known.shuffled(using: &random), in: work)
      for name in ["snapshots.mdb", "snapshots.mdb-lock"] where work.exists("a.hindsight/\(name)") {
        try work.remove("a.hindsight/\(name)")
      }
      try await Self.check(known.shuffled(using: &random), in: work)
      let end = try Data(contentsOf: Corpus.file("editing/\(trace).end.txt"))
      let state = try await work.hindsight("state", "a.hindsight", "--raw")
      #expect(state.bytes == Array(end))
    }
  }

  private static func check(_ known: [Corpus.State], in work: Workspace) async throws {
    for state in known {
      let outcome = try await work.hindsight("state", "a.hindsight", "\(state.index)", "--raw")
      #expect(outcome.status == 0, "\(outcome.error)")
      #expect(outcome.bytes.count == state.sizeBytes, "at index \(state.index)")
      #expect(outcome.output.unicodeScalars.count == state.scalarCount, "at index \(state.index)")
      try work.write(outcome.bytes, to: "state")
      let digest = try await Corpus.digest(of: "state", in: work)
      #expect(digest == state.digest, "at index \(state.index)")
    }
  }

  @Test(
    arguments: Corpus.traces.map { ("editing/\($0)", "text") } + [
      ("webhooks/webhooks", "merge-patch")
    ])
  func `an export equals its source, and importing it again gives equal states`(
    name: String, reducer: String
  ) async throws {
    try await withWorkspace { work in
      let eventCount = try await Corpus.unpack(name, in: work)
      let importing = try await work.hindsight(
        "import", "a.hindsight", "source", "--reducer", reducer)
      try #require(importing.status == 0, "\(importing)")
      let comparing = try await work.shell(
        """
        "$hindsight" export a.hindsight >export && jq -cS . source >source.sorted &&
        jq -cS . export >export.sorted && cmp source.sorted export.sorted
        """)
      #expect(comparing == Outcome(status: 0))
      let again = try await work.hindsight(
        "import", "b.hindsight", "export", "--reducer", reducer)
      try #require(again.status == 0, "\(again)")
      for index in Set([0, 1, eventCount / 3, eventCount / 2, eventCount]) {
        let first = try await work.hindsight("state", "a.hindsight", "\(index)", "--json")
        let second = try await work.hindsight("state", "b.hindsight", "\(index)", "--json")
        #expect(first.status == 0 && first == second, "at index \(index)")
      }
      let exporting = try await work.shell("\"$hindsight\" export b.hindsight | cmp - export")
      #expect(exporting == Outcome(status: 0))
    }
  }
}

/// The folder with real data.
enum Corpus {
  static let folder = ProcessInfo.processInfo.environment["HINDSIGHT_CORPUS"]

  /// The editing traces; the larger one only for the release build, which is quick enough.
  static let traces = Tool.isRelease ? ["sveltecomponent", "automerge-paper"] : ["sveltecomponent"]

  /// What a text is known to be.
  struct State: Sendable {
    let index: Int
    let scalarCount: Int
    let sizeBytes: Int
    let digest: String
  }

  static func file(_ name: String) throws -> URL {
    URL(fileURLWithPath: "\(folder ?? "")/\(name)")
  }

  static func states(of trace: String) throws -> [State] {
    let text = try Data(contentsOf: file("editing/\(trace).expected.json"))
    let states = try JSON(String(decoding: text, as: UTF8.self))["state_at"]
    return try (states.keys ?? []).sorted().map { key in
      let state = states[key]
      guard let index = Int(key), let scalarCount = state["scalars"].integer,
        let sizeBytes = state["utf8_bytes"].integer, let digest = state["sha256"].text
      else { throw Failure(description: "\(trace).expected.json has no state at \(key)") }
      return State(index: index, scalarCount: scalarCount, sizeBytes: sizeBytes, digest: digest)
    }
  }

  /// Unpacks events into `source`, and counts them.
  static func unpack(_ name: String, in work: Workspace) async throws -> Int {
    let packed = try file("\(name).ndjson.gz").path
    let outcome = try await work.shell("gzip -dc '\(packed)' >source && wc -l <source")
    guard outcome.status == 0,
      let count = Int(outcome.output.trimmingCharacters(in: .whitespacesAndNewlines))
    else { throw Failure(description: "\(packed) can't be unpacked: \(outcome.error)") }
    return count
  }

  /// The SHA-256 of a file, by the system's own tool.
  static func digest(of name: String, in work: Workspace) async throws -> String {
    let outcome = try await work.shell("sha256sum <'\(name)' || shasum -a 256 <'\(name)'")
    return String(outcome.output.prefix(64))
  }
}
