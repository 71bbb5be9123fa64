// Puts the counts of a run into a document, between two marks.
// It always holds: what stands outside of the marks stays as it was, and so do other kinds' counts.

import CrashHarness
import Foundation

/// The document that states what was tried, and how it ended.
struct ReliabilityDocument {
  let path: String

  private static let begin = "<!-- counts: written by the torture command -->"
  private static let end = "<!-- end of counts -->"

  struct NoMarks: Error, CustomStringConvertible {
    var description: String {
      "it has no lines '\(begin)' and '\(end)' to write between"
    }
  }

  /// Puts in the counts of one kind of fault, and leaves those of other kinds as they are.
  func write(_ result: FaultResult, _ request: TortureRequest) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let begin = text.range(of: Self.begin), let end = text.range(of: Self.end),
      begin.upperBound <= end.lowerBound
    else { throw NoMarks() }
    var rows: [String: String] = [:]
    for line in text[begin.upperBound..<end.lowerBound].split(separator: "\n") {
      guard let fault = Faults.all.first(where: { line.hasPrefix(Self.start(ofRow: $0.name)) })
      else { continue }
      rows[fault.name] = String(line)
    }
    rows[result.name] = try row(result, request)
    let table = (Self.head + Faults.all.compactMap { rows[$0.name] }).joined(separator: "\n")
    let new = text[..<begin.upperBound] + "\n\n" + table + "\n\n" + text[end.lowerBound...]
    try String(new).write(toFile: path, atomically: true, encoding: .utf8)
  }

  private static let head = [
    "| kind | tried | survived | refused | lost | crashed | of which | seed, commit, date, time |",
    "|---|---:|---:|---:|---:|---:|---|---|",
  ]

  private static func start(ofRow name: String) -> String { "| `\(name)` |" }

  private func row(_ result: FaultResult, _ request: TortureRequest) throws -> String {
    let report = result.report
    var details = report.details
    if let reason = report.skipped { details.append("skipped: \(reason)") }
    let counts = [
      report.triedCount, report.survivedCount, report.refusedCount, report.lostCount,
      report.crashedCount,
    ].map { $0.formatted(.number.locale(Locale(identifier: "en_US"))) }
    let cells =
      counts + [
        details.joined(separator: ", "),
        "\(request.seed), \(try commit()), \(date()), \(result.duration.components.seconds) s",
      ]
    return Self.start(ofRow: result.name) + " " + cells.joined(separator: " | ") + " |"
  }

  private func date() -> String {
    Date.now.formatted(.iso8601.year().month().day())
  }

  /// The commit that is checked out where the document is, marked where more than that was built.
  private func commit() throws -> String {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    func git(_ arguments: String...) throws -> String {
      let process = Process()
      process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
      process.arguments = ["git", "-C", folder] + arguments
      let output = Pipe()
      process.standardOutput = output
      try process.run()
      let data = output.fileHandleForReading.readDataToEndOfFile()
      process.waitUntilExit()
      return String(decoding: data, as: UTF8.self)
        .trimmingCharacters(in: .whitespacesAndNewlines)
    }
    let hash = try git("rev-parse", "--short=12", "HEAD")
    let changes = try git("status", "--porcelain", "--", ":/Sources", ":/Tests", ":/Package.swift")
    return changes.isEmpty ? hash : hash + " with changes"
  }
}
