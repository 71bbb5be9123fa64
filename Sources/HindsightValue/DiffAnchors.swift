// Elements that two sequences have exactly once each and in the same order.
// It always holds: the matches are strictly increasing on both sides.

/// Finds where sequences that differ a lot surely correspond.
enum DiffAnchors {
  /// The longest increasing series of matches between elements that are unique on both sides.
  /// O((n + m) log n).
  static func matches(_ old: [Int32], _ new: [Int32]) -> [DiffSequence.Run] {
    let size = Int(max(old.max() ?? 0, new.max() ?? 0)) + 1
    let oldPlaces = places(old, size)
    let newPlaces = places(new, size)
    let candidates = old.indices.compactMap { x -> (old: Int, new: Int)? in
      let number = Int(old[x])
      guard oldPlaces[number] == x, newPlaces[number] >= 0 else { return nil }
      return (x, newPlaces[number])
    }
    // For each length of a series so far, the candidate with the least end; and each one's
    // predecessor.
    var ends: [Int] = []
    var predecessors: [Int] = []
    for candidate in candidates.indices {
      let y = candidates[candidate].new
      var low = 0
      var high = ends.count
      while low < high {
        let middle = (low + high) / 2
        if candidates[ends[middle]].new < y { low = middle + 1 } else { high = middle }
      }
      predecessors.append(low > 0 ? ends[low - 1] : -1)
      if low == ends.count { ends.append(candidate) } else { ends[low] = candidate }
    }
    var matches: [DiffSequence.Run] = []
    var next = ends.last ?? -1
    while next >= 0 {
      let candidate = candidates[next]
      matches.append(DiffSequence.Run(old: candidate.old, new: candidate.new, count: 1))
      next = predecessors[next]
    }
    return matches.reversed()
  }

  /// For each number, where it is if it is there once; else below zero.
  private static func places(_ sequence: [Int32], _ size: Int) -> [Int] {
    let (none, several) = (-1, -2)
    var places = [Int](repeating: none, count: size)
    for (index, number) in sequence.enumerated() {
      places[Int(number)] = places[Int(number)] == none ? index : several
    }
    return places
  }
}
