// An import that is killed at any moment has lost nothing that it said was durable.

import Foundation
import Testing

@Suite struct KillTests {
  private static let killCount =
    ProcessInfo.processInfo.environment["HINDSIGHT_KILLS"].flatMap { Int($0) } ?? 12
  private static let lineCount = Tool.isRelease ? 40_000 : 8_000
  private static let batch = 40

  /// The lines of an import, in the form that export writes.
  private static let lines: [String] = (0..<lineCount).map { number in
    let letter = String(UnicodeScalar(UInt8(97 + number % 26)))
    let position = number == 0 ? 0 : number * 7_919 % number
    return #"{"data":{"splices":[{"deleted":0,"inserted":"\#(letter)","position":\#(position)}]},"#
      + #""type":"edited"}"#
  }

  @Test func `a killed import keeps all that was durable, and can be gone on with`() async throws {
    var random = SeededGenerator("kills")
    try await withWorkspace { work in
      var store = 0
      for number in 0..<Self.killCount {
        let name = "\(store).hindsight"
        let head = try await Self.head(of: name, in: work)
        let rest = Self.lineCount - head
        // Some die before they have said anything, wherever they are then.
        let lineCount =
          number % 4 == 0 ? 0 : Int.random(in: 0..<(rest / Self.batch), using: &random)
        let spin = Duration.microseconds(
          Int.random(in: 0...(number % 4 == 0 ? 60_000 : 3_000), using: &random))
        let durable = try await Self.importAndKill(name, from: head, lineCount, spin, in: work)
        try await Self.check(name, head: head, durable: durable, in: work)
        // A store that has nearly everything leaves no room for another kill.
        if try await Self.head(of: name, in: work) > Self.lineCount * 3 / 4 {
          try await Self.finish(name, in: work)
          store += 1
        }
      }
      try await Self.finish("\(store).hindsight", in: work)
    }
  }

  /// How many events a store has; 0 where an import didn't come as far as making one.
  private static func head(of store: String, in work: Workspace) async throws -> Int {
    let outcome = try await work.hindsight("stats", store, "--json")
    if outcome.status == 66 { return 0 }
    try #require(outcome.status == 0, "\(outcome)")
    return try #require(try JSON(outcome.output)["head"].integer)
  }

  /// Imports the lines from an index on; kills the import after some of its lines and a while.
  ///
  /// - Returns: the last durable head that it printed.
  private static func importAndKill(
    _ store: String, from head: Int, _ lineCount: Int, _ spin: Duration, in work: Workspace
  ) async throws -> Int? {
    let input = lines[head...].map { $0 + "\n" }.joined()
    try work.write(input, to: "rest")
    return try await onThread {
      let channel = try Channel()
      let running = try RunningProgram(
        Tool.path(),
        ["import", store, "rest", "--reducer", "text", "--verbose", "--batch", "\(batch)"],
        in: work.path, input: .file("/dev/null"), output: .descriptor(channel.writeEnd),
        error: .file(work.file("error")))
      channel.closeWriteEnd()
      let source = LineSource(channel.readEnd)
      var last: String?
      for _ in 0..<lineCount {
        guard let line = source.next() else { break }
        last = line
      }
      let start = ContinuousClock.now
      while ContinuousClock.now - start < spin {}
      running.kill()
      // What it had said and nobody had read yet counts, too.
      while let line = source.next() { last = line.hasPrefix("durable ") ? line : last }
      return last.flatMap { Int($0.dropFirst("durable ".count)) }
    }
  }

  private static func check(
    _ store: String, head before: Int, durable: Int?, in work: Workspace
  ) async throws {
    let verify = try await work.hindsight("verify", store)
    if durable == nil, before == 0, verify.status == 66 { return }
    #expect(verify.status == 0, "\(verify)")
    let export = try await work.hindsight("export", store)
    #expect(export.status == 0 && export.error.isEmpty)
    let exported = export.output.split(separator: "\n")
    #expect(exported.count >= max(durable ?? 0, before))
    #expect(exported.elementsEqual(lines.prefix(exported.count)) { $0 == $1 })
  }

  /// Imports what is missing, and compares all of it.
  private static func finish(_ store: String, in work: Workspace) async throws {
    let head = try await head(of: store, in: work)
    let input = lines[head...].map { $0 + "\n" }.joined()
    let outcome = try await work.hindsight(
      "import", store, "-", "--reducer", "text", input: input)
    #expect(outcome.status == 0, "\(outcome)")
    let export = try await work.hindsight("export", store)
    #expect(export.output == lines.map { $0 + "\n" }.joined())
  }
}
