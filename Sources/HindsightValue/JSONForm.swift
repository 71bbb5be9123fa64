// What a value is written as in JSON: a scalar, an array or an object.
// It always holds: the form follows from the value alone, whatever is around it.

/// The outermost level of a value in JSON.
enum JSONForm {
  /// Written in one piece.
  case scalar
  case array([Value])
  /// Text keys with values.
  case object([ValueMap.Pair])

  init(_ value: Value, _ mapping: JSONMapping) {
    switch value {
    case .array(let items):
      self = .array(items)
    case .map(let map):
      self = Self.object(map, mapping)
    case .tagged(let tag, let content) where !JSONInteger.hasLiteral(tag: tag, content):
      self = Self.object(key: "$tagged", .array([.unsigned(tag), content]))
    default:
      self = .scalar
    }
  }

  private static func object(_ map: ValueMap, _ mapping: JSONMapping) -> JSONForm {
    guard !map.hasOtherKeysThanText else {
      return object(key: "$map", .array(map.pairs.map { .array([$0.key, $0.value]) }))
    }
    if mapping == .lossless, map.count == 1, case .string(let key) = map.pairs[0].key,
      JSONMapping.meaning(key: key, map.pairs[0].value) != nil
    {
      return object(key: "$" + key, map.pairs[0].value)
    }
    return .object(map.pairs)
  }

  private static func object(key: String, _ value: Value) -> JSONForm {
    .object([ValueMap.Pair(key: .string(key), value: value)])
  }
}

extension ValueMap {
  /// Whether there is a key that isn't a string. O(1), as strings are together in map order.
  var hasOtherKeysThanText: Bool {
    guard let first = pairs.first, let last = pairs.last else { return false }
    if case .string = first.key, case .string = last.key { return false }
    return true
  }
}
