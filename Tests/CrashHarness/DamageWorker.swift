// Looks at damaged copies of a store in a process of its own, which a damaged page may end.
// It always holds: what it is about to do is written before it is done.

import Foundation
import Hindsight
import HindsightLog
import HindsightTimeTravel
import HindsightTool

/// Does damages to a file of a sound store, one after the other, and tells what came of each.
package struct DamageWorker {
  package static let name = "damage"

  private let sound: URL
  private let copy: URL
  private let file: String
  private let damages: DamageList
  private let soundBytes: [String: [UInt8]]
  private let truth: DamageTruth

  /// - Parameters:
  ///   - sound: the path of the sound store.
  ///   - copy: the path of the copy that is damaged; it is replaced each time.
  ///   - file: the name of the file that is damaged.
  package init(sound: String, copy: String, file: String, step: Int, seed: UInt64) async throws {
    self.sound = URL(fileURLWithPath: sound)
    self.copy = URL(fileURLWithPath: copy)
    self.file = file
    var soundBytes: [String: [UInt8]] = [:]
    for name in ["log.mdb", "snapshots.mdb"] {
      soundBytes[name] = [UInt8](try Data(contentsOf: self.sound.appendingPathComponent(name)))
    }
    self.soundBytes = soundBytes
    damages = DamageList(of: soundBytes[file] ?? [], step: step, seed: seed)
    truth = try await DamageTruth(ofStoreAt: sound)
  }

  /// Does the damages of a range of numbers, and says one line for each step and result.
  package func work(_ range: Range<Int>, say: (String) -> Void) async throws {
    for number in range {
      try put(damages[number])
      let outcome = await look { say("step \(number) \($0)") }
      say(WorkerProcess.line(outcome, of: number))
    }
  }

  /// Makes the copy anew, damaged.
  private func put(_ damage: Damage) throws {
    try? FileManager.default.removeItem(at: copy)
    try FileManager.default.createDirectory(at: copy, withIntermediateDirectories: true)
    for (name, bytes) in soundBytes {
      let bytes = name == file ? damage.applied(to: bytes) : bytes
      try Data(bytes).write(to: copy.appendingPathComponent(name))
    }
  }

  private func look(_ say: (String) -> Void) async -> FaultOutcome {
    say("verify")
    var isFound = false
    do {
      isFound = !(try LogVerifier(path: copy.path).verify().findings.isEmpty)
    } catch is HindsightError {
      isFound = true
    } catch {
      return .crashed("verifying threw \(type(of: error)): \(error)")
    }
    do {
      say("read")
      var isRefused = try await truth.checkTimeline(at: copy.path)
      say("write")
      if try await truth.checkWriting(to: copy.path) { isRefused = true }
      if file == "log.mdb", !isFound, isRefused {
        return .lost("reading was refused, but the verifier found nothing")
      }
      if file != "log.mdb", isRefused { return .lost("the snapshots' damage stopped the store") }
      return isRefused ? .refused : .survived
    } catch let problem as DamageTruth.Wrong {
      return .lost("\(problem)\(isFound ? " (verify finds it)" : "")")
    } catch {
      return .crashed("\(type(of: error)): \(error)")
    }
  }
}
