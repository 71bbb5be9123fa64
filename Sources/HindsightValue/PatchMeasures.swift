// What a patch asks of values: how deep, how many, and whether equal as JSON.
// It always holds: no recursion, so that a deep value needs no deep stack.

extension Value {
  /// The values directly inside this one.
  private var children: [Value] {
    switch self {
    case .array(let items): items
    case .map(let map): map.pairs.flatMap { [$0.key, $0.value] }
    case .tagged(_, let content): [content]
    default: []
    }
  }

  /// Whether at most so many arrays, maps and tags are inside one another. O(n) in the values
  /// inside.
  func hasLevels(atMost limit: Int) -> Bool {
    var level = [self]
    for depth in 0... {
      var next: [Value] = []
      for value in level {
        switch value {
        case .array, .map, .tagged:
          guard depth < limit else { return false }
          next += value.children
        default: break
        }
      }
      if next.isEmpty { break }
      level = next
    }
    return true
  }

  /// How many values this consists of, with itself; nil where they are more than a limit. O(limit).
  func countOfParts(atMost limit: Int) -> Int? {
    var count = 1
    var stack = [self]
    while count <= limit {
      guard let value = stack.popLast() else { return count }
      let children = value.children
      count += children.count
      stack += children
    }
    return nil
  }

  /// Whether two values are equal as RFC 6902, section 4.6, says: as `==`, but numbers by what they
  /// count. O(n).
  func isNumericallyEqual(to other: Value) -> Bool {
    var stack = [(self, other)]
    while let (left, right) = stack.popLast() {
      switch (left, right) {
      case (.array(let a), .array(let b)):
        guard a.count == b.count else { return false }
        for (x, y) in zip(a, b) { stack.append((x, y)) }
      case (.map(let a), .map(let b)):
        guard a.count == b.count else { return false }
        for (x, y) in zip(a.pairs, b.pairs) {
          guard x.key == y.key else { return false }
          stack.append((x.value, y.value))
        }
      default:
        guard left == right || Self.countTheSame(left, right) else { return false }
      }
    }
    return true
  }

  /// Whether a double and another number are the same number.
  private static func countTheSame(_ left: Value, _ right: Value) -> Bool {
    switch (left, right) {
    case (.double(let a), .double(let b)): a == b
    case (.double(let double), let other), (let other, .double(let double)):
      double.isFinite && double.asInteger == other
    default: false
    }
  }
}

extension Double {
  /// The integer that a finite number is; nil where it has a fraction.
  ///
  /// Without `rounded()` and `init(exactly:)`, which would need the C mathematics library.
  fileprivate var asInteger: Value? {
    if magnitude < 0x1p63 {
      let whole = Int64(self)
      return Double(whole) == self ? .integer(whole) : nil
    }
    // The significand's bits, and zeros behind them: at least 2^63, so nothing is shifted out.
    let shift = Int(exponent) - 52
    let bits = (significandBitPattern | 1 << 52) << UInt64(shift % 8)
    var digits: [UInt8] = (0..<8).reversed().map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    digits += [UInt8](repeating: 0, count: shift / 8)
    return JSONInteger.value(isNegative: self < 0, bytes: digits)
  }
}
