// Travelling through a real editing history in any order: every answer is quick, and the text that
// the edits make without a store.

import Foundation
import Testing

@Suite(.enabled(if: Corpus.folder != nil, "needs the corpus: HINDSIGHT_CORPUS isn't set"))
struct TravelTests {
  /// How many indexes are asked for.
  private static let indexCount = Tool.isRelease ? 1_000 : 20
  /// How long one answer may keep a processor; only the release build is that quick.
  private static let answerTimeMax = Duration.milliseconds(200)

  @Test func `any index is answered at once, and is what replaying from nothing makes of it`()
    async throws
  {
    let name = try #require(Corpus.traces.last)
    var random = SeededGenerator("indexes to travel to")
    try await withWorkspace { work in
      let eventCount = try await Corpus.unpack("editing/\(name)", in: work)
      let importing = try await work.hindsight(
        "import", "a.hindsight", "source", "--reducer", "text")
      try #require(importing.status == 0, "\(importing)")
      let indexes = (0..<Self.indexCount).map { _ in Int.random(in: 0...eventCount, using: &random)
      }
      let texts = try Self.texts(at: Set(indexes), of: work.read("source"))
      let halves = [indexes.prefix(indexes.count / 2), indexes.dropFirst(indexes.count / 2)]
      var times: [Duration] = []
      try await withThrowingTaskGroup(of: [Duration].self) { group in
        for half in halves {
          group.addTask {
            try await onThread {
              try half.map { try Self.visit($0, expecting: texts[$0] ?? [], in: work) }
            }
          }
        }
        for try await some in group { times += some }
      }
      times.sort()
      print(
        "\(times.count) indexes of \(name): median \(times[times.count / 2]), "
          + "longest \(times.last ?? .zero) of a processor's time")
      if Tool.isRelease { #expect(times.last ?? .zero <= Self.answerTimeMax) }
    }
  }

  /// Asks for the state at an index, and returns how much of a processor's time that took. Blocks.
  private static func visit(
    _ index: Int, expecting text: [UInt8], in work: Workspace
  ) throws -> Duration {
    let file = work.file(".state-\(UUID().uuidString)")
    defer { unlink(file) }
    let running = try RunningProgram(
      Tool.path(), ["state", "a.hindsight", "\(index)", "--raw"], in: work.path,
      input: .file("/dev/null"), output: .file(file), error: .file("/dev/null"))
    #expect(running.wait() == 0)
    let bytes = try Data(contentsOf: URL(fileURLWithPath: file))
    #expect(Array(bytes) == text, "the text at \(index)")
    return running.processorTime
  }

  private struct Line: Decodable {
    struct Splice: Decodable {
      let position: Int
      let deleted: Int
      let inserted: String
    }
    struct Edit: Decodable { let splices: [Splice] }
    let data: Edit
  }

  /// The texts at some indexes in UTF-8, made in one go with a plain array of scalars.
  private static func texts(
    at indexes: Set<Int>, of source: [UInt8]
  ) throws -> [Int: [UInt8]] {
    var scalars: [Unicode.Scalar] = []
    var texts: [Int: [UInt8]] = indexes.contains(0) ? [0: []] : [:]
    let decoder = JSONDecoder()
    for (position, line) in source.split(separator: UInt8(ascii: "\n")).enumerated() {
      for splice in try decoder.decode(Line.self, from: Data(line)).data.splices {
        scalars.replaceSubrange(
          splice.position..<splice.position + splice.deleted, with: splice.inserted.unicodeScalars)
      }
      if indexes.contains(position + 1) { texts[position + 1] = scalars.utf8 }
    }
    return texts
  }
}
