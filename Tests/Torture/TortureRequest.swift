// What the torture command is asked to do.

import CrashHarness

/// The command's arguments.
struct TortureRequest {
  private(set) var size = TortureSize.quick
  private(set) var seed = UInt64.random(in: 0 ... .max)
  private(set) var faults = Faults.all
  /// The document that the counts are written into.
  private(set) var document: String?

  struct Usage: Error, CustomStringConvertible {
    let problem: String

    var description: String {
      """
      \(problem)
      usage: torture [--quick | --full] [--seed NUMBER] [--only KIND,…] [--write DOCUMENT]
      \(Faults.all.map { "  \($0.name): \($0.summary)" }.joined(separator: "\n"))
      """
    }
  }

  init(arguments: [String]) throws(Usage) {
    var rest = arguments[...]
    while let argument = rest.popFirst() {
      switch argument {
      case "--quick": size = .quick
      case "--full": size = .full
      case "--seed":
        guard let text = rest.popFirst(), let number = UInt64(text) else {
          throw Usage(problem: "--seed needs a number")
        }
        seed = number
      case "--only":
        let names = rest.popFirst()?.split(separator: ",").map(String.init) ?? []
        for name in names where !Faults.all.contains(where: { $0.name == name }) {
          throw Usage(problem: "there is no kind of fault '\(name)'")
        }
        faults = Faults.all.filter { names.contains($0.name) }
        guard !faults.isEmpty else { throw Usage(problem: "--only needs kinds of fault") }
      case "--write":
        guard let file = rest.popFirst() else { throw Usage(problem: "--write needs a file") }
        document = file
      default: throw Usage(problem: "unknown argument '\(argument)'")
      }
    }
    guard document == nil || size == .full else {
      throw Usage(problem: "--write needs --full: the document has the counts of full runs")
    }
  }
}
