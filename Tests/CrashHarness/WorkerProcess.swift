// Runs numbered tries in processes of their own, and starts a new one where one died.
// It always holds: whatever a process dies of, its try is counted, and the next begins.

import Foundation

/// Ranges of numbers that several threads take from. Unchecked: the lock guards all of it.
final class Jobs: @unchecked Sendable {
  private let lock = NSLock()
  private let count: Int
  private let size: Int
  private var start = 0

  init(count: Int, size: Int) {
    self.count = count
    self.size = size
  }

  func next() -> Range<Int>? {
    lock.withLock {
      guard start < count else { return nil }
      let range = start..<min(start + size, count)
      start = range.upperBound
      return range
    }
  }

  /// Shares work between two threads, one for each of two processors.
  static func inTwo(
    count: Int, atATime size: Int,
    _ work: @escaping @Sendable (_ number: Int, _ jobs: Jobs) throws -> FaultReport
  ) async throws -> FaultReport {
    let jobs = Jobs(count: count, size: size)
    return try await withThrowingTaskGroup(of: FaultReport.self) { group in
      for number in 0..<2 {
        group.addTask { try await onThread { try work(number, jobs) } }
      }
      return try await group.reduce(into: FaultReport()) { $0.add($1) }
    }
  }
}

/// A part of a fault's work that the torture command does in another process.
struct WorkerProcess: Sendable {
  /// The worker's name and what it is told, before the range.
  let arguments: [String]
  /// What a try of a number does, for who reads of its failure.
  let describe: @Sendable (Int) -> String

  /// Blocks.
  func run(_ range: Range<Int>) throws -> FaultReport {
    var report = FaultReport()
    var next = range.lowerBound
    while next < range.upperBound {
      let child = try ChildProcess(
        ChildProcess.neighbour("torture"),
        ["worker"] + arguments + ["\(next)", "\(range.upperBound)"],
        // What a process dies of is told by its ending; a picture of its memory takes a second.
        environment: ["SWIFT_BACKTRACE": "enable=no"])
      var (lastStep, lastWords) = ("", "")
      do {
        while let line = try child.readLine() {
          let words = line.split(separator: " ", maxSplits: 3).map(String.init)
          guard words.count >= 3, let number = Int(words[1]), ["step", "result"].contains(words[0])
          else {
            lastWords = ", \(line)"
            continue
          }
          if words[0] == "step" { lastStep = words[2] }
          guard words[0] == "result" else { continue }
          report.add(outcome(words, number))
          next = number + 1
          lastStep = ""
        }
      } catch let failure as ChildProcess.Failure {
        // It has been killed for that.
        lastWords = ", \(failure)"
      }
      let ending = child.wait()
      if next == range.upperBound { break }
      guard case .killed(let signal) = ending else {
        throw ChildProcess.Failure(
          description: "the worker ended with \(ending) at \(next)\(lastWords)")
      }
      report.add(.crashed("\(describe(next)): signal \(signal) at \(lastStep)\(lastWords)"))
      report.details.append("1 ended by signal while \(lastStep)")
      next += 1
    }
    return report
  }

  private func outcome(_ words: [String], _ number: Int) -> FaultOutcome {
    let text = "\(describe(number)): \(words.count > 3 ? words[3] : "")"
    switch words[2] {
    case "survived": return .survived
    case "refused": return .refused
    case "lost": return .lost(text)
    default: return .crashed(text)
    }
  }

  /// The line in which a worker tells how a try ended.
  static func line(_ outcome: FaultOutcome, of number: Int) -> String {
    let text =
      switch outcome {
      case .survived: "survived"
      case .refused: "refused"
      case .lost(let text): "lost \(text)"
      case .crashed(let text): "crashed \(text)"
      }
    return "result \(number) \(text.split(separator: "\n").joined(separator: " "))"
  }
}
