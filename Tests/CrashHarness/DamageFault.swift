// Damages every byte of a small store in turn, and cuts its files off at every sector.
// It always holds: whatever a process that looks dies of, its try is counted, and the next begins.

import Foundation
import Hindsight
import HindsightTool

/// Damaged files: flipped bytes and cut-off ends.
package struct DamageFault: Fault {
  package static let name = "damage"
  package static let summary =
    "each byte of a small store's files changed in turn, and each file cut off at every sector"

  package init() {}

  package func run(_ context: FaultContext) async throws -> FaultReport {
    let directory = try TestDirectory(inMemory: true)
    let sound = directory.path + "/sound.hindsight"
    try await Self.makeStore(at: sound)
    var report = FaultReport()
    for file in ["log.mdb", "snapshots.mdb"] {
      report.add(try await Self.damageLibrary(file, of: sound, in: directory.path, context))
      context.progress("\(report.triedCount)")
      report.add(try await Self.damageVerbs(file, of: sound, in: directory.path, context))
      context.progress("\(report.triedCount)")
    }
    let copy = directory.path + "/bits.hindsight"
    report.add(
      try await onThread {
        let bits = try DamageBits(sound: sound, copy: copy)
        return try bits.run(
          allBits: context.size == .full, generator: context.generator("damage bits"))
      })
    report.details = Self.summed(report.details)
    return report
  }

  private static func damages(
    _ file: String, of store: String, step: Int, _ context: FaultContext
  ) throws -> DamageList {
    let bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: "\(store)/\(file)")))
    return DamageList(of: bytes, step: step, seed: context.seed)
  }

  /// Opens, reads and writes damaged copies.
  private static func damageLibrary(
    _ file: String, of sound: String, in directory: String, _ context: FaultContext
  ) async throws -> FaultReport {
    let step = context.count(quick: 61, full: 1)
    let damages = try damages(file, of: sound, step: step, context)
    var report = try await Jobs.inTwo(count: damages.count, atATime: 500) { number, jobs in
      let worker = WorkerProcess(
        arguments: [
          DamageWorker.name, sound, "\(directory)/copy-\(number).hindsight", file, "\(step)",
          "\(context.seed)",
        ],
        describe: { "\(file) \(damages[$0])" })
      var report = FaultReport()
      while let range = jobs.next() { report.add(try worker.run(range)) }
      return report
    }
    report.details.append("\(report.triedCount) of \(file) in the library")
    return report
  }

  /// Asks of damaged copies with every verb.
  private static func damageVerbs(
    _ file: String, of sound: String, in directory: String, _ context: FaultContext
  ) async throws -> FaultReport {
    let damages = try damages(file, of: sound, step: 16, context)
    var generator = context.generator("verbs on \(file)")
    let numbers = (0..<damages.count).shuffled(using: &generator)
      .prefix(context.count(quick: 150, full: 6_000))
    var report = try await Jobs.inTwo(count: numbers.count, atATime: 20) { number, jobs in
      let verbs = try DamageVerbs(
        sound: sound, copy: "\(directory)/asked-\(number).hindsight")
      var report = FaultReport()
      while let range = jobs.next() {
        for place in range { report.add(try verbs.look(file, damages[numbers[place]])) }
      }
      return report
    }
    report.details.append("\(report.triedCount) of \(file) on the command line")
    return report
  }

  /// Joins "3 x" and "4 x" to "7 x".
  private static func summed(_ details: [String]) -> [String] {
    var counts: [(text: String, count: Int)] = []
    for detail in details {
      let words = detail.split(separator: " ", maxSplits: 1).map(String.init)
      guard words.count == 2, let count = Int(words[0]) else { continue }
      if let place = counts.firstIndex(where: { $0.text == words[1] }) {
        counts[place].count += count
      } else {
        counts.append((words[1], count))
      }
    }
    return counts.map { "\($0.count) \($0.text)" }
  }

  /// A store with everything in it: commits of one and of several events, values with pages of
  /// their own, several levels of pages, and snapshots.
  private static func makeStore(at path: String) async throws {
    let store = try await Store(
      MergePatchReducer(), at: path, options: StoreOptions(snapshotPolicy: .never))
    func event(_ number: Int, size: Int) throws -> PatchEvent {
      try PatchEvent(
        recordedTypeName: number.isMultiple(of: 3) ? "changed" : "added",
        key: "key \(number % 7)", value: .string(String(repeating: "x", count: size) + "\(number)"))
    }
    for number in 0..<12 {
      try await store.dispatch(event(number, size: number == 5 ? 9_000 : 10 * number))
      if number == 7 { _ = try await store.snapshot() }
    }
    try await store.dispatch(contentsOf: (12..<20).map { try event($0, size: 700) })
    for number in 20..<24 { try await store.dispatch(event(number, size: 30)) }
    _ = try await store.snapshot()
    try await store.close()
  }
}
