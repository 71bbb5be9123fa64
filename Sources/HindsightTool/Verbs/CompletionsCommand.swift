// `completions`: writes what a shell needs to complete this tool's command lines.
// It always holds: the words come from the commands' declarations, so that none is forgotten.

/// The shells that completions can be written for.
enum Shell: String, CaseIterable, ExpressibleByArgument, Sendable {
  case bash
  case zsh
  case fish
}

struct CompletionsCommand: ToolCommand {
  static var configuration: CommandConfiguration {
    CommandConfiguration(
      commandName: "completions", abstract: "Print the completions for a shell.",
      discussion: """
        bash: source <(hindsight completions bash). zsh: write them to a file _hindsight in a \
        folder of fpath. fish: write them to ~/.config/fish/completions/hindsight.fish.
        """)
  }

  @Argument(help: "The shell.") var shell: Shell

  init() {}

  func run(in tool: ToolContext) throws -> ExitStatus {
    let root = CommandDescription(of: RootCommand.self)
    let writer = CompletionWriter(name: RootCommand.name, root: root)
    switch shell {
    case .bash: try tool.output.write(writer.bash)
    case .zsh: try tool.output.write(writer.zsh)
    case .fish: try tool.output.write(writer.fish)
    }
    return .success
  }
}

/// Lays completions out for the shells.
private struct CompletionWriter {
  let name: String
  let root: CommandDescription

  /// Each command that has arguments, with the words that lead to it.
  private var leaves: [(words: [String], command: CommandDescription)] {
    root.subcommands.flatMap { verb -> [(words: [String], command: CommandDescription)] in
      let verbName = verb.configuration.commandName
      if verb.subcommands.isEmpty { return [([verbName], verb)] }
      return verb.subcommands.map { ([verbName, $0.configuration.commandName], $0) }
    }
  }

  private func names(_ commands: [CommandDescription]) -> String {
    commands.map(\.configuration.commandName).joined(separator: " ")
  }

  private func options(_ command: CommandDescription) -> String {
    (command.arguments.flatMap(\.names) + ["--help"]).joined(separator: " ")
  }

  private var identifier: String {
    String(name.map { $0.isLetter || $0.isNumber ? $0 : "_" })
  }

  var bash: String {
    var cases = ""
    for verb in root.subcommands where !verb.subcommands.isEmpty {
      let word = verb.configuration.commandName
      cases += "    \(word)) words=\"\(names(verb.subcommands))\" ;;\n"
    }
    for (words, command) in leaves {
      cases += "    \"\(words.joined(separator: " "))\"*) words=\"\(options(command))\" ;;\n"
    }
    return """
      _\(identifier)() {
        local current="${COMP_WORDS[COMP_CWORD]}" words=""
        local before="${COMP_WORDS[*]:1:COMP_CWORD-1}"
        case "$before" in
          "") words="\(names(root.subcommands)) help" ;;
          help) words="\(names(root.subcommands))" ;;
      \(cases)  esac
        if [[ "$current" == -* || "$before" != *" "* && "$words" != -* ]]; then
          COMPREPLY=($(compgen -W "$words" -- "$current"))
        fi
        [[ ${#COMPREPLY[@]} -gt 0 ]] || COMPREPLY=($(compgen -f -- "$current"))
      }
      complete -o filenames -F _\(identifier) \(name)

      """
  }

  var zsh: String {
    func described(_ commands: [CommandDescription]) -> String {
      commands.map { command in
        let text = command.configuration.abstract.replacing("'", with: "")
        return "'\(command.configuration.commandName):\(text.replacing(":", with: " "))'"
      }.joined(separator: " ")
    }
    var cases = ""
    for verb in root.subcommands where !verb.subcommands.isEmpty {
      let word = verb.configuration.commandName
      cases += "    \"\(word)\") list=(\(described(verb.subcommands))); _describe command list ;;\n"
    }
    for (words, command) in leaves {
      cases += "    \"\(words.joined(separator: " "))\"*) "
      cases += "compadd -- \(options(command)); _files ;;\n"
    }
    return """
      #compdef \(name)
      _\(identifier)() {
        local -a list
        case "${(j: :)words[2,CURRENT-1]}" in
          "") list=(\(described(root.subcommands))); _describe command list ;;
      \(cases)  esac
      }
      _\(identifier) "$@"

      """
  }

  var fish: String {
    func quoted(_ text: String) -> String { "'\(text.replacing("'", with: "\\'"))'" }
    var lines: [String] = []
    for verb in root.subcommands {
      lines.append(
        "complete -c \(name) -n __fish_use_subcommand -a \(verb.configuration.commandName) "
          + "-d \(quoted(verb.configuration.abstract))")
      for command in verb.subcommands {
        lines.append(
          "complete -c \(name) -n '__fish_seen_subcommand_from \(verb.configuration.commandName)' "
            + "-a \(command.configuration.commandName) "
            + "-d \(quoted(command.configuration.abstract))")
      }
    }
    for (words, command) in leaves {
      for argument in command.arguments {
        for option in argument.names {
          let spelling =
            option.hasPrefix("--") ? "-l \(option.dropFirst(2))" : "-s \(option.dropFirst())"
          lines.append(
            "complete -c \(name) -n '__fish_seen_subcommand_from \(words[words.count - 1])' "
              + "\(spelling) -d \(quoted(argument.help.abstract))")
        }
      }
    }
    return lines.joined(separator: "\n") + "\n"
  }
}
