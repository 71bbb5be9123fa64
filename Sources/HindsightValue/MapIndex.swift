// Finding the values of a map by their keys, in whatever order a type asks for them.
// It always holds: an index is sorted by key and free of duplicates once it is built.

/// What a keyed container knows of its map. It lives with the standard library's box that holds
/// the container, and is used again with it.
struct MapTicket {
  struct Entry {
    /// The first eight bytes of the key item.
    var prefix: UInt64
    /// The offsets of the key and of the value.
    var key: UInt32
    var value: UInt32
  }

  var epoch: UInt32 = 0
  /// The node of the map.
  var node: UInt32 = 0
  /// The offset of the map, and of its first key.
  var item = 0
  var firstKey = 0
  /// Where the map ends, once it is indexed; else -1.
  var end = -1
  var count = 0
  /// Of a map of one pair: the offset of its value, once it was found.
  var onlyValue = -1
  /// The offset of the key that was found last.
  var key: UInt32 = 0
  /// A map of one pair isn't indexed.
  var isIndexed = false
  var entries: UnsafeMutablePointer<Entry>
  var capacity = 8
  /// For keys that aren't texts in their shortest form: other texts, sorted.
  var irregular: [(text: [UInt8], key: UInt32, value: UInt32)]?

  init() { entries = .allocate(capacity: capacity) }

  mutating func reserve(_ count: Int) {
    guard count > capacity else { return }
    entries.deallocate()
    capacity = count
    entries = .allocate(capacity: capacity)
  }

  @inline(never)
  mutating func grow() {
    let larger = UnsafeMutablePointer<Entry>.allocate(capacity: capacity * 2)
    larger.moveInitialize(from: entries, count: capacity)
    entries.deallocate()
    (entries, capacity) = (larger, capacity * 2)
  }

  var isLarge: Bool { capacity > 256 || irregular != nil }

  /// Gives back what a large map needed.
  mutating func shrink() {
    entries.deallocate()
    capacity = 8
    entries = .allocate(capacity: capacity)
    irregular = nil
  }
}

extension DecoderCore {
  typealias Ticket = UnsafeMutablePointer<MapTicket>

  /// Notes where the pairs of a map are, and sorts that by key.
  func buildIndex(_ ticket: Ticket, definite count: Int?) throws(CBORError) {
    let start = state.pointee.start
    let end = state.pointee.end
    let sizes = state.pointee.sizes
    var reader = reader(at: ticket.pointee.firstKey)
    ticket.pointee.irregular = nil
    if let count { ticket.pointee.reserve(count) }
    var found = 0
    var isSorted = true
    while true {
      if let count {
        if found == count { break }
      } else if try reader.readEnd() {
        break
      }
      if found == ticket.pointee.capacity { ticket.pointee.grow() }
      let key = reader.current
      reader.current = try CBORSkip.end(ofItemAt: key, end, start, sizes)
      let prefix = safePrefix(key, reader.current - key)
      let isRegular = Self.isRegular(prefix, reader.current - key)
      if _slowPath(!isRegular) { ticket.pointee.irregular = ticket.pointee.irregular ?? [] }
      let entry = MapTicket.Entry(
        prefix: prefix, key: UInt32(truncatingIfNeeded: key - start),
        value: UInt32(truncatingIfNeeded: reader.current - start))
      reader.current = try CBORSkip.end(ofItemAt: reader.current, end, start, sizes)
      if found > 0, compare(ticket.pointee.entries[found - 1], entry) >= 0 { isSorted = false }
      ticket.pointee.entries[found] = entry
      found += 1
    }
    ticket.pointee.count = found
    ticket.pointee.end = reader.position
    ticket.pointee.isIndexed = true
    if !isSorted { try sortIndex(ticket) }
    if _slowPath(ticket.pointee.irregular != nil) { try indexIrregular(ticket) }
  }

  /// The first eight bytes of an item that may be the last of the bytes.
  @inline(__always)
  private func safePrefix(_ item: UnsafeRawPointer, _ length: Int) -> UInt64 {
    if _fastPath(state.pointee.end - item >= 8) { return keyPrefix(item, length) }
    var prefix: UInt64 = 0
    for index in 0..<min(length, 8) {
      let byte = item.load(fromByteOffset: index, as: UInt8.self)
      prefix |= UInt64(byte) << UInt64(56 - 8 * index)
    }
    return prefix
  }

  /// Whether an item is a text in its shortest form, so that equal texts have equal bytes.
  @inline(__always)
  private static func isRegular(_ prefix: UInt64, _ length: Int) -> Bool {
    let byte = UInt8(truncatingIfNeeded: prefix &>> 56)
    if _fastPath(byte ^ 0x60 < 24) { return true }
    switch byte {
    case 0x78: return length >= 24 + 2
    case 0x79: return length >= 0x100 + 3
    case 0x7a: return length >= 0x1_0000 + 5
    default: return false
    }
  }

  /// The order of two keys by their bytes.
  @inline(__always)
  private func compare(_ left: MapTicket.Entry, _ right: MapTicket.Entry) -> Int {
    if _fastPath(left.prefix != right.prefix) { return left.prefix < right.prefix ? -1 : 1 }
    return compareWhole(left, right)
  }

  @inline(never)
  private func compareWhole(_ left: MapTicket.Entry, _ right: MapTicket.Entry) -> Int {
    compareKeys(
      state.pointee.start + Int(left.key), Int(left.value - left.key),
      state.pointee.start + Int(right.key), Int(right.value - right.key))
  }

  private func compareKeys(
    _ left: UnsafeRawPointer, _ leftLength: Int, _ right: UnsafeRawPointer, _ rightLength: Int
  ) -> Int {
    for index in 0..<min(leftLength, rightLength) {
      let a = left.load(fromByteOffset: index, as: UInt8.self)
      let b = right.load(fromByteOffset: index, as: UInt8.self)
      if a != b { return a < b ? -1 : 1 }
    }
    return leftLength - rightLength
  }

  @inline(never)
  private func sortIndex(_ ticket: Ticket) throws(CBORError) {
    let count = ticket.pointee.count
    var entries = UnsafeMutableBufferPointer(start: ticket.pointee.entries, count: count)
    entries.sort { compare($0, $1) < 0 }
    for index in 1..<max(count, 1) where compare(entries[index - 1], entries[index]) == 0 {
      throw CBORError(.duplicateKey, at: Int(entries[index].key))
    }
  }

  /// Sorts a map's texts, and what integers are as texts, where some key isn't regular.
  @inline(never)
  private func indexIrregular(_ ticket: Ticket) throws(CBORError) {
    var texts: [(text: [UInt8], key: UInt32, value: UInt32)] = []
    texts.reserveCapacity(ticket.pointee.count)
    for index in 0..<ticket.pointee.count {
      let entry = ticket.pointee.entries[index]
      guard let text = try text(ofKeyAt: Int(entry.key)) else { continue }
      texts.append((Array(text.utf8), entry.key, entry.value))
    }
    texts.sort { $0.text.lexicographicallyPrecedes($1.text) }
    for index in 1..<max(texts.count, 1) where texts[index - 1].text == texts[index].text {
      throw CBORError(.duplicateKey, at: Int(texts[index].key))
    }
    ticket.pointee.irregular = texts
  }

  /// A key as a text: a text itself, or an integer in decimal; nil for other keys.
  func text(ofKeyAt offset: Int) throws(CBORError) -> String? {
    var reader = reader(at: offset)
    switch reader.nextKind {
    case .string: return try reader.readString()
    case .unsigned: return "\(try reader.readHead(0))"
    case .negative: return Value.negative(try reader.readHead(1)).keyDescription
    default: return nil
    }
  }

  // MARK: Finding

  /// The offset of a key's value, or -1; notes the key's own offset.
  @inline(__always)
  func find<K: CodingKey>(
    _ ticket: Ticket, _ keys: UnsafeMutablePointer<KeyTable>, _ key: borrowing K
  ) throws -> Int {
    guard _fastPath(ticket.pointee.epoch == state.pointee.epoch) else { throw escaped() }
    guard _fastPath(keys.pointee.isSmall) else { return try findText(ticket, key.stringValue) }
    let bytes = keys.pointee.bytes(of: key)
    let length = Int(bytes.pointee.length)
    if _fastPath(ticket.pointee.isIndexed) {
      let position = Int(bytes.pointee.position)
      if _fastPath(position < ticket.pointee.count) {
        let entry = ticket.pointee.entries + position
        if _fastPath(entry.pointee.prefix == bytes.pointee.prefix) {
          if _fastPath(length <= 8 || isKey(entry.pointee, bytes.pointee)) {
            ticket.pointee.key = entry.pointee.key
            return Int(entry.pointee.value)
          }
        }
      }
      return try findOther(ticket, bytes)
    }
    let first = state.pointee.start + ticket.pointee.firstKey
    if _fastPath(
      ticket.pointee.count == 1 && length < state.pointee.end - first
        && isEqual(first, bytes.pointee.bytes, length))
    {
      ticket.pointee.key = UInt32(truncatingIfNeeded: ticket.pointee.firstKey)
      ticket.pointee.onlyValue = ticket.pointee.firstKey &+ length
      return ticket.pointee.onlyValue
    }
    return try findOther(ticket, bytes)
  }

  @inline(__always)
  private func isKey(_ entry: MapTicket.Entry, _ key: KeyBytes) -> Bool {
    let length = Int(entry.value &- entry.key)
    return length == Int(key.length)
      && isEqual(state.pointee.start + Int(entry.key), key.bytes, length)
  }

  @inline(never)
  private func findOther(_ ticket: Ticket, _ key: UnsafeMutablePointer<KeyBytes>) throws -> Int {
    guard let position = try search(ticket, key.pointee) else {
      return findIrregular(ticket, key.pointee)
    }
    key.pointee.position = Int32(truncatingIfNeeded: position)
    ticket.pointee.key = ticket.pointee.entries[position].key
    return Int(ticket.pointee.entries[position].value)
  }

  @inline(never)
  func findText(_ ticket: Ticket, _ text: String) throws -> Int {
    var writer = CBORWriter(capacity: text.utf8.count + 32)
    writer.append(text)
    writer.reserve(16)
    let key = KeyBytes(
      bytes: UnsafeRawPointer(writer.base), length: Int32(truncatingIfNeeded: writer.used),
      position: 0, prefix: keyPrefix(UnsafeRawPointer(writer.base), writer.used))
    let offset: Int
    if let position = try search(ticket, key) {
      ticket.pointee.key = ticket.pointee.entries[position].key
      offset = Int(ticket.pointee.entries[position].value)
    } else {
      offset = findIrregular(ticket, key)
    }
    withExtendedLifetime(writer) {}
    return offset
  }

  /// The place of a key in the index, by halves.
  private func search(_ ticket: Ticket, _ key: KeyBytes) throws -> Int? {
    if !ticket.pointee.isIndexed {
      do {
        try buildIndex(ticket, definite: ticket.pointee.count)
      } catch {
        throw failure(error, Place(node: ticket.pointee.node))
      }
    }
    var low = 0
    var high = ticket.pointee.count
    while low < high {
      let middle = (low + high) / 2
      let entry = ticket.pointee.entries[middle]
      var order = 0
      if entry.prefix != key.prefix {
        order = entry.prefix < key.prefix ? -1 : 1
      } else {
        order = compareKeys(
          state.pointee.start + Int(entry.key), Int(entry.value - entry.key), key.bytes,
          Int(key.length))
      }
      if order == 0 { return middle }
      if order < 0 { low = middle + 1 } else { high = middle }
    }
    return nil
  }

  private func findIrregular(_ ticket: Ticket, _ key: KeyBytes) -> Int {
    guard let texts = ticket.pointee.irregular else { return -1 }
    var reader = CBORReader(UnsafeRawBufferPointer(start: key.bytes, count: Int(key.length)))
    guard let content = try? reader.readDefinite(3) else { return -1 }
    var low = 0
    var high = texts.count
    while low < high {
      let middle = (low + high) / 2
      if texts[middle].text.lexicographicallyPrecedes(content) {
        low = middle + 1
      } else {
        high = middle
      }
    }
    guard low < texts.count, texts[low].text.elementsEqual(content) else { return -1 }
    ticket.pointee.key = texts[low].key
    return Int(texts[low].value)
  }
}
