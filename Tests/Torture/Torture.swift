// The torture command: breaks stores in every way that it knows, and counts what was lost.
// It always holds: it ends with status 0 only where nothing was lost and nothing crashed.

import CrashHarness
import Foundation

@main struct Torture {
  static func main() async {
    if CommandLine.arguments.dropFirst().first == "worker" { await work() }
    let request: TortureRequest
    do {
      request = try TortureRequest(arguments: Array(CommandLine.arguments.dropFirst()))
    } catch {
      FileHandle.standardError.write(Data("torture: \(error)\n".utf8))
      exit(64)
    }
    say("torture --\(request.size.rawValue) --seed \(request.seed)")
    let isGood = await run(request)
    say(isGood ? "nothing lost, nothing crashed" : "FAILED: see above")
    exit(isGood ? 0 : 1)
  }

  /// Does a part of a fault's work, in a process that the fault has started.
  private static func work() async -> Never {
    let arguments = Array(CommandLine.arguments.dropFirst(2))
    do {
      guard let first = arguments.dropLast().last.flatMap({ Int($0) }),
        let end = arguments.last.flatMap({ Int($0) })
      else { exit(64) }
      switch (arguments[0], arguments.count) {
      case (DamageWorker.name, 8):
        guard let step = Int(arguments[4]), let seed = UInt64(arguments[5]) else { exit(64) }
        let worker = try await DamageWorker(
          sound: arguments[1], copy: arguments[2], file: arguments[3], step: step, seed: seed)
        try await worker.work(first..<end, say: say)
      case (PowerCutJob.name, _):
        guard let job = PowerCutJob(arguments: Array(arguments[1...].dropLast(2))) else { exit(64) }
        try await job.work(first..<end, say: say)
      default: exit(64)
      }
      exit(0)
    } catch {
      FileHandle.standardError.write(Data("torture: \(error)\n".utf8))
      exit(1)
    }
  }

  /// Tries each kind that was asked for; returns whether nothing was lost, and nothing crashed.
  private static func run(_ request: TortureRequest) async -> Bool {
    var isGood = true
    for fault in request.faults {
      let start = ContinuousClock.now
      let report = await report(of: fault, request)
      let result = FaultResult(
        name: fault.name, report: report, duration: ContinuousClock.now - start)
      say(result.line)
      for problem in report.problems { say("  \(problem)") }
      isGood = isGood && report.isGood
      if let file = request.document { write(result, request, to: file) }
    }
    return isGood
  }

  private static func report(
    of fault: any Fault.Type, _ request: TortureRequest
  ) async -> FaultReport {
    let context = FaultContext(size: request.size, seed: request.seed) { text in
      guard isatty(2) == 1 else { return }
      FileHandle.standardError.write(Data("\r\u{1b}[K\(fault.name): \(text)".utf8))
    }
    defer { if isatty(2) == 1 { FileHandle.standardError.write(Data("\r\u{1b}[K".utf8)) } }
    do {
      return try await fault.init().run(context)
    } catch {
      var report = FaultReport()
      report.add(.crashed("the harness failed: \(error)"))
      return report
    }
  }

  /// Writes a kind's counts at once: a run takes hours, and may be ended before its end.
  private static func write(_ result: FaultResult, _ request: TortureRequest, to file: String) {
    do {
      try ReliabilityDocument(path: file).write(result, request)
      say("  written to \(file)")
    } catch {
      FileHandle.standardError.write(Data("torture: \(file): \(error)\n".utf8))
      exit(74)
    }
  }
}

/// What was seen of one kind of fault.
struct FaultResult {
  let name: String
  let report: FaultReport
  let duration: Duration

  /// One line for a person.
  var line: String {
    var line =
      "\(name): \(report.triedCount) tried, \(report.survivedCount) survived, "
      + "\(report.refusedCount) refused, \(report.lostCount) lost, \(report.crashedCount) crashed"
    if !report.details.isEmpty { line += " (\(report.details.joined(separator: ", ")))" }
    line += ", \(duration.components.seconds) s"
    if let reason = report.skipped { line += "; SKIPPED: \(reason)" }
    return line
  }
}

/// Writes a line to standard output at once, also where that is a file that somebody watches.
private func say(_ line: String) {
  FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
