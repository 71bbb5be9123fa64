// The keyed container of a decoder, which finds values by key in any order.

/// A map that is being read: what is in the standard library's box, and used again with it.
struct MapDecoding<Key: CodingKey>: KeyedDecodingContainerProtocol {
  let core: DecoderCore
  let keys: UnsafeMutablePointer<KeyTable>
  let ticket: UnsafeMutablePointer<MapTicket>

  private var isCurrent: Bool { ticket.pointee.epoch == core.state.pointee.epoch }

  var codingPath: [any CodingKey] {
    isCurrent ? core.codingPath(Place(node: ticket.pointee.node)) : []
  }

  var allKeys: [Key] {
    guard isCurrent else { return [] }
    return core.singleKeys(ticket, keys) ?? manyKeys()
  }

  @inline(never)
  private func manyKeys() -> [Key] {
    let ticket = ticket
    if !ticket.pointee.isIndexed,
      (try? core.buildIndex(ticket, definite: ticket.pointee.count)) == nil
    {
      return []
    }
    return (0..<ticket.pointee.count).compactMap { index in
      let offset = Int(ticket.pointee.entries[index].key)
      guard let text = try? core.text(ofKeyAt: offset) else { return nil }
      return Key(stringValue: text)
    }
  }

  func contains(_ key: Key) -> Bool { ((try? core.find(ticket, keys, key)) ?? -1) >= 0 }

  /// The offset of the value of a key that must be there.
  @inline(__always)
  private func offset(_ key: borrowing Key) throws -> Int {
    let offset = try core.find(ticket, keys, key)
    if _slowPath(offset < 0) { throw missing(copy key) }
    return offset
  }

  @inline(never)
  private func missing(_ key: any CodingKey) -> DecodingError {
    let context = DecodingError.Context(
      codingPath: codingPath, debugDescription: "no value for the key “\(key.stringValue)”")
    return .keyNotFound(key, context)
  }

  /// The place of the key that was found last.
  @inline(__always)
  private var place: Place { Place(node: ticket.pointee.node, key: ticket.pointee.key) }

  func decodeNil(forKey key: Key) throws -> Bool { core.isNull(try offset(key)) }
  func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
    try core.bool(try offset(key), place)
  }
  func decode(_ type: String.Type, forKey key: Key) throws -> String {
    try core.string(try offset(key), place)
  }
  func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
    try core.double(try offset(key), place)
  }
  func decode(_ type: Float.Type, forKey key: Key) throws -> Float {
    try core.float(try offset(key), place)
  }
  func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try integer(type, key) }
  func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try integer(type, key) }
  func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try integer(type, key) }
  func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try integer(type, key) }
  func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try integer(type, key) }
  func decode(_ type: Int128.Type, forKey key: Key) throws -> Int128 { try integer(type, key) }
  func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try integer(type, key) }
  func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try integer(type, key) }
  func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try integer(type, key) }
  func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try integer(type, key) }
  func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try integer(type, key) }
  func decode(_ type: UInt128.Type, forKey key: Key) throws -> UInt128 { try integer(type, key) }
  func decode<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T {
    try core.value(type, try offset(key), place)
  }

  @inline(__always)
  private func integer<I: FixedWidthInteger>(_ type: I.Type, _ key: borrowing Key) throws -> I {
    try core.integer(type, try offset(key), place)
  }

  // Without these, each optional would be looked up three times.

  /// The offset of a value that is there and not null, or -1.
  @inline(__always)
  private func present(_ key: borrowing Key) throws -> Int {
    let offset = try core.find(ticket, keys, key)
    return offset < 0 || core.isNull(offset) ? -1 : offset
  }

  @inline(__always)
  private func ifPresent<T>(
    _ key: borrowing Key, _ read: (DecoderCore, Int, Place) throws -> T
  ) throws -> T? {
    let offset = try present(key)
    return offset < 0 ? nil : try read(core, offset, place)
  }

  func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
    try ifPresent(key) { try $0.bool($1, $2) }
  }
  func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
    try ifPresent(key) { try $0.string($1, $2) }
  }
  func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
    try ifPresent(key) { try $0.double($1, $2) }
  }
  func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? {
    try ifPresent(key) { try $0.float($1, $2) }
  }
  func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: Int128.Type, forKey key: Key) throws -> Int128? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent(_ type: UInt128.Type, forKey key: Key) throws -> UInt128? {
    try ifPresent(key) { try $0.integer(type, $1, $2) }
  }
  func decodeIfPresent<T: Decodable>(_ type: T.Type, forKey key: Key) throws -> T? {
    try ifPresent(key) { try $0.value(type, $1, $2) }
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) throws -> KeyedDecodingContainer<K> {
    let offset = try offset(key)
    return try core.keyed(type, offset, core.node(of: place))
  }

  func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
    let offset = try offset(key)
    return try core.unkeyed(offset, core.node(of: place))
  }

  func superDecoder() throws -> any Decoder {
    let offset = try core.findText(ticket, "super")
    guard offset >= 0 else { throw missing(CBORCodingKey.superKey) }
    return core.slotDecoder(offset, core.node(of: place))
  }

  func superDecoder(forKey key: Key) throws -> any Decoder {
    let offset = try offset(key)
    return core.slotDecoder(offset, core.node(of: place))
  }
}

/// The keys of a map of one pair, kept as an object.
final class SingleKeys<Key> {
  let keys: [Key]

  init(_ keys: [Key]) { self.keys = keys }
}

extension DecoderCore {
  /// The keys of a map of one pair, as enums ask for them: the same array for the same bytes.
  @inline(__always)
  func singleKeys<K: CodingKey>(
    _ ticket: Ticket, _ keys: UnsafeMutablePointer<KeyTable>
  ) -> [K]? {
    guard ticket.pointee.count == 1, !ticket.pointee.isIndexed, keys.pointee.isSmall else {
      return nil
    }
    let first = state.pointee.start + ticket.pointee.firstKey
    let left = state.pointee.end - first
    for index in 0..<keys.pointee.singleCount {
      let single = keys.pointee.singles + index
      if Int(single.pointee.length) <= left,
        isEqual(first, single.pointee.bytes, Int(single.pointee.length))
      {
        return single.pointee.keys._withUnsafeGuaranteedRef {
          unsafeDowncast($0, to: SingleKeys<K>.self).keys
        }
      }
    }
    return addSingle(ticket, keys)
  }

  @inline(never)
  private func addSingle<K: CodingKey>(
    _ ticket: Ticket, _ table: UnsafeMutablePointer<KeyTable>
  ) -> [K]? {
    var reader = reader(at: ticket.pointee.firstKey)
    guard reader.nextKind == .string, let text = try? reader.readString(),
      let key = K(stringValue: text)
    else { return nil }
    let bytes = KeyTable.make(text)
    // Only keys that the type has can be here, in one form each, so these are few.
    let length = reader.position - ticket.pointee.firstKey
    guard length == Int(bytes.length), table.pointee.singleCount < KeyTable.singleLimit else {
      UnsafeMutableRawPointer(mutating: bytes.bytes).deallocate()
      return [key]
    }
    let keys = SingleKeys([key])
    (table.pointee.singles + table.pointee.singleCount).initialize(
      to: KeyTable.Single(
        bytes: bytes.bytes, length: bytes.length, keys: Unmanaged.passRetained(keys)))
    table.pointee.singleCount += 1
    return keys.keys
  }
}
