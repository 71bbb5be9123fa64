// What the stand-in for ArgumentParser makes of words, and what it says where they are wrong.
// It always holds: each message is one line and names the command that it is about.

import Testing

@testable import HindsightTool

private enum Shape: String, ExpressibleByArgument, CaseIterable {
  case text
  case mergePatch = "merge-patch"
}

private struct Shared: ParsableArguments {
  @Flag(help: "Writes JSON.") var json = false
  @Option(help: "The colour.", transform: Shared.colour) var color: Int?

  struct NoColour: Error, CustomStringConvertible { let description = "colours are numbers" }

  static func colour(_ word: String) throws -> Int {
    guard let colour = Int(word) else { throw NoColour() }
    return colour
  }

  func validate() throws {
    if json, color != nil { throw ValidationError("--json has no --color") }
  }
}

private struct Log: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "log", abstract: "Shows events, newest first.",
    discussion: "One line an event.\n\nLong values are cut.")

  @Argument(help: "The store's directory.") var store: String
  @Argument(help: "The events to show.") var range: String?
  @Option(name: .shortAndLong, help: ArgumentHelp("How many.", valueName: "COUNT"))
  var limit: Int?
  @Option(help: "A type of event.") var type: [String] = []
  @Option(help: "What it is.") var shape: Shape = .text
  @Flag(name: [.customShort("r"), .long], help: "Shows the oldest first.") var reverse = false
  @Flag(name: .shortAndLong, help: "Says more.") var verbose = false
  @Flag(help: "Lets bad lines pass.") var skipInvalid = false
  @OptionGroup var shared: Shared

  func validate() throws {
    if limit == 0 { throw ValidationError("--limit 0 shows nothing") }
  }
}

private struct Import: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "import", abstract: "Reads events.")
  @Argument var store: String
  @Argument var files: [String] = []
  @Option var reducer: Shape
}

private struct List: ParsableCommand {
  static let configuration = CommandConfiguration(commandName: "list", abstract: "Lists them.")
}

private struct Snapshots: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "snapshots", abstract: "Lists and drops snapshots.", subcommands: [List.self])
}

private struct Root: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "tool", abstract: "Travels in time.", version: "tool 1.2",
    subcommands: [Log.self, Import.self, Snapshots.self])
}

@Suite struct ArgumentParserTests {
  private func log(_ words: String...) throws -> Log {
    try #require(try Root.parseAsRoot(["log"] + words) as? Log)
  }

  private func usage(_ words: String...) -> String? {
    do {
      _ = try Root.parseAsRoot(words)
      return nil
    } catch .usage(let line) {
      #expect(!line.contains("\n"))
      return line
    } catch { return nil }
  }

  private func help(_ words: String..., columns: Int = 80) -> String? {
    do {
      _ = try Root.parseAsRoot(words, columns: columns)
      return nil
    } catch .clean(let text) { return text } catch { return nil }
  }

  @Test func `what is not given has its default`() throws {
    let command = try log("a.hindsight")
    #expect(command.store == "a.hindsight")
    #expect(command.range == nil && command.limit == nil && command.type.isEmpty)
    #expect(command.shape == .text && !command.reverse && !command.skipInvalid)
    #expect(!command.shared.json && command.shared.color == nil)
  }

  @Test func `options may stand anywhere and take their value in each usual form`() throws {
    for words in [
      ["--limit", "5", "s", "1..2"], ["s", "--limit=5", "1..2"], ["s", "1..2", "-l", "5"],
      ["s", "-l5", "1..2"], ["-l=5", "s", "1..2"],
    ] {
      let command = try #require(
        try Root.parseAsRoot(["log"] + words) as? Log)
      #expect(command.limit == 5 && command.store == "s" && command.range == "1..2", "\(words)")
    }
  }

  @Test func `short flags can be joined, and an option's value may follow them`() throws {
    let command = try log("s", "-rvl3", "--skip-invalid")
    #expect(command.reverse && command.verbose && command.skipInvalid && command.limit == 3)
  }

  @Test func `an array collects, and otherwise the last one counts`() throws {
    let command = try log("s", "--type", "a", "--limit", "1", "--type=b", "--limit", "2")
    #expect(command.type == ["a", "b"])
    #expect(command.limit == 2)
  }

  @Test func `a value may be negative, empty or a dash, and after two dashes anything`() throws {
    #expect(try log("s", "--limit", "-3").limit == -3)
    #expect(try log("s", "--type=", "--type", "-").type == ["", "-"])
    #expect(try log("--", "--json", "-r").store == "--json")
    #expect(try log("-", "-r").store == "-")
  }

  @Test func `a group's arguments are the command's own`() throws {
    #expect(try log("s", "--json").shared.json)
    #expect(try log("s", "--color", "7").shared.color == 7)
    #expect(usage("log", "s", "--json", "--color=1")?.contains("--json has no --color") == true)
  }

  @Test func `positional arguments fill up in order, the last may repeat`() throws {
    let command = try Root.parseAsRoot(["import", "s", "a", "-", "b", "--reducer", "merge-patch"])
    let parsed = try #require(command as? Import)
    #expect(parsed.store == "s" && parsed.files == ["a", "-", "b"])
    #expect(parsed.reducer == .mergePatch)
  }

  @Test func `changing a copy leaves the command as it was parsed`() throws {
    let command = try log("s", "--limit", "1")
    var copy = command
    copy.limit = 2
    copy.reverse = true
    #expect(command.limit == 1 && !command.reverse)
    #expect(copy.limit == 2 && copy.reverse)
  }

  @Test func `each mistake is named, with where to read on`() {
    let help = "see 'tool help log'"
    #expect(usage("log") == "tool log: STORE is missing; \(help)")
    #expect(usage("log", "s", "a", "b") == "tool log: 'b' is one argument too many; \(help)")
    #expect(usage("log", "s", "--limit") == "tool log: --limit needs a value; \(help)")
    #expect(usage("log", "s", "--type", "--json") == "tool log: --type needs a value; \(help)")
    #expect(usage("log", "s", "--limit", "x") == "tool log: 'x' can't be --limit; \(help)")
    #expect(
      usage("log", "s", "--shape", "x")
        == "tool log: 'x' can't be --shape: it is one of text, merge-patch; \(help)")
    #expect(
      usage("log", "s", "--color", "x")
        == "tool log: --color: colours are numbers; \(help)")
    #expect(usage("log", "s", "--json=1") == "tool log: --json takes no value; \(help)")
    #expect(usage("log", "s", "--limit", "0") == "tool log: --limit 0 shows nothing; \(help)")
    #expect(usage("import", "s")?.hasPrefix("tool import: --reducer is missing") == true)
  }

  @Test func `a typing error is answered with what was most likely meant`() {
    let readOn = "see 'tool help log'"
    #expect(
      usage("lgo") == "tool: there is no command 'lgo'; did you mean 'log'? (see 'tool help')")
    #expect(
      usage("log", "s", "--revese")
        == "tool log: there is no option '--revese'; did you mean '--reverse'? (\(readOn))"
    )
    #expect(usage("imp")?.contains("did you mean 'import'?") == true)
    #expect(usage("frobnicate")?.contains("did you mean") == false)
    #expect(usage("log", "s", "--xyzzy")?.contains("did you mean") == false)
    #expect(usage("log", "s", "-x") == "tool log: there is no option '-x'; see 'tool help log'")
    #expect(usage("snapshots", "lst")?.contains("did you mean 'list'?") == true)
    #expect(usage("--verison")?.contains("there is no option '--verison'") == true)
    #expect(usage("help", "lgo")?.contains("did you mean 'log'?") == true)
  }

  @Test func `help can be asked for in each usual way`() throws {
    let overall = try #require(help("help"))
    for text in [help(), help("--help"), help("-h")] { #expect(text == overall) }
    let verb = try #require(help("help", "log"))
    for text in [help("log", "--help"), help("log", "-h"), help("log", "s", "-rh")] {
      #expect(text == verb)
    }
    #expect(help("snapshots") == help("help", "snapshots"))
    #expect(help("help", "snapshots", "list")?.hasPrefix("tool snapshots list: Lists") == true)
    #expect(help("--version") == "tool 1.2\n")
  }

  @Test func `the overall help lists the commands`() throws {
    #expect(
      try #require(help("help")) == """
        tool: Travels in time.

        USAGE: tool COMMAND …

        COMMANDS:
          log        Shows events, newest first.
          import     Reads events.
          snapshots  Lists and drops snapshots.

        See 'tool help COMMAND' for one of them.

        """)
  }

  @Test func `a command's help shows each argument, within the width`() throws {
    let text = try #require(help("help", "log", columns: 60))
    #expect(
      text == """
        tool log: Shows events, newest first.

        USAGE: tool log STORE [RANGE] [--limit COUNT] [--type TYPE]
               [--shape SHAPE] [--reverse] [--verbose]
               [--skip-invalid] [--json] [--color COLOR]

        One line an event.

        Long values are cut.

        ARGUMENTS:
          STORE  The store's directory.
          RANGE  The events to show.

        OPTIONS:
          -l, --limit COUNT   How many.
              --type TYPE     A type of event.
              --shape SHAPE   What it is. One of text, merge-patch.
                              (default: text)
          -r, --reverse       Shows the oldest first.
          -v, --verbose       Says more.
              --skip-invalid  Lets bad lines pass.
              --json          Writes JSON.
              --color COLOR   The colour.
          -h, --help          Shows this help.

        """)
    #expect(text.split(separator: "\n").allSatisfy { $0.count <= 60 })
  }

  @Test func `what commands take can be listed, for completion`() {
    let description = CommandDescription(of: Root.self)
    #expect(
      description.subcommands.map(\.path) == [
        ["tool", "log"], ["tool", "import"], ["tool", "snapshots"],
      ])
    let names = description.subcommands[0].arguments.flatMap(\.names)
    #expect(names.contains("--skip-invalid") && names.contains("--json") && names.contains("-l"))
    #expect(description.subcommands[1].arguments[2].allowedValues == ["text", "merge-patch"])
  }
}
