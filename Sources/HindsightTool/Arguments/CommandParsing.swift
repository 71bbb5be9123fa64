// How words become a command: the second part of what stands in for ArgumentParser.
// It always holds: a command is parsed whole or not at all, and each mistake is named in one line
// that says where to read on.

/// Why parsing gave no command: help was asked for, or something is wrong.
package enum CommandExit: Error {
  /// Text for standard output, and success.
  case clean(String)
  /// One line for standard error, and ``ExitStatus/usage``.
  case usage(String)
}

extension ParsableCommand {
  /// The command that the words ask for, this one being the tool itself.
  ///
  /// - Parameter columns: the width that help is laid out for.
  package static func parseAsRoot(
    _ words: [String], columns: Int = 80
  ) throws(CommandExit) -> any ParsableCommand {
    do {
      return try CommandParser(command: Self.self, above: [], columns: columns).parse(words[...])
    } catch {
      throw (error as? CommandExit) ?? .usage("\(error)")
    }
  }
}

/// Follows the words down the tree of commands.
private struct CommandParser {
  let command: any ParsableCommand.Type
  let above: [String]
  let columns: Int

  private var configuration: CommandConfiguration { command.configuration }
  private var path: [String] { above + [configuration.commandName] }
  private var helpText: String {
    HelpText(CommandDescription(of: command, below: above), columns: columns).text
  }

  func parse(_ words: ArraySlice<String>) throws -> any ParsableCommand {
    if configuration.subcommands.isEmpty { return try parseArguments(words) }
    guard let word = words.first, word != "--help", word != "-h" else {
      throw CommandExit.clean(helpText)
    }
    if word == "--version", !configuration.version.isEmpty {
      throw CommandExit.clean(configuration.version + "\n")
    }
    let rest = words.dropFirst()
    if above.isEmpty, word == "help" { return try parse(rest + ["--help"]) }
    let next = configuration.subcommands.first { $0.configuration.commandName == word }
    if let next {
      return try CommandParser(command: next, above: path, columns: columns).parse(rest)
    }
    let names = configuration.subcommands.map { $0.configuration.commandName }
    throw unknown(word.hasPrefix("-") ? "option" : "command", word, among: names)
  }

  private func parseArguments(_ words: ArraySlice<String>) throws -> any ParsableCommand {
    let parsed = command.init()
    do {
      try WordParser(arguments: BoundArgument.all(of: parsed)).parse(words)
      for child in Mirror(reflecting: parsed).children {
        if let group = child.value as? any ArgumentGroup { try group.wrappedValue.validate() }
      }
      try parsed.validate()
      return parsed
    } catch is HelpRequest {
      throw CommandExit.clean(helpText)
    } catch let error as UnknownOption {
      throw unknown("option", error.word, among: error.known)
    } catch {
      throw CommandExit.usage(
        "\(path.joined(separator: " ")): \(error); see '\(helpCommand(path))'")
    }
  }

  private func unknown(_ kind: String, _ word: String, among known: [String]) -> CommandExit {
    var text = "\(path.joined(separator: " ")): there is no \(kind) \(quoted(word))"
    if let nearest = nearest(to: word, among: known) {
      text += "; did you mean \(quoted(nearest))? (see '\(helpCommand(path))')"
    } else {
      text += "; see '\(helpCommand(path))'"
    }
    return .usage(text)
  }
}

/// The words that show the help of the command at a path.
func helpCommand(_ path: [String]) -> String {
  ([path[0], "help"] + path.dropFirst()).joined(separator: " ")
}

private struct HelpRequest: Error {}

private struct UnknownOption: Error {
  let word: String
  let known: [String]
}

/// Deals the words out to the arguments of one command.
private struct WordParser {
  let arguments: [BoundArgument]
  private var given: [Int: [String]] = [:]
  private var positional: [String] = []

  init(arguments: [BoundArgument]) { self.arguments = arguments }

  func parse(_ words: ArraySlice<String>) throws {
    var parser = self
    try parser.collect(words)
    try parser.dealPositional()
    for (index, argument) in arguments.enumerated() {
      if let words = parser.given[index] {
        try argument.set(words)
      } else if !argument.declaration.isOptional {
        throw ValidationError("\(argument.declaration.label) is missing")
      }
    }
  }

  private mutating func collect(_ words: ArraySlice<String>) throws {
    var rest = words
    while let word = rest.popFirst() {
      if word == "--" {
        positional += rest
        return
      }
      if word.hasPrefix("--") {
        try takeLong(word, &rest)
      } else if word.hasPrefix("-"), word != "-" {
        try takeShort(word, &rest)
      } else {
        positional.append(word)
      }
    }
  }

  /// `--name`, `--name VALUE` or `--name=VALUE`.
  private mutating func takeLong(_ word: String, _ rest: inout ArraySlice<String>) throws {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    let name = String(parts[0])
    if name == "--help" { throw HelpRequest() }
    let index = try index(of: name)
    if arguments[index].declaration.kind == .flag {
      guard parts.count == 1 else { throw ValidationError("\(name) takes no value") }
      given[index, default: []].append(name)
    } else if parts.count == 2 {
      given[index, default: []].append(String(parts[1]))
    } else {
      given[index, default: []].append(try value(of: name, &rest))
    }
  }

  /// `-n`, `-n VALUE`, `-nVALUE`, or several flags at once: `-rv`.
  private mutating func takeShort(_ word: String, _ rest: inout ArraySlice<String>) throws {
    var letters = word.dropFirst()
    while let letter = letters.popFirst() {
      let name = "-\(letter)"
      guard let index = arguments.firstIndex(where: { $0.declaration.names.contains(name) }) else {
        if letter == "h" { throw HelpRequest() }
        throw UnknownOption(word: letters.isEmpty ? name : word, known: knownNames)
      }
      if arguments[index].declaration.kind == .flag {
        given[index, default: []].append(name)
        continue
      }
      let attached = letters.first == "=" ? letters.dropFirst() : letters
      given[index, default: []].append(
        attached.isEmpty ? try value(of: name, &rest) : String(attached))
      return
    }
  }

  private var knownNames: [String] { arguments.flatMap(\.declaration.names) + ["--help"] }

  private func index(of name: String) throws -> Int {
    let index = arguments.firstIndex { $0.declaration.names.contains(name) }
    guard let index else { throw UnknownOption(word: name, known: knownNames) }
    return index
  }

  /// The next word, unless that is an option of its own.
  private func value(of name: String, _ rest: inout ArraySlice<String>) throws -> String {
    guard let word = rest.first, !word.hasPrefix("--"), !knownNames.contains(word) else {
      throw ValidationError("\(name) needs a value")
    }
    rest.removeFirst()
    return word
  }

  private mutating func dealPositional() throws {
    var rest = positional[...]
    for (index, argument) in arguments.enumerated() where argument.declaration.kind == .positional {
      guard !rest.isEmpty else { return }
      given[index] = argument.declaration.isRepeating ? Array(rest) : [rest[rest.startIndex]]
      rest = argument.declaration.isRepeating ? [] : rest.dropFirst()
    }
    if let word = rest.first { throw ValidationError("\(quoted(word)) is one argument too many") }
  }
}

/// A declared argument of one command, with the way to set it.
struct BoundArgument {
  let declaration: ArgumentDeclaration
  let set: ([String]) throws -> Void

  init(_ argument: some DeclaredArgument, property: String) {
    var declaration = argument.storage.declaration
    declaration.property = property
    declaration.names = declaration.spelling.names(for: property)
    declaration.valueName =
      declaration.help.valueName ?? hyphenated(property).uppercased()
    self.declaration = declaration
    set = { [declaration] in try argument.storage.set($0, declaration) }
  }

  /// The arguments of a command or group, in the order of declaration.
  static func all(of arguments: any ParsableArguments) -> [BoundArgument] {
    Mirror(reflecting: arguments).children.flatMap { child -> [BoundArgument] in
      if let group = child.value as? any ArgumentGroup { return all(of: group.wrappedValue) }
      guard let argument = child.value as? any DeclaredArgument else { return [] }
      return [BoundArgument(argument, property: String((child.label ?? "").drop { $0 == "_" }))]
    }
  }
}

/// The known word that a mistyped one most likely stands for, if any comes near.
func nearest(to word: String, among known: [String]) -> String? {
  let letters = word.drop { $0 == "-" }.count
  guard letters > 1 else { return nil }
  if letters > 2, let longer = known.first(where: { $0.hasPrefix(word) }) { return longer }
  let ranked = known.map { (distance: editDistance(Array(word), Array($0)), word: $0) }
  guard let best = ranked.min(by: { $0.distance < $1.distance }) else { return nil }
  return best.distance <= max(1, letters / 3) ? best.word : nil
}

/// How many letters have to be inserted, deleted, replaced or swapped with their neighbour.
private func editDistance(_ a: [Character], _ b: [Character]) -> Int {
  var rows = [Array(0...b.count)]
  for i in a.indices {
    var row = [i + 1]
    for j in b.indices {
      var cost = min(rows[i][j + 1] + 1, row[j] + 1, rows[i][j] + (a[i] == b[j] ? 0 : 1))
      if i > 0, j > 0, a[i] == b[j - 1], a[i - 1] == b[j] {
        cost = min(cost, rows[i - 1][j - 1] + 1)
      }
      row.append(cost)
    }
    rows.append(row)
  }
  return rows[a.count][b.count]
}
