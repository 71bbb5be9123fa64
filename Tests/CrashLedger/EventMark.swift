// Names of events that say which dispatch they come from, and can be found among other bytes.
// It always holds: no two events of all runs on a store have the same mark.

/// Where an event comes from: the whole of its identity.
package struct EventMark: Hashable, Sendable {
  /// Which process it was, of all that worked on the store.
  package var run: Int
  /// Which of that process's tasks.
  package var task: Int
  /// Which of that task's dispatches, 0-based and without gaps.
  package var step: Int
  /// Which event of that dispatch, 0-based.
  package var part = 0
  /// The number of events in that dispatch.
  package var partCount = 1

  package init(run: Int, task: Int, step: Int, part: Int = 0, partCount: Int = 1) {
    self.run = run
    self.task = task
    self.step = step
    self.part = part
    self.partCount = partCount
  }

  private static let opening = "mark/"

  /// The mark as text, as it stands in an event: `mark/3/12/40/0/1;`.
  package var text: String {
    "\(Self.opening)\(run)/\(task)/\(step)/\(part)/\(partCount);"
  }

  /// The mark of a text, nil where it isn't one.
  package init?(_ text: String) {
    guard let found = Self.all(in: Array(text.utf8)).first, found.text == text else { return nil }
    self = found
  }

  /// The marks of the events of the dispatch that this is the first of.
  package var parts: [EventMark] {
    (0..<partCount).map { part in
      var mark = self
      mark.part = part
      return mark
    }
  }

  /// All marks among bytes, in the order of their places.
  package static func all(in bytes: [UInt8]) -> [EventMark] {
    let opening = Array(opening.utf8)
    var found: [EventMark] = []
    var position = 0
    while let start = bytes[position...].firstIndex(of: opening[0]) {
      position = start + 1
      guard bytes[start...].starts(with: opening) else { continue }
      var numbers: [Int] = []
      var digits = ""
      scan: for byte in bytes[(start + opening.count)...].prefix(80) {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digits.unicodeScalars.append(.init(byte))
        case UInt8(ascii: "/"), UInt8(ascii: ";"):
          guard let number = Int(digits) else { break scan }
          numbers.append(number)
          digits = ""
          guard byte == UInt8(ascii: ";") else { continue }
          if numbers.count == 5 {
            found.append(
              EventMark(
                run: numbers[0], task: numbers[1], step: numbers[2], part: numbers[3],
                partCount: numbers[4]))
          }
          break scan
        default: break scan
        }
      }
    }
    return found
  }

  /// A number that follows from the mark and looks random, for making an event's content.
  package var hash: UInt64 {
    text.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
  }
}
