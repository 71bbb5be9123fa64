// One step of a pointer: which element of an array or map a token names.
// It always holds: a token names at most one element, and never one by Swift's string equality.

/// The element of an array or map that a token names.
enum JSONPointerStep {
  case element(Int)
  case key(Value)
}

/// What is wrong with a token where it is applied.
struct JSONPointerFault: Error {
  let code: JSONPointerError.Code
  let reason: String

  func error(_ pointer: JSONPointer, tokenIndex: Int?) -> JSONPointerError {
    let place = tokenIndex.map { JSONPointer(Array(pointer.tokens[...$0])).description }
    return JSONPointerError(
      code: code, pointer: pointer.description, tokenIndex: tokenIndex,
      message: "\(JSONWriter().string(.string(place ?? pointer.description))): \(reason)")
  }
}

extension Value {
  /// The existing element that a token names.
  func step(_ token: String) throws(JSONPointerFault) -> JSONPointerStep {
    switch self {
    case .array(let items):
      return .element(try Value.arrayIndex(token, count: items.count, isForInsertion: false))
    case .map(let map):
      guard let key = map.existingKey(named: token) else {
        throw JSONPointerFault(code: .keyNotFound, reason: "there is no such key")
      }
      return .key(key)
    default: throw notAContainer
    }
  }

  /// Where a new element that a token names goes; the key may exist.
  func insertionStep(_ token: String) throws(JSONPointerFault) -> JSONPointerStep {
    switch self {
    case .array(let items):
      return .element(try Value.arrayIndex(token, count: items.count, isForInsertion: true))
    case .map(let map): return .key(map.key(named: token))
    default: throw notAContainer
    }
  }

  private var notAContainer: JSONPointerFault {
    JSONPointerFault(
      code: .notAContainer, reason: "there is nothing inside what is neither map nor array")
  }

  /// The index that a token names (RFC 6901, section 4): `-` only where an element is inserted.
  private static func arrayIndex(
    _ token: String, count: Int, isForInsertion: Bool
  ) throws(JSONPointerFault) -> Int {
    let digits = token.utf8
    if digits.elementsEqual("-".utf8) {
      if isForInsertion { return count }
      throw JSONPointerFault(code: .indexOutOfRange, reason: "'-' is behind the last element")
    }
    guard let first = digits.first, digits.allSatisfy({ (0x30...0x39).contains($0) }),
      first != 0x30 || digits.count == 1
    else {
      throw JSONPointerFault(
        code: .invalidIndex, reason: "an index has digits only and no leading zeros")
    }
    guard let index = Int(token), index < count + (isForInsertion ? 1 : 0) else {
      throw JSONPointerFault(
        code: .indexOutOfRange, reason: "the array has \(count) element\(count == 1 ? "" : "s")")
    }
    return index
  }
}

extension ValueMap {
  /// The key of this map that a token names: a string, or else any other key by its compact JSON.
  func existingKey(named token: String) -> Value? {
    if self[token] != nil { return .string(token) }
    guard hasOtherKeysThanText, let key = Value.otherKey(token) else { return nil }
    return self[key] == nil ? nil : key
  }

  /// The key that a token names for setting: an existing one; or else a string, unless all keys are
  /// something else and the token is the compact JSON of such a key.
  func key(named token: String) -> Value {
    if let key = existingKey(named: token) { return key }
    if hasOtherKeysThanText, !hasTextKeys, let key = Value.otherKey(token) { return key }
    return .string(token)
  }

  /// Whether there is a text key. O(log n).
  var hasTextKeys: Bool {
    var low = 0
    var high = pairs.count
    while low < high {
      let middle = (low + high) / 2
      let isBefore = Value.isOrderedBefore(pairs[middle].key, .string(""))
      if isBefore { low = middle + 1 } else { high = middle }
    }
    guard low < pairs.count, case .string = pairs[low].key else { return false }
    return true
  }
}

extension Value {
  /// The key that isn't a string and whose compact JSON a token is.
  fileprivate static func otherKey(_ token: String) -> Value? {
    guard let key = try? Value(json: token), key.json.isSame(as: token) else { return nil }
    if case .string = key { return nil }
    return key
  }

  /// The token that names a key.
  static func token(forKey key: Value) -> String {
    if case .string(let text) = key { text } else { key.json }
  }
}
