// A map of values, kept in the order of its keys' deterministic encodings.
// It always holds: keys are unique and sorted, so that two equal maps have one representation.

/// The pairs of a ``Value/map(_:)``, unique by key and sorted in the order of RFC 8949, section
/// 4.2.1 (bytewise order of the keys' deterministic encodings).
///
/// Look-up is O(log n), insertion and removal O(n) in the pairs.
public struct ValueMap: Sendable, Hashable {
  /// A key with its value.
  public struct Pair: Sendable, Hashable {
    /// The key.
    public let key: Value
    /// The key's value.
    public var value: Value

    /// A pair of a key and its value.
    public init(key: Value, value: Value) {
      self.key = key
      self.value = value
    }
  }

  /// The pairs, in key order.
  public private(set) var pairs: [Pair]

  /// An empty map.
  public init() { pairs = [] }

  /// The map of these pairs, or nil where two of them have the same key. O(n log n).
  public init?(uniquePairs pairs: consuming [Pair]) {
    // Consumed, so that the pairs are sorted where they are if nobody else holds them.
    var sorted = consume pairs
    if !Self.isStrictlyAscending(sorted) {
      sorted.sort { Value.isOrderedBefore($0.key, $1.key) }
      guard Self.isStrictlyAscending(sorted) else { return nil }
    }
    self.pairs = sorted
  }

  /// The number of pairs.
  public var count: Int { pairs.count }

  /// Whether there is no pair.
  public var isEmpty: Bool { pairs.isEmpty }

  /// The value of a key; assigning nil removes the pair.
  public subscript(key: Value) -> Value? {
    get {
      let (position, found) = position(of: key)
      return found ? pairs[position].value : nil
    }
    set {
      let (position, found) = position(of: key)
      switch (newValue, found) {
      case (let value?, true): pairs[position].value = value
      case (let value?, false): pairs.insert(Pair(key: key, value: value), at: position)
      case (nil, true): pairs.remove(at: position)
      case (nil, false): break
      }
    }
    _modify {
      let (position, found) = position(of: key)
      var value: Value?
      if found {
        // Taken out, not copied, so that a change in place doesn't copy what is below.
        value = pairs[position].value
        pairs[position].value = .null
      }
      defer {
        switch (value, found) {
        case (let value?, true): pairs[position].value = value
        case (let value?, false): pairs.insert(Pair(key: key, value: value), at: position)
        case (nil, true): pairs.remove(at: position)
        case (nil, false): break
        }
      }
      yield &value
    }
  }

  /// The value of a text key; assigning nil removes the pair.
  public subscript(key: String) -> Value? {
    get { self[.string(key)] }
    set { self[.string(key)] = newValue }
    _modify { yield &self[.string(key)] }
  }

  /// Whether both have the same keys with equal values.
  public static func == (left: ValueMap, right: ValueMap) -> Bool {
    Value.map(left) == Value.map(right)
  }

  /// Hashes the pairs, in the order that all equal maps share.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(pairs.count)
    for pair in pairs {
      pair.key.hash(into: &hasher)
      pair.value.hash(into: &hasher)
    }
  }

  /// Where a key is, or would be inserted. O(log n).
  private func position(of key: Value) -> (Int, found: Bool) {
    var low = 0
    var high = pairs.count
    while low < high {
      let middle = (low + high) / 2
      if Value.isOrderedBefore(pairs[middle].key, key) { low = middle + 1 } else { high = middle }
    }
    return (low, low < pairs.count && pairs[low].key == key)
  }

  private static func isStrictlyAscending(_ pairs: [Pair]) -> Bool {
    var index = 1
    while index < pairs.count {
      guard Value.isOrderedBefore(pairs[index - 1].key, pairs[index].key) else { return false }
      index += 1
    }
    return true
  }
}
