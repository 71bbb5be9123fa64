// The finished values of a JSON text that aren't in their array or object yet.
// It always holds: the first `count` places are initialised, the rest are not.

/// A growing stack whose values can be moved out in bulk, without a change of reference counts.
struct ValueStack: ~Copyable {
  private var base: UnsafeMutablePointer<Value>
  private var capacity: Int
  private(set) var count = 0

  init() {
    capacity = 64
    base = .allocate(capacity: capacity)
  }

  deinit {
    base.deinitialize(count: count)
    base.deallocate()
  }

  @inline(__always)
  mutating func push(_ value: consuming Value) {
    if count == capacity { grow() }
    (base + count).initialize(to: value)
    count += 1
  }

  @inline(__always)
  mutating func pop() -> Value {
    precondition(count > 0, "a finished value is on the stack")
    count -= 1
    return (base + count).move()
  }

  /// Moves out all values above a height, in order.
  mutating func popArray(from start: Int) -> [Value] {
    let source = base + start
    let length = count - start
    count = start
    return Array(unsafeUninitializedCapacity: length) { buffer, initialized in
      buffer.baseAddress?.moveInitialize(from: source, count: length)
      initialized = length
    }
  }

  /// Moves out all values above a height, which are keys and values by turns.
  mutating func popPairs(from start: Int) -> [ValueMap.Pair] {
    let source = base + start
    let length = (count - start) / 2
    count = start
    return Array(unsafeUninitializedCapacity: length) { buffer, initialized in
      for index in 0..<length {
        let key = (source + 2 * index).move()
        let value = (source + 2 * index + 1).move()
        buffer.initializeElement(at: index, to: ValueMap.Pair(key: key, value: value))
      }
      initialized = length
    }
  }

  /// Moves two neighbouring values towards the bottom, past those between.
  mutating func movePair(at source: Int, to target: Int) {
    let key = (base + source).move()
    let value = (base + source + 1).move()
    (base + target + 2).moveInitialize(from: base + target, count: source - target)
    (base + target).initialize(to: key)
    (base + target + 1).initialize(to: value)
  }

  private mutating func grow() {
    let larger = UnsafeMutablePointer<Value>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: base, count: count)
    base.deallocate()
    base = larger
    capacity *= 2
  }
}
