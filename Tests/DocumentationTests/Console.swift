// What a page shows of a terminal, done again and compared.
// It always holds: the commands of a page run in one folder and in the page's order.

/// A command with what it prints.
struct Exchange {
  let line: Int
  var command: String
  var output: [String] = []

  /// The commands of a block: `$ ` begins one, `> ` goes on with it, the rest is output.
  static func all(in block: Block) throws -> [Exchange] {
    var exchanges: [Exchange] = []
    for (offset, line) in block.lines.enumerated() {
      if line.hasPrefix("$ ") {
        exchanges.append(Exchange(line: block.line + offset, command: String(line.dropFirst(2))))
        continue
      }
      guard var last = exchanges.popLast() else {
        throw Failure(description: "line \(block.line + offset): output without a command")
      }
      if line.hasPrefix("> "), last.output.isEmpty {
        last.command += "\n" + line.dropFirst(2)
      } else {
        last.output.append(line)
      }
      exchanges.append(last)
    }
    return exchanges
  }
}

/// The terminal of a page.
struct Console {
  let folder: String
  /// The status of the command before, for `echo $?`.
  private var status: Int32 = 0

  init(folder: String) { self.folder = folder }

  /// Does what an exchange shows.
  ///
  /// - Returns: what differs, or nil.
  mutating func difference(_ exchange: Exchange) throws -> String? {
    let outcome = try runProgram(
      "sh", ["-c", "(exit \(status))\n\(exchange.command)"], in: folder, path: folder + "/bin")
    status = outcome.status
    var lines = outcome.output.split(separator: "\n", omittingEmptySubsequences: false)
      .map(String.init)
    if lines.last == "" { lines.removeLast() }
    guard !Self.matches(exchange.output[...], lines[...]) else { return nil }
    return "'\(exchange.command)' prints\n\(lines.joined(separator: "\n"))\nand not\n"
      + exchange.output.joined(separator: "\n")
  }

  /// Whether lines are those of the page: a line `…` stands for any lines, and `…` in a line for
  /// any text.
  static func matches(_ expected: ArraySlice<String>, _ lines: ArraySlice<String>) -> Bool {
    guard let first = expected.first else { return lines.isEmpty }
    if first == "…" {
      return (lines.startIndex...lines.endIndex).contains {
        matches(expected.dropFirst(), lines[$0...])
      }
    }
    guard let line = lines.first, matches(line: first, line) else { return false }
    return matches(expected.dropFirst(), lines.dropFirst())
  }

  private static func matches(line expected: String, _ line: String) -> Bool {
    let parts = masked(expected).split(separator: "…", omittingEmptySubsequences: false)
    var rest = masked(line)[...]
    guard let first = parts.first, rest.hasPrefix(first) else { return false }
    rest = rest.dropFirst(first.count)
    for part in parts.dropFirst().dropLast() {
      guard let found = rest.firstRange(of: part) else { return false }
      rest = rest[found.upperBound...]
    }
    return parts.count == 1 ? rest.isEmpty : rest.hasSuffix(parts[parts.count - 1])
  }

  /// Moments differ from run to run.
  private static func masked(_ line: String) -> String {
    line.replacing(/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3,6}Z/, with: "NOW")
  }
}
