// Runs the verbs of the command line on damaged copies of a store.
// It always holds: a verb says what it says of the sound store, or ends with the status of damage;
// what it printed before is the beginning of the right output.

import Foundation

/// The looking verbs, and what they print of a sound store.
struct DamageVerbs: Sendable {
  private let program: String
  private let sound: [String: [UInt8]]
  private let copy: String
  private var answers: [(arguments: [String], output: [UInt8])]

  /// What is asked for; the store's path comes after the first word.
  private static let verbs = [
    ["verify"], ["log", "--json"], ["state", "HEAD", "--json"], ["state", "9", "--full"],
    ["diff", "3..20", "--json"], ["export"], ["show", "6", "--json"], ["snapshots", "list"],
    ["stats"],
  ]
  /// Their output tells of pages, which damage may change without touching what they hold.
  private static let verbsAboutPages: Set<String> = ["stats", "verify", "snapshots"]

  init(sound path: String, copy: String) throws {
    program = try ChildProcess.neighbour("hindsight")
    self.copy = copy
    var sound: [String: [UInt8]] = [:]
    for name in ["log.mdb", "snapshots.mdb"] {
      sound[name] = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(path)/\(name)")))
    }
    self.sound = sound
    answers = []
    try put(file: "log.mdb", nil)
    answers = try Self.verbs.map { verb in
      let (status, output) = try run(verb)
      guard status == 0 else {
        throw ChildProcess.Failure(description: "\(verb) of the sound store: status \(status)")
      }
      return (verb, output)
    }
  }

  private func put(file: String, _ damage: Damage?) throws {
    try? FileManager.default.removeItem(atPath: copy)
    try FileManager.default.createDirectory(atPath: copy, withIntermediateDirectories: true)
    for (name, bytes) in sound {
      let bytes = name == file ? damage?.applied(to: bytes) ?? bytes : bytes
      try Data(bytes).write(to: URL(fileURLWithPath: "\(copy)/\(name)"))
    }
  }

  /// A verb's exit status (128 and the signal's number where it was killed), and its output.
  private func run(_ verb: [String]) throws -> (Int32, [UInt8]) {
    var arguments = verb
    arguments.insert(copy, at: verb[0] == "snapshots" ? 2 : 1)
    let child = try ChildProcess(
      "/bin/sh", ["-c", "exec \"$0\" \"$@\" 2>/dev/null", program] + arguments)
    let output = try child.readAll()
    switch child.wait() {
    case .exited(let status): return (status, output)
    case .killed(let signal): return (128 + signal, output)
    }
  }

  /// Damages a file, and asks with every verb. Blocks.
  func look(_ file: String, _ damage: Damage) throws -> FaultOutcome {
    try put(file: file, damage)
    var isRefused = false
    for (verb, right) in answers {
      let (status, output) = try run(verb)
      let what = "\(file) \(damage): \(verb.joined(separator: " ")) status \(status)"
      switch status {
      case 0 where output == right || Self.verbsAboutPages.contains(verb[0]): continue
      case 0: return .lost("\(what): it prints something else")
      case 1 where verb[0] == "verify": isRefused = true
      case 65, 66:
        // 66 where the damage makes the file none of LMDB's, or a path lead nowhere.
        guard right.starts(with: output) else { return .lost("\(what): it printed what isn't so") }
        if file != "log.mdb", verb[0] != "snapshots", verb[0] != "verify" {
          return .lost("\(what): damaged snapshots stop it")
        }
        isRefused = true
      default: return .crashed(what)
      }
    }
    return isRefused ? .refused : .survived
  }
}
