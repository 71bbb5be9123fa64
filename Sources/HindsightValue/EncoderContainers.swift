// The containers that `Encodable` types write to. They hold a pointer and a ticket, nothing else.

/// What a type's `encode(to:)` gets: one slot, to be filled once.
struct SlotEncoder: Encoder {
  let core: EncoderCore
  /// The container around the slot (in a tree: the tree), and where its value starts (the slot).
  let parent: EncoderTicket
  let position: Int

  var codingPath: [any CodingKey] { core.codingPath }
  var userInfo: [CodingUserInfoKey: Any] { core.state.pointee.userInfo }

  /// Opens the slot's container, or goes on with it where it was asked for before.
  @inline(__always)
  private func open(_ kind: ContainerKind) -> EncoderTicket {
    if _fastPath(isUntouched) { return core.open(kind) }
    return openOther(kind)
  }

  /// Whether the slot is the innermost, and nothing is written to it.
  @inline(__always)
  fileprivate var isUntouched: Bool {
    let state = core.state
    let index = Int(parent.frame)
    return state.pointee.top == index && core.count == position
      && state.pointee.frames[index].serial == parent.serial && state.pointee.isActive
  }

  @inline(never)
  private func openOther(_ kind: ContainerKind) -> EncoderTicket {
    let state = core.state
    if let tree = state.pointee.tree {
      guard tree.serial == parent.serial else { return .none }
      tree.finishCurrent(at: core.count)
      tree.current = position
      return core.openInTree(kind)
    }
    guard state.pointee.isActive, parent.serial >= state.pointee.firstSerial else { return .none }
    let child = Int(parent.frame) + 1
    if child > state.pointee.root, state.pointee.top >= child,
      state.pointee.frames[child - 1].serial == parent.serial
    {
      let frame = state.pointee.frames[child]
      if frame.head == position, frame.kind == kind {
        return EncoderTicket(frame: Int32(child), serial: frame.serial)
      }
    }
    state.pointee.needsTree = true
    return .none
  }

  func container<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
    core.keyed(type, open(.map))
  }

  func unkeyedContainer() -> any UnkeyedEncodingContainer {
    ArrayEncoding(core: core, ticket: open(.array))
  }

  func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension SlotEncoder: SingleValueEncodingContainer {
  /// Makes sure that the slot is there to be filled.
  @inline(__always)
  private func begin() throws -> EncoderCore {
    if _slowPath(!isUntouched) { try beginOther() }
    return core
  }

  @inline(never)
  private func beginOther() throws {
    let state = core.state
    if let failure = state.pointee.failure { throw failure }
    guard state.pointee.isActive, parent.serial >= state.pointee.firstSerial else {
      throw core.escaped()
    }
    guard let tree = state.pointee.tree else {
      state.pointee.needsTree = true
      throw NeedsTree()
    }
    guard tree.serial == parent.serial else { throw core.escaped() }
    guard tree.isEmpty(position, at: core.count) else { throw core.encodedTwice() }
    tree.resume(position, at: core.count)
  }

  func encodeNil() throws { try begin().state.pointee.writer.appendNull() }
  func encode(_ value: Bool) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: String) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: Double) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: Float) throws { try begin().state.pointee.writer.append(Double(value)) }
  func encode(_ value: Int) throws { try begin().integer(value) }
  func encode(_ value: Int8) throws { try begin().integer(value) }
  func encode(_ value: Int16) throws { try begin().integer(value) }
  func encode(_ value: Int32) throws { try begin().integer(value) }
  func encode(_ value: Int64) throws { try begin().integer(value) }
  func encode(_ value: Int128) throws { try begin().integer(value) }
  func encode(_ value: UInt) throws { try begin().integer(value) }
  func encode(_ value: UInt8) throws { try begin().integer(value) }
  func encode(_ value: UInt16) throws { try begin().integer(value) }
  func encode(_ value: UInt32) throws { try begin().integer(value) }
  func encode(_ value: UInt64) throws { try begin().integer(value) }
  func encode(_ value: UInt128) throws { try begin().integer(value) }
  func encode<T: Encodable>(_ value: T) throws { try begin().value(value) }
}

/// An array that is being written.
struct ArrayEncoding: UnkeyedEncodingContainer {
  let core: EncoderCore
  let ticket: EncoderTicket

  var codingPath: [any CodingKey] { core.codingPath(of: ticket) }
  var count: Int { core.itemCount(ticket) }

  @inline(__always)
  private func begin() throws -> EncoderCore {
    try core.beginItem(ticket)
    return core
  }

  func encodeNil() throws { try begin().state.pointee.writer.appendNull() }
  func encode(_ value: Bool) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: String) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: Double) throws { try begin().state.pointee.writer.append(value) }
  func encode(_ value: Float) throws { try begin().state.pointee.writer.append(Double(value)) }
  func encode(_ value: Int) throws { try begin().integer(value) }
  func encode(_ value: Int8) throws { try begin().integer(value) }
  func encode(_ value: Int16) throws { try begin().integer(value) }
  func encode(_ value: Int32) throws { try begin().integer(value) }
  func encode(_ value: Int64) throws { try begin().integer(value) }
  func encode(_ value: Int128) throws { try begin().integer(value) }
  func encode(_ value: UInt) throws { try begin().integer(value) }
  func encode(_ value: UInt8) throws { try begin().integer(value) }
  func encode(_ value: UInt16) throws { try begin().integer(value) }
  func encode(_ value: UInt32) throws { try begin().integer(value) }
  func encode(_ value: UInt64) throws { try begin().integer(value) }
  func encode(_ value: UInt128) throws { try begin().integer(value) }
  func encode<T: Encodable>(_ value: T) throws { try begin().value(value) }

  func nestedContainer<K: CodingKey>(keyedBy type: K.Type) -> KeyedEncodingContainer<K> {
    core.keyed(type, core.openItem(ticket, .map))
  }

  func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
    ArrayEncoding(core: core, ticket: core.openItem(ticket, .array))
  }

  func superEncoder() -> any Encoder {
    (try? core.beginItem(ticket)).map { core.slotEncoder() } ?? core.deadEncoder()
  }
}

/// A map that is being written: what is in the standard library's box, and used again with it.
struct MapEncoding<Key: CodingKey>: KeyedEncodingContainerProtocol {
  let core: EncoderCore
  let keys: UnsafeMutablePointer<KeyTable>
  let ticket: UnsafeMutablePointer<EncoderTicket>

  var codingPath: [any CodingKey] { core.codingPath(of: ticket.pointee) }

  @inline(__always)
  private func begin(_ key: borrowing Key) throws -> EncoderCore {
    try core.beginEntry(ticket.pointee, keys, key)
    return core
  }

  func encodeNil(forKey key: Key) throws { try begin(key).state.pointee.writer.appendNull() }
  func encode(_ value: Bool, forKey key: Key) throws {
    try begin(key).state.pointee.writer.append(value)
  }
  func encode(_ value: String, forKey key: Key) throws {
    try begin(key).state.pointee.writer.append(value)
  }
  func encode(_ value: Double, forKey key: Key) throws {
    try begin(key).state.pointee.writer.append(value)
  }
  func encode(_ value: Float, forKey key: Key) throws {
    try begin(key).state.pointee.writer.append(Double(value))
  }
  func encode(_ value: Int, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: Int8, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: Int16, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: Int32, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: Int64, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: Int128, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt8, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt16, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt32, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt64, forKey key: Key) throws { try begin(key).integer(value) }
  func encode(_ value: UInt128, forKey key: Key) throws { try begin(key).integer(value) }
  func encode<T: Encodable>(_ value: T, forKey key: Key) throws { try begin(key).value(value) }

  @inline(__always)
  private func open(_ kind: ContainerKind, _ key: Key) -> EncoderTicket {
    let ticket = ticket.pointee
    if _slowPath(core.state.pointee.tree != nil),
      core.resumeInTree(ticket, key.stringValue, kind)
    {
      return core.openInTree(kind)
    }
    guard (try? core.beginEntry(ticket, keys, key)) != nil else { return .none }
    return core.open(kind)
  }

  func nestedContainer<K: CodingKey>(
    keyedBy type: K.Type, forKey key: Key
  ) -> KeyedEncodingContainer<K> {
    core.keyed(type, open(.map, key))
  }

  func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
    ArrayEncoding(core: core, ticket: open(.array, key))
  }

  func superEncoder() -> any Encoder { superEncoder(named: "super") }

  func superEncoder(forKey key: Key) -> any Encoder { superEncoder(named: key.stringValue) }

  private func superEncoder(named name: String) -> any Encoder {
    (try? core.beginEntry(ticket.pointee, text: name)).map { core.slotEncoder() }
      ?? core.deadEncoder()
  }
}
