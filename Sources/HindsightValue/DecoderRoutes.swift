// Routes for what the standard library decodes slowly, or from one form only.

final class IntegerReadRoute<T: FixedWidthInteger>: DecodeRoute<T> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> T {
    try core.integer(T.self, offset, place)
  }
}

final class StringReadRoute: DecodeRoute<String> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> String {
    try core.string(offset, place)
  }
}

final class BoolReadRoute: DecodeRoute<Bool> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Bool {
    try core.bool(offset, place)
  }
}

final class DoubleReadRoute: DecodeRoute<Double> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Double {
    try core.double(offset, place)
  }
}

final class FloatReadRoute: DecodeRoute<Float> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Float {
    try core.float(offset, place)
  }
}

final class OptionalReadRoute<Wrapped: Decodable>: DecodeRoute<Wrapped?> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Wrapped? {
    if core.isNull(offset) { return nil }
    return try core.value(Wrapped.self, offset, place)
  }
}

final class ArrayReadRoute<Element: Decodable>: DecodeRoute<[Element]> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [Element] {
    var items: [Element] = []
    try core.eachItem(Element.self, offset, place) { item, count in
      if items.isEmpty {
        items.reserveCapacity(core.reservation(count, sizeBytes: MemoryLayout<Element>.stride))
      }
      items.append(item)
    }
    return items
  }
}

final class SetReadRoute<Element: Decodable & Hashable>: DecodeRoute<Set<Element>> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Set<Element> {
    var items: Set<Element> = []
    try core.eachItem(Element.self, offset, place) { item, count in
      if items.isEmpty {
        items.reserveCapacity(core.reservation(count, sizeBytes: 2 * MemoryLayout<Element>.stride))
      }
      items.insert(item)
    }
    return items
  }
}

/// A dictionary from a map, or from an array of keys and values in turn.
final class DictionaryReadRoute<Key: Decodable & Hashable, Value: Decodable>:
  DecodeRoute<[Key: Value]>
{
  private let pairSizeBytes = 2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride)

  override func decode(
    _ core: DecoderCore, _ offset: Int, _ place: Place
  ) throws -> [Key: Value] {
    guard let item = core.untagged(offset), core.reader(at: item).nextKind != .array else {
      return try decodeAlternating(core, offset, place)
    }
    return try core.nested(item, place) { node in
      var reader = core.reader(at: item)
      let count: Int?
      do throws(CBORError) {
        count = try reader.readMapHeader()
      } catch {
        throw core.failure(error, place, expecting: [Key: Value].self)
      }
      var pairs: [Key: Value] = [:]
      pairs.reserveCapacity(core.reservation(count ?? 0, sizeBytes: pairSizeBytes))
      var number = 0
      var position = reader.position
      while try core.hasMore(number, of: count, at: &position, place) {
        let place = Place(node: node, key: UInt32(truncatingIfNeeded: position))
        let key = try decodeKey(core, position, place)
        position = try core.endOfLast(position, place)
        let value = try core.value(Value.self, position, place)
        guard pairs.updateValue(value, forKey: key) == nil else {
          let error = CBORError(.duplicateKey, at: position)
          throw core.failure(error, place)
        }
        position = try core.endOfLast(position, place)
        number += 1
      }
      core.state.pointee.lastEnd = position
      return pairs
    }
  }

  /// A key as what it is; from a text also as the key that a `CodingKeyRepresentable` type names.
  @inline(__always)
  private func decodeKey(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Key {
    do {
      return try core.value(Key.self, offset, place)
    } catch {
      guard let type = Key.self as? any CodingKeyRepresentable.Type,
        let text = try? core.string(offset, place),
        let key = type.init(codingKey: CBORCodingKey(numericText: text)) as? Key
      else { throw error }
      return key
    }
  }

  private func decodeAlternating(
    _ core: DecoderCore, _ offset: Int, _ place: Place
  ) throws -> [Key: Value] {
    try core.nested(offset, place) { node in
      var items = try core.unkeyed(offset, node)
      guard let count = items.count, count % 2 == 0 else {
        throw core.corrupted("a dictionary in an array lacks the value of its last key", place)
      }
      var pairs: [Key: Value] = [:]
      pairs.reserveCapacity(core.reservation(count / 2, sizeBytes: pairSizeBytes))
      while !items.isAtEnd {
        let key = try items.decode(Key.self)
        guard pairs.updateValue(try items.decode(Value.self), forKey: key) == nil else {
          throw core.corrupted("a dictionary has the same key twice", place)
        }
      }
      core.state.pointee.lastEnd = -1
      return pairs
    }
  }
}

extension DecoderCore {
  /// Calls a closure one level deeper, with the node of the container.
  @inline(__always)
  func nested<R>(_ offset: Int, _ place: Place, _ body: (UInt32) throws -> R) throws -> R {
    state.pointee.depth &+= 1
    let nodes = state.pointee.nodeCount
    defer {
      state.pointee.depth &-= 1
      state.pointee.nodeCount = nodes
    }
    if _slowPath(state.pointee.depth > 32) { try checkStack(offset, place) }
    return try body(node(of: place))
  }

  /// Decodes the items of an array; the closure gets each, and how many there are.
  @inline(__always)
  func eachItem<T: Decodable>(
    _ type: T.Type, _ offset: Int, _ place: Place, _ body: (T, Int) -> Void
  ) throws {
    try nested(offset, place) { node in
      let head = try arrayHead(offset, place)
      var position = head.first
      for index in 0..<head.count {
        let place = Place(node: node, index: index)
        body(try value(type, position, place), head.count)
        position = try endOfLast(position, place)
      }
      state.pointee.lastEnd = head.hasEndMarker ? position + 1 : position
    }
  }

  /// Where the item ends that was just decoded.
  @inline(__always)
  func endOfLast(_ offset: Int, _ place: Place) throws -> Int {
    let end = state.pointee.lastEnd
    if _fastPath(end > offset) { return end }
    do {
      return try self.end(ofItemAt: offset)
    } catch {
      throw failure(error, place)
    }
  }

  /// Whether a map has another pair; steps over its end marker.
  @inline(__always)
  func hasMore(_ number: Int, of count: Int?, at offset: inout Int, _ place: Place) throws -> Bool {
    if let count { return number < count }
    var reader = reader(at: offset)
    do {
      guard try reader.readEnd() else { return true }
    } catch {
      throw failure(error, place)
    }
    offset = reader.position
    return false
  }
}

extension DecodeRouted where Self: FixedWidthInteger {
  static func makeDecodeRoute() -> AnyObject { IntegerReadRoute<Self>() }
}
extension Int: DecodeRouted {}
extension Int8: DecodeRouted {}
extension Int16: DecodeRouted {}
extension Int32: DecodeRouted {}
extension Int64: DecodeRouted {}
extension Int128: DecodeRouted {}
extension UInt: DecodeRouted {}
extension UInt8: DecodeRouted {}
extension UInt16: DecodeRouted {}
extension UInt32: DecodeRouted {}
extension UInt64: DecodeRouted {}
extension UInt128: DecodeRouted {}
extension String: DecodeRouted {
  static func makeDecodeRoute() -> AnyObject { StringReadRoute() }
}
extension Bool: DecodeRouted {
  static func makeDecodeRoute() -> AnyObject { BoolReadRoute() }
}
extension Double: DecodeRouted {
  static func makeDecodeRoute() -> AnyObject { DoubleReadRoute() }
}
extension Float: DecodeRouted {
  static func makeDecodeRoute() -> AnyObject { FloatReadRoute() }
}
extension Optional: DecodeRouted where Wrapped: Decodable {
  static func makeDecodeRoute() -> AnyObject { OptionalReadRoute<Wrapped>() }
}
extension Array: DecodeRouted where Element: Decodable {
  static func makeDecodeRoute() -> AnyObject { ArrayReadRoute<Element>() }
}
extension Set: DecodeRouted where Element: Decodable {
  static func makeDecodeRoute() -> AnyObject { SetReadRoute<Element>() }
}
extension Dictionary: DecodeRouted where Key: Decodable, Value: Decodable {
  static func makeDecodeRoute() -> AnyObject { DictionaryReadRoute<Key, Value>() }
}
