// `verify`: checks everything that a store holds, in a process of its own.

import HindsightCore
import HindsightLog
import HindsightValue

struct VerifyCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "verify", abstract: "Check every commit, event and snapshot of a store.",
      discussion: """
        Checks the pages, the chain of commits, every record's digest and every event's encoding. \
        The exit status is 1 where damage is found. Works beside a live writer. The check runs in \
        a process of its own, as damaged pages can end it.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Flag(help: "Print one JSON document.") var json = false
  @Flag(help: "Check in this process, which damaged pages can end.") var inProcess = false

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    inProcess ? try check(tool) : try checkInChild(tool)
  }

  private func checkInChild(_ tool: ToolContext) throws -> ExitStatus {
    let options = ["--in-process"] + (json ? ["--json"] : [])
    switch try ChildProcess.runThisTool(["verify"] + options + ["--", store]) {
    case .exited(let status): return ExitStatus(rawValue: status)
    case .killed(let signal):
      let text =
        "the check of \(store) was ended by signal \(signal): the pages of its log or snapshots "
        + "are damaged, or the file is shorter than they say"
      return try write(finding: text, tool)
    }
  }

  private func write(finding: String, _ tool: ToolContext) throws -> ExitStatus {
    let text = json ? JSONWriter.tool.string(document([finding], report: nil)) : finding
    try tool.output.writeLine(text)
    return .finding
  }

  private func check(_ tool: ToolContext) throws -> ExitStatus {
    DamageSignals.endSilently()
    let progress = ProgressLine("verifying", terminal: tool.errorTerminal)
    defer { progress.clear() }
    let report: VerifyReport
    do {
      report = try LogVerifier(path: store).verify(
        checkEvent: { type, metadata, payload in
          Self.fault(type, metadata: metadata, payload: payload)
        },
        progress: { progress.update(Int(clamping: $0)) })
    } catch let error as HindsightError where error.code == .corrupt {
      // What keeps the check from going on is a finding, too.
      progress.clear()
      return try write(finding: "\(error)", tool)
    }
    progress.clear()
    let findings = report.findings.map { "\($0)" }
    if json {
      try tool.output.writeLine(JSONWriter.tool.string(document(findings, report: report)))
    } else {
      for finding in findings { try tool.output.writeLine(finding) }
      let counts =
        "\(counted(report.eventCount, "event")) in \(counted(report.commitCount, "commit")), "
        + counted(report.snapshotCount, "snapshot")
      try tool.output.writeLine(
        findings.isEmpty
          ? "\(store) is sound: \(counts)" : "\(store) is damaged: see above; found \(counts)")
    }
    return findings.isEmpty ? .success : .finding
  }

  private func document(_ findings: [String], report: VerifyReport?) -> Value {
    var object = ValueMap()
    object["findings"] = .array(findings.map { .string($0) })
    if let report {
      object["head"] = .unsigned(report.headIndex)
      object["events"] = .unsigned(report.eventCount)
      object["commits"] = .unsigned(report.commitCount)
      object["snapshots"] = .integer(Int64(report.snapshotCount))
    }
    return .map(object)
  }

  /// What is wrong with an event's encodings, or nil.
  private static func fault(
    _ type: EventType, metadata: RawSpan, payload: RawSpan
  ) -> String? {
    if metadata.byteCount > 0 {
      do { _ = try EventMetadata(record: metadata, occurredTime: nil) } catch {
        return error.message
      }
    }
    if type.form == .bare {
      return payload.byteCount == 0 ? nil : "an event of a bare type has a payload"
    }
    return payload.withUnsafeBytes { bytes in
      do {
        var reader = CBORReader(bytes)
        try reader.skip()
        try reader.finish()
        return nil
      } catch {
        return "the payload of an event of type \(type.name) isn't well-formed: \(error)"
      }
    }
  }
}
