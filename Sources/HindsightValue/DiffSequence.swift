// Which elements two sequences have in common, near-minimally and in bounded time and memory.
// It always holds: the matches are strictly increasing on both sides, and matched elements are
// equal.

/// The common elements of two sequences of numbers, by Myers' algorithm.
///
/// Within ``editLimit`` edits the result is the longest possible. Beyond that, elements that both
/// sides have once divide the sequences, and in each part the best path within fewer edits is taken
/// and the search goes on behind it. So time is O((n + m) · (limit + log n)) and memory O(n + m +
/// limit²), whatever the sequences are.
struct DiffSequence {
  /// A run of equal elements on both sides.
  struct Run: Equatable {
    var old: Int
    var new: Int
    var count: Int
  }

  /// How many edits are looked ahead at first.
  static let editLimit = 1024
  /// How many edits are looked ahead once that wasn't enough.
  private static let laterEditLimit = 256

  private let old: [Int32]
  private let new: [Int32]

  /// The runs of equal elements of two sequences, in order.
  static func runs(_ old: [Int32], _ new: [Int32]) -> [Run] {
    let sequence = DiffSequence(old: old, new: new)
    let whole = Part(old: 0..<old.count, new: 0..<new.count)
    let (found, end) = sequence.search(whole, limit: editLimit)
    if end == nil { return found }

    var runs: [Run] = []
    var (x, y) = (0, 0)
    let behind = Run(old: old.count, new: new.count, count: 0)
    for anchor in DiffAnchors.matches(old, new) + [behind] {
      var part: Part? = Part(old: x..<anchor.old, new: y..<anchor.new)
      while let rest = part {
        let (found, end) = sequence.search(rest, limit: laterEditLimit)
        for run in found { append(run, to: &runs) }
        part = end.map { Part(old: $0..<anchor.old, new: $1..<anchor.new) }
      }
      if anchor.count > 0 { append(anchor, to: &runs) }
      (x, y) = (anchor.old + anchor.count, anchor.new + anchor.count)
    }
    return runs
  }

  /// A part of both sequences.
  private struct Part {
    let old: Range<Int>
    let new: Range<Int>
  }

  private static func append(_ run: Run, to runs: inout [Run]) {
    if let last = runs.last, last.old + last.count == run.old, last.new + last.count == run.new {
      runs[runs.count - 1].count += run.count
    } else {
      runs.append(run)
    }
  }

  /// The runs on the way through a part; and where it ends, if the limit is reached before the
  /// part's end.
  private func search(_ part: Part, limit: Int) -> ([Run], end: (Int, Int)?) {
    let (x0, y0) = (part.old.lowerBound, part.new.lowerBound)
    let (n, m) = (part.old.count, part.new.count)
    guard n > 0, m > 0 else { return ([], nil) }
    let most = min(limit, n + m)
    // For each diagonal x - y the farthest x that was reached; the state after each number of edits
    // is kept to find the way back.
    var reached = [Int32](repeating: 0, count: 2 * most + 3)
    let middle = most + 1
    var history: [[Int32]] = []
    for edits in 0...most {
      for diagonal in stride(from: -edits, through: edits, by: 2) {
        let isDown = Self.isDown(diagonal, edits, reached, middle)
        var x = Int(isDown ? reached[middle + diagonal + 1] : reached[middle + diagonal - 1] + 1)
        while x < n, x - diagonal < m, old[x0 + x] == new[y0 + x - diagonal] { x += 1 }
        reached[middle + diagonal] = Int32(x)
        if x >= n, x - diagonal >= m {
          return (wayBack(x0, y0, diagonal, edits, reached, history, middle), nil)
        }
      }
      history.append(Array(reached[middle - edits...middle + edits]))
    }
    let best = stride(from: -most, through: most, by: 2)
      .filter { isInside(Int(reached[middle + $0]), $0, n, m) }
      .max { 2 * Int(reached[middle + $0]) - $0 < 2 * Int(reached[middle + $1]) - $1 }
    guard let best else { return ([], nil) }
    let x = Int(reached[middle + best])
    return (wayBack(x0, y0, best, most, reached, history, middle), (x0 + x, y0 + x - best))
  }

  private func isInside(_ x: Int, _ diagonal: Int, _ n: Int, _ m: Int) -> Bool {
    x >= 0 && x <= n && x - diagonal >= 0 && x - diagonal <= m
  }

  /// Whether the farthest way to a diagonal is an insertion, so from the diagonal above.
  @inline(__always)
  private static func isDown(
    _ diagonal: Int, _ edits: Int, _ reached: [Int32], _ middle: Int
  ) -> Bool {
    diagonal == -edits
      || (diagonal != edits && reached[middle + diagonal - 1] < reached[middle + diagonal + 1])
  }

  /// The runs on the way to the end of a diagonal, from the state before each number of edits.
  private func wayBack(
    _ x0: Int, _ y0: Int, _ end: Int, _ edits: Int, _ reached: [Int32], _ history: [[Int32]],
    _ middle: Int
  ) -> [Run] {
    var runs: [Run] = []
    var diagonal = end
    var x = Int(reached[middle + end])
    for edit in stride(from: edits, through: 0, by: -1) {
      var start = 0
      var previous = 0
      var before = 0
      if edit > 0 {
        let state = history[edit - 1]
        func at(_ diagonal: Int) -> Int32 { state[diagonal + edit - 1] }
        let isDown =
          diagonal == -edit
          || (diagonal != edit && at(diagonal - 1) < at(diagonal + 1))
        previous = isDown ? diagonal + 1 : diagonal - 1
        before = Int(at(previous))
        start = isDown ? before : before + 1
      }
      if x > start {
        runs.append(Run(old: x0 + start, new: y0 + start - diagonal, count: x - start))
      }
      (diagonal, x) = (previous, before)
    }
    return runs.reversed()
  }
}
