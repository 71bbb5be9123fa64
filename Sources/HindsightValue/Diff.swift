// The difference between two values, place by place, and as a JSON Patch.
// It always holds: the changes, made in order to the one value, give the other exactly.

/// One change of a ``ValueDifference``.
public struct ValueChange: Hashable, Sendable {
  /// The place. In an array the index is the one in the new value; that of a removed element is the
  /// one that it has when the changes before this one have been made.
  public let pointer: JSONPointer
  /// What was there; nil for what was added.
  public let old: Value?
  /// What is there now; nil for what was removed.
  public let new: Value?

  /// The operation that makes the change.
  public var operation: JSONPatch.Operation {
    switch (old, new) {
    case (_?, let new?): .replace(pointer, new)
    case (_?, nil): .remove(pointer)
    case (nil, let new): .add(pointer, new ?? .null)
    }
  }
}

extension Value {
  /// What changed between two values: the places where one differs from the other, in order.
  ///
  /// Maps are compared key by key, arrays by the longest run of changes of ``DiffSequence``:
  /// elements that are on both sides in the same order stay, and those between them are compared in
  /// order. An array of which nothing stays is replaced as a whole, as is a map with both text keys
  /// and others.
  ///
  /// O(n) in the values that don't share storage, times their depth; for arrays see `DiffSequence`.
  public static func difference(from old: Value, to new: Value) -> [ValueChange] {
    var difference = ValueDifference()
    difference.compare(old, new)
    return difference.changes
  }
}

extension JSONPatch {
  /// A patch that makes one value of another: applied to `old` it gives exactly `new`.
  ///
  /// It says `add`, `remove` and `replace` only, and little more than it must for arrays that are
  /// similar. See ``Value/difference(from:to:)``.
  public init(from old: Value, to new: Value) {
    self.init(Value.difference(from: old, to: new).map(\.operation))
  }
}

/// The state of comparing two values.
struct ValueDifference {
  enum Task {
    case compare(JSONPointer, Value, Value)
    case change(ValueChange)
  }

  private(set) var changes: [ValueChange] = []
  /// What is still to be done, the first thing last.
  private var tasks: [Task] = []

  mutating func compare(_ old: Value, _ new: Value) {
    tasks = [.compare(.root, old, new)]
    while let task = tasks.popLast() {
      switch task {
      case .change(let change): changes.append(change)
      case .compare(let place, let old, let new): compare(old, new, at: place)
      }
    }
  }

  private mutating func compare(_ old: Value, _ new: Value, at place: JSONPointer) {
    guard old.mayDiffer(from: new) else { return }
    switch (old, new) {
    case (.map(let a), .map(let b)):
      if let inner = Self.tasks(a, b, at: place) {
        tasks += inner.reversed()
      } else if a != b {
        replace(old, new, at: place)
      }
    case (.array(let a), .array(let b)):
      if let inner = Self.tasks(a, b, at: place) {
        tasks += inner.reversed()
      } else {
        replace(old, new, at: place)
      }
    default:
      replace(old, new, at: place)
    }
  }

  private mutating func replace(_ old: Value, _ new: Value, at place: JSONPointer) {
    changes.append(ValueChange(pointer: place, old: old, new: new))
  }

  /// What makes one map of another; nil where a token would not name the right key throughout.
  private static func tasks(_ old: ValueMap, _ new: ValueMap, at place: JSONPointer) -> [Task]? {
    let isText = !old.hasOtherKeysThanText && !new.hasOtherKeysThanText
    // A token adds a key that isn't text only while the map has such keys and no others.
    guard isText || (!old.isEmpty && !old.hasTextKeys && !new.hasTextKeys) else { return nil }
    var tasks: [Task] = []
    var removals: [Task] = []
    var (x, y) = (0, 0)
    while x < old.count || y < new.count {
      let order =
        x == old.count
        ? 1 : y == new.count ? -1 : Value.compare(old.pairs[x].key, new.pairs[y].key)
      if order > 0 {
        let inner = place.appending(Value.token(forKey: new.pairs[y].key))
        tasks.append(.change(ValueChange(pointer: inner, old: nil, new: new.pairs[y].value)))
      } else if order < 0 {
        let inner = place.appending(Value.token(forKey: old.pairs[x].key))
        let removal = ValueChange(pointer: inner, old: old.pairs[x].value, new: nil)
        if isText { tasks.append(.change(removal)) } else { removals.append(.change(removal)) }
      } else if old.pairs[x].value.mayDiffer(from: new.pairs[y].value) {
        let inner = place.appending(Value.token(forKey: old.pairs[x].key))
        tasks.append(.compare(inner, old.pairs[x].value, new.pairs[y].value))
      }
      if order <= 0 { x += 1 }
      if order >= 0 { y += 1 }
    }
    return tasks + removals
  }

  /// What makes one array of another; nil where it is better to replace the whole.
  private static func tasks(_ old: [Value], _ new: [Value], at place: JSONPointer) -> [Task]? {
    var tasks: [Task] = []
    var isKept = false
    var moves = 0
    var (x, y) = (0, 0)
    let behind = DiffSequence.Run(old: old.count, new: new.count, count: 0)
    for run in DiffArray.runs(old, new) + [behind] {
      while x < run.old && y < run.new {
        isKept = isKept || old[x].canBeComparedInside(new[y])
        tasks.append(.compare(place.appending(y), old[x], new[y]))
        (x, y) = (x + 1, y + 1)
      }
      moves += (run.old - x + run.new - y) * (old.count - run.old)
      // From the last to the first, so that each removal moves only what stays.
      for index in (x..<run.old).reversed() {
        let pointer = place.appending(y + index - x)
        tasks.append(.change(ValueChange(pointer: pointer, old: old[index], new: nil)))
      }
      for index in y..<run.new {
        let pointer = place.appending(index)
        tasks.append(.change(ValueChange(pointer: pointer, old: nil, new: new[index])))
      }
      isKept = isKept || run.count > 0
      (x, y) = (run.old + run.count, run.new + run.count)
    }
    // Inserting and removing moves all elements behind; a large array is then better replaced.
    guard moves < Self.moveLimit else { return nil }
    return isKept || old.isEmpty || new.isEmpty ? tasks : nil
  }

  /// How many moves of elements applying a patch of one array may take.
  private static let moveLimit = 1 << 28
}

extension Value {
  /// Whether two values can't be told to be equal without looking inside arrays or maps.
  fileprivate func mayDiffer(from other: Value) -> Bool {
    switch (self, other) {
    case (.map(let a), .map(let b)): !a.sharesStorage(with: b)
    case (.array(let a), .array(let b)): !a.sharesStorage(with: b)
    default: self != other
    }
  }

  /// Whether both values are maps or both arrays, with something in them.
  fileprivate func canBeComparedInside(_ other: Value) -> Bool {
    switch (self, other) {
    case (.map(let a), .map(let b)): !a.isEmpty && !b.isEmpty
    case (.array(let a), .array(let b)): !a.isEmpty && !b.isEmpty
    default: false
    }
  }
}

extension Array where Element == Value {
  /// Whether two arrays are one in memory, and so equal. O(1).
  fileprivate func sharesStorage(with other: [Value]) -> Bool {
    count == other.count
      && withUnsafeBufferPointer { a in
        other.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress }
      }
  }
}

extension ValueMap {
  /// Whether two maps are one in memory, and so equal. O(1).
  fileprivate func sharesStorage(with other: ValueMap) -> Bool {
    count == other.count
      && pairs.withUnsafeBufferPointer { a in
        other.pairs.withUnsafeBufferPointer { a.baseAddress == $0.baseAddress }
      }
  }
}
