// Compares the elements of two arrays.
// It always holds: what is between the matches accounts for every other element of both arrays.

/// The elements that two arrays have in common.
enum DiffArray {
  /// The runs of equal elements of two arrays, in order. O(n + m) and what ``DiffSequence`` takes
  /// for the elements that both arrays have between their common ends.
  static func runs(_ old: [Value], _ new: [Value]) -> [DiffSequence.Run] {
    let shorter = min(old.count, new.count)
    var prefix = 0
    while prefix < shorter, old[prefix] == new[prefix] { prefix += 1 }
    var suffix = 0
    while suffix < shorter - prefix,
      old[old.count - 1 - suffix] == new[new.count - 1 - suffix]
    { suffix += 1 }

    var runs: [DiffSequence.Run] = []
    if prefix > 0 { runs.append(DiffSequence.Run(old: 0, new: 0, count: prefix)) }
    runs += middleRuns(old, new, prefix..<old.count - suffix, prefix..<new.count - suffix)
    if suffix > 0 {
      runs.append(
        DiffSequence.Run(old: old.count - suffix, new: new.count - suffix, count: suffix))
    }
    return runs
  }

  private static func middleRuns(
    _ old: [Value], _ new: [Value], _ oldRange: Range<Int>, _ newRange: Range<Int>
  ) -> [DiffSequence.Run] {
    guard !oldRange.isEmpty, !newRange.isEmpty else { return [] }
    // Equal elements get equal numbers; only elements that are on both sides take part.
    var numbers: [Value: Int32] = [:]
    for value in old[oldRange] where numbers[value] == nil { numbers[value] = Int32(numbers.count) }
    let newNumbers = newRange.map { numbers[new[$0]] ?? -1 }
    var isShared = [Bool](repeating: false, count: numbers.count)
    for number in newNumbers where number >= 0 { isShared[Int(number)] = true }
    let oldNumbers = oldRange.map { numbers[old[$0]] ?? -1 }
    let oldPlaces = oldNumbers.indices.filter { isShared[Int(oldNumbers[$0])] }
    let newPlaces = newNumbers.indices.filter { newNumbers[$0] >= 0 }

    var runs: [DiffSequence.Run] = []
    let found = DiffSequence.runs(
      oldPlaces.map { oldNumbers[$0] }, newPlaces.map { newNumbers[$0] })
    for run in found {
      for step in 0..<run.count {
        let x = oldRange.lowerBound + oldPlaces[run.old + step]
        let y = newRange.lowerBound + newPlaces[run.new + step]
        if let last = runs.last, last.old + last.count == x, last.new + last.count == y {
          runs[runs.count - 1].count += 1
        } else {
          runs.append(DiffSequence.Run(old: x, new: y, count: 1))
        }
      }
    }
    return runs
  }
}
