// How an encoder finds the way to encode a value: by its type, known from before.

/// A way to encode a type that is shorter, or more exact, than its `encode(to:)`.
class EncodeRoute<T> {
  func encode(_ value: T, _ core: EncoderCore) throws {
    preconditionFailure("EncodeRoute is abstract")
  }
}

/// A type of the standard library or Foundation that has a route of its own.
protocol EncodeRouted {
  static func makeEncodeRoute() -> AnyObject
}

/// The route of types that write their CBOR themselves.
final class WriterRoute<T: CBORCodable>: EncodeRoute<T> {
  override func encode(_ value: T, _ core: EncoderCore) throws {
    guard core.state.pointee.usesCBORCodable || T.self == Value.self else {
      return try core.plain(value)
    }
    let state = core.state
    let mark = core.mark()
    let depth = state.pointee.writer.depth
    state.pointee.depth &+= 1
    defer {
      state.pointee.depth &-= 1
      state.pointee.writer.depth = depth
    }
    if _slowPath(state.pointee.depth > 32) { try core.checkStack() }
    state.pointee.writer.depth = max(state.pointee.top, state.pointee.depth &- 1)
    do {
      try value.encode(into: &state.pointee.writer)
    } catch {
      core.abandon(mark)
      guard let error = error as? CBORError else { throw error }
      // Not the value itself if it is too deep: who prints it would use up the stack.
      throw core.invalid(error.code == .tooDeep ? "…" : value, error.message, error)
    }
  }
}

extension EncoderCore {
  /// Encodes a value into the innermost slot.
  @inline(__always)
  func value<T: Encodable>(_ value: T) throws {
    let route = state.pointee.routes.object(of: T.self) { Self.makeRoute(T.self) }
    guard let route else { return try plain(value) }
    try route._withUnsafeGuaranteedRef {
      try unsafeDowncast($0, to: EncodeRoute<T>.self).encode(value, self)
    }
  }

  @inline(never)
  private static func makeRoute<T>(_ type: T.Type) -> AnyObject? {
    if let type = type as? any EncodeRouted.Type { return type.makeEncodeRoute() }
    if let type = type as? any CBORCodable.Type { return makeWriterRoute(type) }
    return nil
  }

  private static func makeWriterRoute<T: CBORCodable>(_ type: T.Type) -> AnyObject {
    WriterRoute<T>()
  }

  /// Encodes a value with its `encode(to:)`.
  @inline(__always)
  func plain<T: Encodable>(_ value: T) throws {
    state.pointee.depth &+= 1
    defer { state.pointee.depth &-= 1 }
    if _slowPath(state.pointee.depth > 32) { try checkStack() }
    let mark = mark()
    do {
      try value.encode(
        to: SlotEncoder(core: self, parent: mark.parent, position: mark.position))
    } catch {
      abandon(mark)
      throw error
    }
    try leave(mark)
  }

  /// The slot that is about to be filled.
  struct Mark {
    let parent: EncoderTicket
    let position: Int
    let containers: Int
  }

  @inline(__always)
  func mark() -> Mark {
    let containers = state.pointee.containers.count
    if _slowPath(state.pointee.tree != nil) { return markInTree(containers) }
    let index = state.pointee.top
    let parent = EncoderTicket(
      frame: Int32(truncatingIfNeeded: index), serial: state.pointee.frames[index].serial)
    return Mark(parent: parent, position: count, containers: containers)
  }

  @inline(never)
  private func markInTree(_ containers: Int) -> Mark {
    let slot = slotEncoder()
    return Mark(parent: slot.parent, position: slot.position, containers: containers)
  }

  /// Ends the value of a slot: its containers are closed.
  @inline(__always)
  func leave(_ mark: Mark) throws {
    state.pointee.containers.release(to: mark.containers)
    let index = Int(mark.parent.frame)
    guard _fastPath(index >= 0) else { return }
    guard _fastPath(state.pointee.top >= index),
      state.pointee.frames[index].serial == mark.parent.serial
    else { return try leaveLinear() }
    close(to: index)
    if _slowPath(count == mark.position) { state.pointee.writer.appendByte(0xa0) }
  }

  /// After an error: nothing of the value stays, in case the error is caught.
  @inline(never)
  func abandon(_ mark: Mark) {
    state.pointee.containers.release(to: mark.containers)
    if let tree = state.pointee.tree { return tree.clear(mark.position, at: count) }
    let index = Int(mark.parent.frame)
    guard index >= 0, state.pointee.top >= index,
      state.pointee.frames[index].serial == mark.parent.serial
    else { return }
    if state.pointee.top > index {
      state.pointee.entryCount = state.pointee.frames[index + 1].firstEntry
    }
    state.pointee.top = index
    state.pointee.writer.truncate(to: mark.position)
  }

  @inline(never)
  private func leaveLinear() throws {
    state.pointee.needsTree = true
    throw NeedsTree()
  }

  @inline(never)
  func checkStack() throws {
    let limit = state.pointee.stackLimit ?? ThreadStack.limit
    state.pointee.stackLimit = limit
    guard state.pointee.depth <= CBOR.depthLimit * 2, ThreadStack.current > limit else {
      throw tooDeep()
    }
  }

  /// An encoder for the slot that was just begun.
  func slotEncoder() -> SlotEncoder {
    if let tree = state.pointee.tree {
      let ticket = EncoderTicket(frame: -1, serial: tree.serial)
      return SlotEncoder(core: self, parent: ticket, position: tree.current)
    }
    let index = state.pointee.top
    let ticket = EncoderTicket(frame: Int32(index), serial: state.pointee.frames[index].serial)
    return SlotEncoder(core: self, parent: ticket, position: count)
  }

  /// An encoder without a slot: all that is encoded to it throws.
  func deadEncoder() -> SlotEncoder {
    SlotEncoder(core: self, parent: .none, position: -1)
  }

  @inline(__always)
  func integer<I: FixedWidthInteger>(_ value: I) {
    if I.bitWidth <= 64 {
      if I.isSigned {
        state.pointee.writer.append(Int64(truncatingIfNeeded: value))
      } else {
        state.pointee.writer.append(UInt64(truncatingIfNeeded: value))
      }
    } else {
      wideInteger(value < 0, UInt128(truncatingIfNeeded: value < 0 ? ~value : value))
    }
  }

  /// An integer of 128 bits: plain where 64 bits hold it, else a bignum (RFC 8949, section 3.4.3).
  @inline(never)
  func wideInteger(_ isNegative: Bool, _ magnitude: UInt128) {
    if let argument = UInt64(exactly: magnitude) {
      return state.pointee.writer.appendHead(isNegative ? 1 : 0, argument)
    }
    state.pointee.writer.appendTag(isNegative ? 3 : 2)
    withUnsafeBytes(of: magnitude.bigEndian) { bytes in
      let zeros = magnitude.leadingZeroBitCount / 8
      state.pointee.writer.append(bytes: UnsafeRawBufferPointer(rebasing: bytes[zeros...]))
    }
  }

  func itemCount(_ ticket: EncoderTicket) -> Int {
    guard state.pointee.isActive, ticket.frame >= 0 else { return 0 }
    let index = Int(ticket.frame)
    if let tree = state.pointee.tree {
      return ticket.serial == tree.serial ? tree.nodes[index].slots.count : 0
    }
    let frame = state.pointee.frames[index]
    return frame.serial == ticket.serial ? frame.count : 0
  }

  func openItem(_ ticket: EncoderTicket, _ kind: ContainerKind) -> EncoderTicket {
    (try? beginItem(ticket)) != nil ? open(kind) : .none
  }

  /// A keyed container, in a box that was used before if there is one.
  @inline(__always)
  func keyed<K: CodingKey>(_ type: K.Type, _ ticket: EncoderTicket) -> KeyedEncodingContainer<K> {
    let table = keyTable(type)
    let holder = table.pointee.free ?? makeHolder(type, table)
    state.pointee.containers.push(holder)
    return holder._withUnsafeGuaranteedRef { holder in
      table.pointee.free = holder.next
      holder.ticket.assumingMemoryBound(to: EncoderTicket.self).pointee = ticket
      return unsafeDowncast(holder, to: HolderOf<KeyedEncodingContainer<K>>.self).get()
    }
  }

  @inline(__always)
  private func keyTable<K: CodingKey>(_ type: K.Type) -> UnsafeMutablePointer<KeyTable> {
    let object = state.pointee.keys.object(of: type) { KeyTableBox(MemoryLayout<K>.size) }
    return object.unsafelyUnwrapped._withUnsafeGuaranteedRef {
      unsafeDowncast($0, to: KeyTableBox.self).table
    }
  }

  @inline(never)
  private func makeHolder<K: CodingKey>(
    _ type: K.Type, _ table: UnsafeMutablePointer<KeyTable>
  ) -> Unmanaged<ContainerHolder> {
    let ticket = UnsafeMutablePointer<EncoderTicket>.allocate(capacity: 1)
    ticket.initialize(to: .none)
    let container = KeyedEncodingContainer(
      MapEncoding<K>(core: self, keys: table, ticket: ticket))
    return Unmanaged.passRetained(
      HolderOf(container, keys: table, ticket: UnsafeMutableRawPointer(ticket)))
  }
}

/// A key table as an object.
final class KeyTableBox {
  let table: UnsafeMutablePointer<KeyTable>

  init(_ keySize: Int) {
    table = .allocate(capacity: 1)
    table.initialize(to: KeyTable(keySize: keySize))
  }
}
