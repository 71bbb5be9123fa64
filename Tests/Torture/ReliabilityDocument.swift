// Puts the counts of a run into a document, between two marks.
// It always holds: what stands outside of the marks is left as it was.

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

  /// Replaces the counts.
  func write(_ results: [FaultResult], _ request: TortureRequest) throws {
    let text = try String(contentsOfFile: path, encoding: .utf8)
    guard let begin = text.range(of: Self.begin), let end = text.range(of: Self.end),
      begin.upperBound <= end.lowerBound
    else { throw NoMarks() }
    let counts = try table(results, request)
    let new =
      text[..<begin.upperBound] + "\n\n" + counts + "\n" + text[end.lowerBound...]
    try String(new).write(toFile: path, atomically: true, encoding: .utf8)
  }

  private func table(_ results: [FaultResult], _ request: TortureRequest) throws -> String {
    var lines = [
      "`./Tools/torture --\(request.size.rawValue) --seed \(request.seed)`, commit "
        + "\(try commit()), \(date()):",
      "",
      "| kind | what is done | tried | survived | refused | lost | crashed | of which |",
      "|---|---|---:|---:|---:|---:|---:|---|",
    ]
    for result in results {
      let report = result.report
      var details = report.details
      if let reason = report.skipped { details.append("skipped: \(reason)") }
      let counts = [
        report.triedCount, report.survivedCount, report.refusedCount, report.lostCount,
        report.crashedCount,
      ].map(String.init).joined(separator: " | ")
      lines.append(
        "| `\(result.name)` | \(result.summary) | \(counts) | \(details.joined(separator: ", ")) |")
    }
    return lines.joined(separator: "\n") + "\n"
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
