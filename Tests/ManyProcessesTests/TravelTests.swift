// Travelling through real editing histories: beside an import that another process makes, and to
// indexes in any order. The documents at each index are made here from the source, without a store.

import Foundation
import Hindsight
import HindsightTimeTravel
import HindsightValue
import Testing

/// A real history, and the documents that it leads to.
struct EditingTrace: Sendable {
  /// One event a line.
  let lines: [Substring]
  /// The scalars of some documents, by index.
  private(set) var documents: [Int: String] = [:]

  static let corpus = ProcessInfo.processInfo.environment["HINDSIGHT_CORPUS"]

  /// Reads a history of the corpus, its first events only.
  init(_ name: String, count: Int = .max) throws {
    let corpus = try #require(Self.corpus)
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["gzip", "-dc", "\(corpus)/editing/\(name).ndjson.gz"]
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0)
    lines = Array(String(decoding: data, as: UTF8.self).split(separator: "\n").prefix(count))
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

  /// Makes the documents at some indexes, each of them with plain arrays of scalars.
  mutating func makeDocuments(at indexes: Set<Int>) throws {
    var scalars: [Unicode.Scalar] = []
    func text() -> String {
      var view = String.UnicodeScalarView()
      view.append(contentsOf: scalars)
      return String(view)
    }
    let last = indexes.max() ?? 0
    if indexes.contains(0) { documents[0] = "" }
    for (position, line) in lines.prefix(last).enumerated() {
      for splice in try JSONDecoder().decode(Line.self, from: Data(line.utf8)).data.splices {
        scalars.replaceSubrange(
          splice.position..<splice.position + splice.deleted, with: splice.inserted.unicodeScalars)
      }
      if indexes.contains(position + 1) { documents[position + 1] = text() }
    }
  }

  /// Writes the lines to a file.
  func write(to path: String) throws {
    let text = lines.joined(separator: "\n") + "\n"
    try text.write(toFile: path, atomically: false, encoding: .utf8)
  }
}

/// The command line, run as a process.
enum Tool {
  struct Outcome {
    let status: Int32
    let output: String
  }

  /// The one that `HINDSIGHT_RELEASE_TOOL` names, or else the one that is built beside the tests.
  static func program() throws -> URL {
    if let path = ProcessInfo.processInfo.environment["HINDSIGHT_RELEASE_TOOL"] {
      return URL(fileURLWithPath: path)
    }
    #if os(Linux)
      let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    #else
      let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
      let tests = bundle?.bundlePath ?? CommandLine.arguments[0]
    #endif
    return URL(fileURLWithPath: tests).deletingLastPathComponent()
      .appendingPathComponent("hindsight")
  }

  static func start(_ arguments: [String], output: Any?) throws -> Process {
    let process = Process()
    process.executableURL = try program()
    process.arguments = arguments
    process.standardOutput = output
    process.standardError = FileHandle.nullDevice
    try process.run()
    return process
  }

  /// Runs it until it ends. Blocks.
  static func run(_ arguments: [String]) throws -> Outcome {
    let pipe = Pipe()
    let process = try start(arguments, output: pipe)
    let data = try pipe.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    return Outcome(
      status: process.terminationStatus, output: String(decoding: data, as: UTF8.self))
  }
}

@Suite(.enabled(if: EditingTrace.corpus != nil, "HINDSIGHT_CORPUS isn't set"))
struct TravelTests {
  private static let environment = ProcessInfo.processInfo.environment
  private static let isFull = environment["HINDSIGHT_RELEASE_TOOL"] != nil

  /// What was seen of a growing store at one moment.
  private struct Sample: Sendable {
    let index: Int
    let document: String
  }

  @Test func `beside an import, other processes see whole prefixes with the right text`()
    async throws
  {
    let directory = try TestDirectory()
    let (sampleCount, headCount) = Self.isFull ? (100, 50) : (30, 15)
    let trace = try EditingTrace(Self.isFull ? "automerge-paper" : "sveltecomponent")
    let file = directory.path + "/events.ndjson"
    // The import reads as fast as it is fed: as long as not enough was seen, it isn't at its end.
    #expect(mkfifo(file, 0o600) == 0)
    let importing = try Tool.start(
      ["import", directory.store, file, "--reducer", "text", "--batch", "64"],
      output: FileHandle.nullDevice)
    let feed = Feed(trace.lines, to: file)
    async let feeding: Void = onThread { try feed.run() }
    let samples = try await onThread {
      defer { feed.finish() }
      return try Self.takeSamples(of: directory.store, sampleCount, headCount, feed)
    }
    try await feeding
    try await onThread { importing.waitUntilExit() }
    #expect(importing.terminationStatus == 0)
    #expect(samples.count >= sampleCount)
    let heads = Set(samples.map(\.index))
    #expect(heads.count >= headCount)
    #expect(samples.map(\.index) == samples.map(\.index).sorted(), "the prefixes grow")
    let indexes = heads.union([trace.lines.count])
    let documents = try await onThread {
      var trace = trace
      try trace.makeDocuments(at: indexes)
      return trace.documents
    }
    for sample in samples {
      #expect(documents[sample.index] == sample.document, "at \(sample.index)")
    }
    let end = try await onThread { try Tool.run(["state", directory.store, "--raw"]) }
    #expect(end.output == documents[trace.lines.count])
    try expectSound(directory.store)
    print("travel: \(samples.count) samples of \(heads.count) heads")
  }

  /// Runs the verbs in turn on a store that grows; gives up when the import is through.
  private static func takeSamples(
    of store: String, _ sampleCount: Int, _ headCount: Int, _ feed: Feed
  ) throws -> [Sample] {
    var samples: [Sample] = []
    var heads: Set<Int> = []
    var round = 0
    feed.allowMore()
    // All was fed long before the bound, should the import be too fast to be looked at.
    while samples.count < sampleCount || heads.count < headCount, samples.count < 4 * sampleCount {
      let log = try Tool.run(["log", store, "--json", "-n", "1"])
      // The import's process hasn't made the store yet.
      if log.status == 66, samples.isEmpty, round < 10_000 {
        round += 1
        continue
      }
      #expect(log.status == 0)
      let line = Data(log.output.utf8)
      if line.isEmpty { continue }
      let index = try JSONDecoder().decode(Entry.self, from: line).index
      let state = try Tool.run(["state", store, "\(index)", "--raw"])
      #expect(state.status == 0)
      samples.append(Sample(index: index, document: state.output))
      feed.allowMore()
      heads.insert(index)
      if samples.count % 5 == 0 {
        #expect(try Tool.run(["verify", store]).status == 0)
      } else if samples.count % 5 == 1 {
        let first = max(0, index - 1)
        let diff = try Tool.run(["diff", store, "\(first)..\(index)", "--exit-code"])
        #expect(diff.status == 0 || diff.status == 1)
        let none = try Tool.run(["diff", store, "\(index)..\(index)", "--exit-code"])
        #expect(none.status == 0)
      }
    }
    return samples
  }

  private struct Entry: Decodable { let index: Int }

  @Test func `the state at a random index is that of a replay from nothing, byte for byte`()
    async throws
  {
    let directory = try TestDirectory()
    let path = directory.store
    let trace = try EditingTrace("sveltecomponent", count: Self.isFull ? .max : 6_000)
    let store = try await Store(
      Notebook(), at: path, options: StoreOptions(snapshotPolicy: .every(701)))
    for start in stride(from: 0, to: trace.lines.count, by: 100) {
      try await store.dispatch(
        contentsOf: trace.lines[start..<min(start + 100, trace.lines.count)].map { String($0) })
    }
    try await store.close()
    let seed = Self.environment["HINDSIGHT_SEED"].flatMap { UInt64($0) } ?? .random(in: 0 ... .max)
    print("random indexes: HINDSIGHT_SEED=\(seed)")
    var generator = SeededGenerator(seed: seed)
    let indexes = (0..<(Self.isFull ? 1_000 : 100)).map { _ in
      EventIndex.random(in: 0...EventIndex(trace.lines.count), using: &generator)
    }
    let timeline = try Timeline(Notebook(), at: path)
    var found: [EventIndex: [UInt8]] = [:]
    for index in indexes {
      let bytes = try CBOREncoder().encode(try await timeline.state(at: index))
      // Whatever was asked before.
      if let before = found.updateValue(bytes, forKey: index) { #expect(before == bytes) }
    }
    try timeline.close()
    var state = Notebook().initialState
    if let bytes = found.removeValue(forKey: 0) {
      #expect(try CBOREncoder().encode(state) == bytes)
    }
    for (position, line) in trace.lines.enumerated() {
      Notebook().reduce(into: &state, String(line))
      guard let bytes = found.removeValue(forKey: EventIndex(position + 1)) else { continue }
      #expect(try CBOREncoder().encode(state) == bytes, "at \(position + 1)")
    }
    #expect(found.isEmpty)
    try expectSound(path)
  }
}

/// Keeps the last lines that were written, and what all of them were.
struct Notebook: Reducer {
  struct State: Codable, Sendable, Equatable {
    var lines: [String] = []
    var sizes: [Int: Int] = [:]
    var hash: UInt64 = 0
  }

  var initialState: State { State() }

  func reduce(into state: inout State, _ event: String) {
    state.lines.append(event)
    if state.lines.count > 20 { state.lines.removeFirst() }
    state.sizes[event.utf8.count, default: 0] += 1
    for byte in event.utf8 { state.hash = (state.hash ^ UInt64(byte)) &* 0x100_0000_01b3 }
  }
}

/// SplitMix64: the same numbers for the same seed, everywhere.
struct SeededGenerator: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed }

  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var z = state
    z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
    z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
    return z ^ (z >> 31)
  }
}

/// Feeds lines to a process, a part of them for each look at what became of them.
private final class Feed: @unchecked Sendable {  // All but constants under the lock.
  private let lines: [Substring]
  private let path: String
  private let condition = NSCondition()
  private var allowance = 0
  private var isFinishing = false

  /// So many lines are fed for each look.
  private var step: Int { max(lines.count / 200, 64) }

  init(_ lines: [Substring], to path: String) {
    self.lines = lines
    self.path = path
  }

  func allowMore() {
    condition.withLock {
      allowance += step
      condition.signal()
    }
  }

  /// Feeds all that is left.
  func finish() {
    condition.withLock {
      isFinishing = true
      condition.signal()
    }
  }

  /// Feeds everything. Blocks.
  func run() throws {
    let file = try FileHandle(forWritingTo: URL(fileURLWithPath: path))
    var next = 0
    while next < lines.count {
      let end = condition.withLock {
        while allowance <= next, !isFinishing { condition.wait() }
        return isFinishing ? lines.count : min(allowance, lines.count)
      }
      try file.write(
        contentsOf: Data((lines[next..<end].joined(separator: "\n") + "\n").utf8))
      next = end
    }
    try file.close()
  }
}
