// The order of values by the bytes of their deterministic encodings, without encoding them.

extension Value {
  /// Whether the deterministic encoding of one value is bytewise before that of another
  /// (RFC 8949, section 4.2.1).
  public static func isOrderedBefore(_ left: Value, _ right: Value) -> Bool {
    compare(left, right) < 0
  }

  // Comparing goes three calls deeper per level of nesting. Their frames are kept small, so that
  // 512 levels fit in the stack of a small thread, without optimisation too.

  /// Below zero, zero or above, as the encoding of the left is before, equal to or after the right.
  static func compare(_ left: Value, _ right: Value) -> Int {
    left.isContainer && right.isContainer
      ? compareContainers(left, right) : compareScalars(left, right)
  }

  private static func compareContainers(_ left: Value, _ right: Value) -> Int {
    switch left {
    case .array(let a): if case .array(let b) = right { return compareItems(a, b) }
    case .map(let a): if case .map(let b) = right { return comparePairs(a.pairs, b.pairs) }
    case .tagged(let a, let x):
      if case .tagged(let b, let y) = right { return a != b ? order(a, b) : compare(x, y) }
    default: break
    }
    return order(left.majorType, right.majorType)
  }

  private static func compareItems(_ left: [Value], _ right: [Value]) -> Int {
    var result = order(left.count, right.count)
    var index = 0
    while result == 0, index < left.count {
      result = compare(left[index], right[index])
      index += 1
    }
    return result
  }

  private static func comparePairs(_ left: [ValueMap.Pair], _ right: [ValueMap.Pair]) -> Int {
    var result = order(left.count, right.count)
    var index = 0
    while result == 0, index < 2 * left.count {
      result = compare(part(left, index), part(right, index))
      index += 1
    }
    return result
  }

  /// Keys and values in turn.
  private static func part(_ pairs: [ValueMap.Pair], _ index: Int) -> Value {
    index % 2 == 0 ? pairs[index / 2].key : pairs[index / 2].value
  }

  private static func compareScalars(_ left: Value, _ right: Value) -> Int {
    switch (left, right) {
    case (.unsigned(let a), .unsigned(let b)): return order(a, b)
    case (.negative(let a), .negative(let b)): return order(a, b)
    case (.bytes(let a), .bytes(let b)):
      return a.count != b.count ? order(a.count, b.count) : lexical(a, b)
    case (.string(let a), .string(let b)):
      let (x, y) = (a.utf8, b.utf8)
      return x.count != y.count ? order(x.count, y.count) : lexical(x, y)
    default:
      let (a, b) = (left.majorSeven, right.majorSeven)
      if let a, let b {
        return a.head != b.head ? order(a.head, b.head) : order(a.argument, b.argument)
      }
      return order(left.majorType, right.majorType)
    }
  }

  private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : (a == b ? 0 : 1) }

  private static func lexical(_ a: some Sequence<UInt8>, _ b: some Sequence<UInt8>) -> Int {
    for (x, y) in zip(a, b) where x != y { return x < y ? -1 : 1 }
    return 0
  }

  private var majorType: Int {
    switch self {
    case .unsigned: 0
    case .negative: 1
    case .bytes: 2
    case .string: 3
    case .array: 4
    case .map: 5
    case .tagged: 6
    case .null, .undefined, .bool, .double, .simple: 7
    }
  }

  /// Initial byte and argument of what has major type 7 (simple values and floats).
  private var majorSeven: (head: UInt8, argument: UInt64)? {
    switch self {
    case .bool(let value): (value ? 0xf5 : 0xf4, 0)
    case .null: (0xf6, 0)
    case .undefined: (0xf7, 0)
    case .simple(let value): value < 24 ? (0xe0 | value, 0) : (0xf8, UInt64(value))
    case .double(let value): value.shortestFloat
    default: nil
    }
  }
}

extension Double {
  /// Initial byte and bits of the shortest CBOR float that holds this exactly; one NaN, `f97e00`.
  @inlinable
  package var shortestFloat: (head: UInt8, argument: UInt64) {
    if isNaN { return (0xf9, 0x7e00) }
    let single = Float(self)
    guard Double(single) == self else { return (0xfb, bitPattern) }
    let half = single.halfBits
    return half.map { (0xf9, UInt64($0)) } ?? (0xfa, UInt64(single.bitPattern))
  }
}

extension Float {
  /// The bits of the IEEE 754 binary16 number with exactly this value, where there is one.
  ///
  /// By integer arithmetic, as `Float16` doesn't exist on every platform.
  @usableFromInline
  package var halfBits: UInt16? {
    let bits = bitPattern
    let sign = UInt16(truncatingIfNeeded: bits >> 16) & 0x8000
    let exponent = Int(bits >> 23 & 0xff)
    let fraction = bits & 0x7f_ffff
    switch exponent {
    case 0:
      return fraction == 0 ? sign : nil
    case 255:
      return fraction == 0 ? sign | 0x7c00 : nil
    case 113...142:
      guard fraction & 0x1fff == 0 else { return nil }
      return sign | UInt16(exponent - 112) << 10 | UInt16(fraction >> 13)
    case 103...112:
      // A subnormal half: the implicit one is shifted into the fraction.
      let shift = UInt32(126 - exponent)
      let whole = fraction | 0x80_0000
      guard whole & ((1 << shift) - 1) == 0 else { return nil }
      return sign | UInt16(whole >> shift)
    default:
      return nil
    }
  }
}
