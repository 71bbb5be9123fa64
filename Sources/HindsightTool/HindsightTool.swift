// The command line: finds the verb, runs it, and ends the process with its status.

public import HindsightCore

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif
#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// The command line of Hindsight, for an app's own types.
///
/// ```swift
/// @main struct BankTool {
///   static func main() async { await HindsightTool.main(Bank()) }
/// }
/// ```
public enum HindsightTool {
  /// The version of the tool and the library.
  public static let version = "0.1.0"

  /// Runs the command line with an app's reducer, and ends the process.
  public static func main<R: Reducer>(_ reducer: R) async -> Never {
    await run(SingleReducer(reducer: reducer))
  }

  /// Runs the command line with the built-in reducers, and ends the process.
  public static func main() async -> Never {
    await run(BuiltInReducers())
  }

  private static func run(_ reducers: any ReducerSource) async -> Never {
    let environment = ProcessInfo.processInfo.environment
    let tool = ToolContext(
      reducers: reducers, output: .standardOutput(environment: environment),
      errorTerminal: .detect(2, environment: environment))
    let status = await run(Array(CommandLine.arguments.dropFirst()), in: tool)
    exit(status.rawValue)
  }

  private static func run(_ words: [String], in tool: ToolContext) async -> ExitStatus {
    do {
      let command: any ParsableCommand
      do throws(CommandExit) {
        command = try RootCommand.parseAsRoot(words, columns: tool.output.terminal.columns ?? 80)
      } catch {
        return try end(error, tool)
      }
      guard let verb = command as? any ToolCommand else {
        throw ToolError(.software, "the command \(words.first ?? "") can't be run")
      }
      let status = try await verb.run(in: tool)
      do { try tool.output.flush() } catch is OutputClosed {}
      return status
    } catch {
      // What was written before the error comes before it.
      try? tool.output.flush()
      if !(error is OutputClosed) { tool.note("\(RootCommand.name): \(error)") }
      return ExitStatus(for: error)
    }
  }

  private static func end(_ exit: CommandExit, _ tool: ToolContext) throws -> ExitStatus {
    switch exit {
    case .clean(let text):
      try tool.output.write(text)
      try tool.output.flush()
      return .success
    case .usage(let message):
      tool.note(message)
      return .usage
    }
  }
}

/// The tool itself, with its verbs.
struct RootCommand: ParsableCommand {
  /// The name by which the tool was called.
  static var name: String {
    CommandLine.arguments.first?.split(separator: "/").last.map { String($0) } ?? "hindsight"
  }

  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: name,
      abstract: "Looks into event-sourced stores: their events, and the state at any index.",
      discussion: """
        Indexes are written as 42, HEAD, HEAD~3 or @{2026-11-30T12:00:00Z}; ranges as 40..42 (what \
        came after 40, up to and with 42).
        """,
      version: HindsightTool.version,
      subcommands: [
        ImportCommand.self, ExportCommand.self, LogCommand.self, ShowCommand.self,
        StateCommand.self, DiffCommand.self, StatsCommand.self, SnapshotsCommand.self,
        VerifyCommand.self, BackupCommand.self, CompletionsCommand.self, VersionCommand.self,
      ])
  }
}

/// `version`: says which version this is.
struct VersionCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(commandName: "version", abstract: "Print the version.")
  }

  func run(in tool: ToolContext) throws -> ExitStatus {
    try tool.output.writeLine("\(RootCommand.name) \(HindsightTool.version)")
    return .success
  }
}
