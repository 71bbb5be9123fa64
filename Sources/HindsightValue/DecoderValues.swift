// How a decoder finds the way to decode a value: by its type, known from before.
// It always holds: after `value`, the state's `lastEnd` is where the value's item ends, or -1.

/// A way to decode a type that is shorter, or more exact, than its `init(from:)`.
class DecodeRoute<T> {
  func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> T {
    preconditionFailure("DecodeRoute is abstract")
  }
}

/// A type of the standard library or Foundation that has a route of its own.
protocol DecodeRouted {
  static func makeDecodeRoute() -> AnyObject
}

/// The route of types that read their CBOR themselves.
final class ReaderRoute<T: CBORCodable>: DecodeRoute<T> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> T {
    guard core.state.pointee.usesCBORCodable || T.self == Value.self else {
      return try core.plain(T.self, offset, place)
    }
    core.state.pointee.depth &+= 1
    defer { core.state.pointee.depth &-= 1 }
    if _slowPath(core.state.pointee.depth > 32) { try core.checkStack(offset, place) }
    var reader = core.reader(at: offset)
    // A `Value` has a stack of its own.
    reader.depth = T.self == Value.self ? 0 : min(core.state.pointee.depth, CBOR.depthLimit)
    do {
      let value = try T(from: &reader)
      core.state.pointee.lastEnd = reader.position
      return value
    } catch let error as CBORError {
      throw core.failure(error, place, expecting: T.self)
    }
  }
}

extension DecoderCore {
  /// Decodes the item at an offset.
  @inline(__always)
  func value<T: Decodable>(_ type: T.Type, _ offset: Int, _ place: Place) throws -> T {
    let route = state.pointee.routes.object(of: type) { Self.makeRoute(type) }
    guard let route else { return try plain(type, offset, place) }
    return try route._withUnsafeGuaranteedRef {
      try unsafeDowncast($0, to: DecodeRoute<T>.self).decode(self, offset, place)
    }
  }

  @inline(never)
  private static func makeRoute<T>(_ type: T.Type) -> AnyObject? {
    if let type = type as? any DecodeRouted.Type { return type.makeDecodeRoute() }
    if let type = type as? any CBORCodable.Type { return makeReaderRoute(type) }
    return nil
  }

  private static func makeReaderRoute<T: CBORCodable>(_ type: T.Type) -> AnyObject {
    ReaderRoute<T>()
  }

  /// Decodes the item at an offset with the type's `init(from:)`.
  @inline(__always)
  func plain<T: Decodable>(_ type: T.Type, _ offset: Int, _ place: Place) throws -> T {
    state.pointee.depth &+= 1
    let containers = state.pointee.containers.count
    let nodes = state.pointee.nodeCount
    defer {
      state.pointee.depth &-= 1
      state.pointee.containers.release(to: containers)
      state.pointee.nodeCount = nodes
    }
    if _slowPath(state.pointee.depth > 32) { try checkStack(offset, place) }
    let value = try T(from: slotDecoder(offset, node(of: place)))
    state.pointee.lastEnd = knownEnd(offset, containers)
    return value
  }

  /// Where the item ends that the containers from a mark on were read from, if they tell; else -1.
  @inline(__always)
  private func knownEnd(_ offset: Int, _ mark: Int) -> Int {
    guard state.pointee.containers.count > mark else { return -1 }
    let first = ticket(mark)
    guard first.pointee.item == offset else { return -1 }
    // An enum's case: the map of one pair ends where the map inside does.
    guard first.pointee.onlyValue >= 0, first.pointee.end < 0,
      state.pointee.containers.count > mark &+ 1
    else { return first.pointee.end }
    let second = ticket(mark &+ 1)
    return second.pointee.item == first.pointee.onlyValue ? second.pointee.end : -1
  }

  @inline(__always)
  private func ticket(_ index: Int) -> Ticket {
    state.pointee.containers[index]._withUnsafeGuaranteedRef { $0.ticket }
      .assumingMemoryBound(to: MapTicket.self)
  }

  @inline(never)
  func checkStack(_ offset: Int, _ place: Place) throws {
    let limit = state.pointee.stackLimit ?? ThreadStack.limit
    state.pointee.stackLimit = limit
    guard state.pointee.depth <= CBOR.depthLimit * 4, ThreadStack.current > limit else {
      throw failure(CBORError(.tooDeep, at: offset), place)
    }
  }

  /// The map at an offset, in a box that was used before if there is one.
  @inline(__always)
  func keyed<K: CodingKey>(
    _ type: K.Type, _ offset: Int, _ node: UInt32
  ) throws -> KeyedDecodingContainer<K> {
    let table = keyTable(type)
    let holder = table.pointee.free ?? makeHolder(type, table)
    state.pointee.containers.push(holder)
    return try holder._withUnsafeGuaranteedRef { holder in
      table.pointee.free = holder.next
      let ticket = holder.ticket.assumingMemoryBound(to: MapTicket.self)
      try readMap(ticket, offset, node)
      holder.isLarge = ticket.pointee.isLarge
      return unsafeDowncast(holder, to: HolderOf<KeyedDecodingContainer<K>>.self).get()
    }
  }

  private func readMap(_ ticket: Ticket, _ offset: Int, _ node: UInt32) throws {
    var reader = reader(at: offset)
    do {
      let count = try reader.readMapHeader()
      ticket.pointee.epoch = state.pointee.epoch
      ticket.pointee.node = node
      ticket.pointee.item = offset
      ticket.pointee.firstKey = reader.position
      ticket.pointee.end = -1
      ticket.pointee.count = count ?? 0
      ticket.pointee.isIndexed = false
      ticket.pointee.onlyValue = -1
      if count != 1 { try buildIndex(ticket, definite: count) }
      state.pointee.lastEnd = ticket.pointee.end
    } catch {
      try throughTag([String: Any].self, offset, Place(node: node), error) { content, _ in
        try readMap(ticket, content, node)
        // Its end is that of the tagged item, too.
        ticket.pointee.item = offset
      }
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
    let ticket = UnsafeMutablePointer<MapTicket>.allocate(capacity: 1)
    ticket.initialize(to: MapTicket())
    let container = KeyedDecodingContainer(
      MapDecoding<K>(core: self, keys: table, ticket: ticket))
    return Unmanaged.passRetained(
      HolderOf(container, keys: table, ticket: UnsafeMutableRawPointer(ticket)))
  }
}
