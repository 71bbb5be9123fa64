// What a command says of itself: the third part of what stands in for ArgumentParser.
// It always holds: help is laid out from the declarations alone, so that it can't differ from them.

/// A command as help and completion see it.
package struct CommandDescription: Sendable {
  /// The words that lead to it, the tool's own name first.
  package let path: [String]
  package let configuration: CommandConfiguration
  package let arguments: [ArgumentDeclaration]

  package init(of command: any ParsableCommand.Type, below path: [String] = []) {
    configuration = command.configuration
    self.path = path + [configuration.commandName]
    arguments = BoundArgument.all(of: command.init()).map(\.declaration)
  }

  package var subcommands: [CommandDescription] {
    configuration.subcommands.map { CommandDescription(of: $0, below: path) }
  }
}

/// Lays out the help of a command.
struct HelpText {
  let command: CommandDescription
  let columns: Int

  init(_ command: CommandDescription, columns: Int) {
    self.command = command
    self.columns = max(40, columns)
  }

  var text: String {
    let name = command.path.joined(separator: " ")
    var text = wrapped("\(name): \(command.configuration.abstract)", indent: 0)
    text += "\n" + wrapped("USAGE: \(name) \(usage)", indent: 7, first: 0)
    if !command.configuration.discussion.isEmpty {
      let lines = command.configuration.discussion.split(
        separator: "\n", omittingEmptySubsequences: false)
      text += "\n" + lines.map { wrapped(String($0), indent: 0) }.joined()
    }
    let positional = command.arguments.filter { $0.kind == .positional }
    text += section("ARGUMENTS", positional.map { ($0.valueName, detail($0)) })
    let named = command.arguments.filter { $0.kind != .positional }
    if command.configuration.subcommands.isEmpty {
      text += section(
        "OPTIONS", named.map { (heading($0), detail($0)) } + [("-h, --help", "Shows this help.")])
    } else {
      text += section(
        "COMMANDS",
        command.subcommands.map { ($0.configuration.commandName, $0.configuration.abstract) })
      text += "\nSee '\(helpCommand(command.path)) COMMAND' for one of them.\n"
    }
    return text
  }

  private var usage: String {
    if !command.configuration.subcommands.isEmpty { return "COMMAND …" }
    let named = command.arguments.filter { $0.kind != .positional }.map { argument in
      let name = argument.names.last ?? ""
      let word = argument.kind == .flag ? name : "\(name) \(argument.valueName)"
      return argument.isOptional ? "[\(word)]" : word
    }
    let positional = command.arguments.filter { $0.kind == .positional }.map { argument in
      let word = argument.valueName + (argument.isRepeating ? "…" : "")
      return argument.isOptional ? "[\(word)]" : word
    }
    return (positional + named).joined(separator: " ")
  }

  private func heading(_ argument: ArgumentDeclaration) -> String {
    let names = argument.names.joined(separator: ", ")
    let indented = argument.names.first?.hasPrefix("--") == true ? "    " + names : names
    return argument.kind == .flag ? indented : "\(indented) \(argument.valueName)"
  }

  private func detail(_ argument: ArgumentDeclaration) -> String {
    var text = argument.help.abstract
    if !argument.allowedValues.isEmpty {
      text += " One of \(argument.allowedValues.joined(separator: ", "))."
    }
    if let shown = argument.defaultDescription, !shown.isEmpty { text += " (default: \(shown))" }
    return text
  }

  private func section(_ title: String, _ entries: [(name: String, text: String)]) -> String {
    guard !entries.isEmpty else { return "" }
    let width = min(28, (entries.map(\.name.count).max() ?? 0) + 4)
    return entries.reduce("\n\(title):\n") { text, entry in
      let padding = String(repeating: " ", count: max(0, width - 2 - entry.name.count))
      guard entry.name.count + 4 > width else {
        return text + wrapped("  \(entry.name)\(padding)" + entry.text, indent: width, first: 0)
      }
      return text + "  \(entry.name)\n" + wrapped(entry.text, indent: width)
    }
  }

  /// The text in lines of at most `columns`, where words allow it.
  private func wrapped(_ text: String, indent: Int, first: Int? = nil) -> String {
    var lines: [String] = []
    var line = String(repeating: " ", count: first ?? indent)
    var isEmpty = true
    for word in text.split(separator: " ", omittingEmptySubsequences: false) {
      if !isEmpty, line.count + 1 + word.count > columns {
        lines.append(line)
        line = String(repeating: " ", count: indent)
        isEmpty = true
      }
      line += (isEmpty ? "" : " ") + word
      isEmpty = false
    }
    return (lines + [line]).joined(separator: "\n") + "\n"
  }
}
