// How JSON holds what it has no notation for.
// It always holds: reading what was written gives the same value, and writing what was read gives
// the same JSON text, up to white space, the order of keys, and how a double is spelled.

/// Whether some objects of a JSON text stand for values that JSON has no notation for.
///
/// | value | in JSON |
/// |---|---|
/// | bytes | `{"$bytes":"AAE="}` (Base64, RFC 4648, section 4) |
/// | a double that is no number | `{"$double":"NaN"}`, `"Infinity"`, `"-Infinity"` |
/// | undefined | `{"$undefined":true}` |
/// | a simple value | `{"$simple":99}` |
/// | a tagged value | `{"$tagged":[32,"https://example.org"]}` |
/// | a map with a key that isn't a string | `{"$map":[[1,"one"],[2,"two"]]}`, in map order |
/// | a bignum beyond 64 bits, of up to 400 bytes | its digits |
/// | a double | always with a point or an exponent: `5.0` |
///
/// Only exactly what would be written is read as such a value: `{"$bytes":"no Base64"}` and
/// `{"$bytes":"AAE=","other":1}` are maps. A map that would be mistaken for one of the forms is
/// written with one more `$`: the map `{"$bytes":"AAE="}` as `{"$$bytes":"AAE="}`, and that map as
/// `{"$$$bytes":"AAE="}`. So values and JSON texts correspond one to one, and JSON that
/// was read and written again is what it was, whatever its keys are.
public enum JSONMapping: Hashable, Sendable {
  /// Both ways exact, as described.
  case lossless
  /// Every object is read as a map, and every map with text keys is written under its own keys.
  /// What JSON can't hold is still written in the forms above, but isn't told from a map that looks
  /// so.
  case plain
}

extension JSONMapping {
  /// What a map of one pair stands for, and how many levels more the map has; nil for itself.
  static func meaning(of map: ValueMap) -> (value: Value, extraLevels: Int)? {
    guard map.count == 1, case .string(let key) = map.pairs[0].key else { return nil }
    return meaning(key: key, map.pairs[0].value)
  }

  /// What an object of one key and its content stands for, and how many levels more the object has
  /// than that; nil for itself.
  static func meaning(key: String, _ content: Value) -> (value: Value, extraLevels: Int)? {
    let dollars = key.utf8.prefix { $0 == UInt8(ascii: "$") }.count
    switch dollars {
    case 0: return nil
    case 1: return form(named: key, content)
    default:
      guard form(named: String(key.dropFirst(dollars - 1)), content) != nil else { return nil }
      var map = ValueMap()
      map[String(key.dropFirst())] = content
      return (.map(map), 0)
    }
  }

  private static func form(named name: String, _ content: Value) -> (Value, Int)? {
    switch (name, content) {
    case ("$bytes", .string(let text)): return Base64.decode(text).map { (.bytes($0), 1) }
    case ("$double", .string(let text)): return notANumber(text).map { (.double($0), 1) }
    case ("$undefined", .bool(true)): return (.undefined, 1)
    case ("$simple", .unsigned(let number)):
      guard let simple = UInt8(exactly: number), !(20...31).contains(simple) else { return nil }
      return (.simple(simple), 1)
    case ("$tagged", .array(let items)):
      guard items.count == 2, case .unsigned(let tag) = items[0],
        !JSONInteger.hasLiteral(tag: tag, items[1])
      else { return nil }
      return (.tagged(tag, items[1]), 1)
    case ("$map", .array(let items)): return map(items).map { (.map($0), 2) }
    default: return nil
    }
  }

  private static func notANumber(_ text: String) -> Double? {
    switch text {
    case "NaN": .nan
    case "Infinity": .infinity
    case "-Infinity": -.infinity
    default: nil
    }
  }

  /// The map of an array of keys with values, if it is one that is written so.
  private static func map(_ items: [Value]) -> ValueMap? {
    var pairs: [ValueMap.Pair] = []
    var hasOtherKeys = false
    for item in items {
      guard case .array(let pair) = item, pair.count == 2 else { return nil }
      if let last = pairs.last {
        guard Value.isOrderedBefore(last.key, pair[0]) else { return nil }
      }
      if case .string = pair[0] {} else { hasOtherKeys = true }
      pairs.append(ValueMap.Pair(key: pair[0], value: pair[1]))
    }
    return hasOtherKeys ? ValueMap(uniquePairs: pairs) : nil
  }
}
