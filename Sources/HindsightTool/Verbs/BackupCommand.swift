// `backup`: copies a store while it is in use.

import HindsightCore
import HindsightLog

struct BackupCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "backup", abstract: "Copy a store's newest state into a new store.",
      discussion: """
        Works beside writers, which go on meanwhile. The copy has all that was durable when it \
        was begun, and is durable itself when this ends; a backup that is interrupted leaves \
        nothing at DEST. Snapshots aren't copied: they are a cache, and made anew.
        """)
  }

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "The new store's directory, which must not be there yet.") var dest: String

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    let opened = try tool.openForReading(store)
    defer { opened.close() }
    let head = try opened.log.backup(to: dest)
    try tool.output.writeLine("copied \(counted(Int(clamping: head), "event")) to \(dest)")
    return .success
  }
}
