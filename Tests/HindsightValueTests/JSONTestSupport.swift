// Random values and corpus files for the tests of JSON, pointers, patches and text.
// It always holds: what a seed makes doesn't change between runs.

import Foundation
import HindsightValue
import Testing

/// Strings that are easily broken: equal under normalisation, of several scalars a character, or
/// looking like something else.
let awkwardStrings = [
  "", "a", "e\u{301}", "\u{e9}", "👩‍👩‍👧‍👦", "🇩🇪🇫🇷", "\r\n", "\u{0}\u{1f}\u{7f}", "שלום עולם", "\u{202e}abc",
  "\"\\/\u{8}\u{c}\n\r\t", "\u{10ffff}\u{ffff}\u{d7ff}\u{e000}", "$", "$$", "$bytes", "$$bytes",
  "$map",
  "$tagged", "$double", "$undefined", "$simple", "$$map", "AAE=", "NaN", "Infinity", "-Infinity",
  "0", "-",
  "01", "~", "~1", "/", "a/b~c", String(repeating: "long ", count: 20),
]

extension Value {
  /// A random value, of JSON's own kinds only or of all.
  static func random(
    depth: Int, jsonOnly: Bool = false, _ generator: inout SeededGenerator
  ) -> Value {
    let kinds = jsonOnly ? 8 : 14
    switch Int.random(in: depth > 0 ? 0..<kinds : 2..<(jsonOnly ? 8 : 12), using: &generator) {
    case 0:
      return .array(
        (0..<Int.random(in: 0...4, using: &generator)).map { _ in
          random(depth: depth - 1, jsonOnly: jsonOnly, &generator)
        })
    case 1:
      var map = ValueMap()
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        map[.string(randomString(&generator))] =
          random(depth: depth - 1, jsonOnly: jsonOnly, &generator)
      }
      return .map(map)
    case 2: return [.null, .bool(true), .bool(false)].randomElement(using: &generator)!
    case 3: return .unsigned(randomInteger(&generator))
    case 4: return .negative(randomInteger(&generator))
    case 5:
      let double = Double(bitPattern: generator.next())
      return .double(double.isFinite ? double : 0)
    case 6:
      return .double(
        [
          0, -0.0, 1, 5, 1e2, 1e22, 1e23, 0.1, 1e16, .leastNonzeroMagnitude,
          .greatestFiniteMagnitude,
        ]
        .randomElement(using: &generator)!)
    case 7: return .string(randomString(&generator))
    case 8:
      return .bytes(
        (0..<Int.random(in: 0...9, using: &generator)).map { _ in
          UInt8(truncatingIfNeeded: generator.next())
        })
    case 9:
      return [.undefined, .double(.nan), .double(.infinity), .double(-.infinity)].randomElement(
        using: &generator)!
    case 10:
      let number = UInt8.random(in: 0...223, using: &generator)
      return .simple(number < 20 ? number : number + 32)
    case 11:
      let size = Int.random(in: 0...20, using: &generator)
      return .tagged(
        [2, 3].randomElement(using: &generator)!,
        .bytes(
          (0..<size).map { _ in UInt8(truncatingIfNeeded: generator.next() & generator.next()) }))
    case 12: return .tagged(randomInteger(&generator), random(depth: depth - 1, &generator))
    default:
      var map = ValueMap()
      for _ in 0..<Int.random(in: 0...3, using: &generator) {
        map[random(depth: depth - 1, &generator)] = random(depth: depth - 1, &generator)
      }
      return .map(map)
    }
  }

  static func randomString(_ generator: inout SeededGenerator) -> String {
    if generator.chance(80) { return awkwardStrings.randomElement(using: &generator)! }
    return awkwardStrings.randomElement(using: &generator)!
      + awkwardStrings.randomElement(using: &generator)!
  }

  private static func randomInteger(_ generator: inout SeededGenerator) -> UInt64 {
    generator.next() >> UInt64.random(in: 0...63, using: &generator)
  }
}

/// The real data that some tests read.
enum Corpus {
  static let folder = ProcessInfo.processInfo.environment["HINDSIGHT_CORPUS"]

  static var isAvailable: Bool { folder != nil }

  static func bytes(_ name: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: folder ?? "").appending(path: name)))
  }

  /// The lines of a gzipped file.
  static func lines(_ name: String) throws -> [ArraySlice<UInt8>] {
    let path = URL(fileURLWithPath: folder ?? "").appending(path: name).path
    return try run("gzip", ["-dc", path]).split(separator: UInt8(ascii: "\n"))
  }

  /// Runs a tool over some input; its output.
  static func run(_ tool: String, _ arguments: [String], input: [UInt8] = []) throws -> [UInt8] {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = [tool] + arguments
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(input).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    process.standardInput = try FileHandle(forReadingFrom: file)
    let output = Pipe()
    process.standardOutput = output
    try process.run()
    let data = try output.fileHandleForReading.readToEnd() ?? Data()
    process.waitUntilExit()
    try #require(process.terminationStatus == 0, "\(tool) failed")
    return [UInt8](data)
  }
}
