// Routes for what the standard library decodes slowly, or from one form only.

final class OptionalReadRoute<Wrapped: Decodable>: DecodeRoute<Wrapped?> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Wrapped? {
    if core.isNull(offset) { return nil }
    return try core.value(Wrapped.self, offset, place)
  }
}

final class ArrayReadRoute<Element: Decodable>: DecodeRoute<[Element]> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [Element] {
    try core.array(offset, place) { try $0.value(Element.self, $1, $2) }
  }
}

final class SetReadRoute<Element: Decodable & Hashable>: DecodeRoute<Set<Element>> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Set<Element> {
    Set(try core.array(offset, place) { try $0.value(Element.self, $1, $2) })
  }
}

/// A dictionary from a map, or from an array of keys and values in turn.
final class DictionaryReadRoute<Key: Decodable & Hashable, Value: Decodable>:
  DecodeRoute<[Key: Value]>
{
  override func decode(
    _ core: DecoderCore, _ offset: Int, _ place: Place
  ) throws -> [Key: Value] {
    try core.dictionary(offset, place, key: decodeKey) { try $0.value(Value.self, $1, $2) }
  }

  /// A key as what it is; from a text also as the key that a `CodingKeyRepresentable` type names.
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
}

extension DecoderCore {
  typealias Read<T> = (DecoderCore, Int, Place) throws -> T

  @inline(__always)
  func dictionary<Key: Hashable, Value>(
    _ offset: Int, _ place: Place, key readKey: Read<Key>, value readValue: Read<Value>
  ) throws -> [Key: Value] {
    let item = untagged(offset) ?? offset
    return try nested(item, place) { node in
      if _slowPath(reader(at: item).nextKind == .array) {
        return try alternating(item, node, place, readKey, readValue)
      }
      var reader = reader(at: item)
      let count: Int?
      do throws(CBORError) {
        count = try reader.readMapHeader()
      } catch {
        throw failure(error, place, expecting: [Key: Value].self)
      }
      var pairs: [Key: Value] = [:]
      reserve(&pairs, count ?? 0)
      var number = 0
      var position = reader.position
      while try hasMore(number, of: count, at: &position, place) {
        let place = Place(node: node, key: UInt32(truncatingIfNeeded: position))
        let key = try readKey(self, position, place)
        position = try endOfLast(position, place)
        let value = try readValue(self, position, place)
        guard _fastPath(pairs.updateValue(value, forKey: key) == nil) else {
          throw failure(CBORError(.duplicateKey, at: position), place)
        }
        position = try endOfLast(position, place)
        number &+= 1
      }
      state.pointee.lastEnd = position
      return pairs
    }
  }

  @inline(__always)
  private func reserve<Key, Value>(_ pairs: inout [Key: Value], _ count: Int) {
    let sizeBytes = 2 * (MemoryLayout<Key>.stride + MemoryLayout<Value>.stride)
    pairs.reserveCapacity(reservation(count, sizeBytes: sizeBytes))
  }

  @inline(never)
  private func alternating<Key: Hashable, Value>(
    _ offset: Int, _ node: UInt32, _ place: Place, _ readKey: Read<Key>, _ readValue: Read<Value>
  ) throws -> [Key: Value] {
    let head = try arrayHead(offset, place)
    guard head.count % 2 == 0 else {
      throw corrupted("a dictionary in an array lacks the value of its last key", place)
    }
    var pairs: [Key: Value] = [:]
    reserve(&pairs, head.count / 2)
    var position = head.first
    for index in stride(from: 0, to: head.count, by: 2) {
      let keyPlace = Place(node: node, index: index)
      let key = try readKey(self, position, keyPlace)
      position = try endOfLast(position, keyPlace)
      let valuePlace = Place(node: node, index: index + 1)
      let value = try readValue(self, position, valuePlace)
      guard pairs.updateValue(value, forKey: key) == nil else {
        throw failure(CBORError(.duplicateKey, at: position), keyPlace)
      }
      position = try endOfLast(position, valuePlace)
    }
    state.pointee.lastEnd = head.hasEndMarker ? position + 1 : position
    return pairs
  }

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

  /// The items of an array.
  @inline(__always)
  func array<T>(_ offset: Int, _ place: Place, _ read: Read<T>) throws -> [T] {
    try nested(offset, place) { node in
      let head = try arrayHead(offset, place)
      var items: [T] = []
      items.reserveCapacity(reservation(head.count, sizeBytes: MemoryLayout<T>.stride))
      var position = head.first
      for index in 0..<head.count {
        let place = Place(node: node, index: index)
        items.append(try read(self, position, place))
        position = try endOfLast(position, place)
      }
      state.pointee.lastEnd = head.hasEndMarker ? position + 1 : position
      return items
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

extension Optional: DecodeRouted where Wrapped: Decodable {
  static func makeDecodeRoute() -> AnyObject { OptionalReadRoute<Wrapped>() }
}
extension Array: DecodeRouted where Element: Decodable {
  static func makeDecodeRoute() -> AnyObject {
    (Element.self as? any Primitive.Type)?.arrayRoutes.decode ?? ArrayReadRoute<Element>()
  }
}
extension Set: DecodeRouted where Element: Decodable {
  static func makeDecodeRoute() -> AnyObject { SetReadRoute<Element>() }
}
extension Dictionary: DecodeRouted where Key: Decodable, Value: Decodable {
  static func makeDecodeRoute() -> AnyObject {
    guard Key.self == String.self, let value = Value.self as? any Primitive.Type else {
      return DictionaryReadRoute<Key, Value>()
    }
    return value.dictionaryRoutes.decode
  }
}
