// Routes for what the standard library encodes slowly, or in an order that isn't always the same.

/// nil is null; otherwise the value as it is.
final class OptionalRoute<Wrapped: Encodable>: EncodeRoute<Wrapped?> {
  override func encode(_ value: Wrapped?, _ core: EncoderCore) throws {
    guard let value else { return core.state.pointee.writer.appendNull() }
    try core.value(value)
  }
}

final class ArrayRoute<Element: Encodable>: EncodeRoute<[Element]> {
  override func encode(_ value: [Element], _ core: EncoderCore) throws {
    try core.items(value, .array)
  }
}

/// The elements of a set, sorted by their encodings.
final class SetRoute<Element: Encodable & Hashable>: EncodeRoute<Set<Element>> {
  override func encode(_ value: Set<Element>, _ core: EncoderCore) throws {
    try core.items(value, .set)
  }
}

/// A dictionary as a map, whatever its keys are, sorted by their encodings.
final class DictionaryRoute<Key: Encodable & Hashable, Value: Encodable>:
  EncodeRoute<[Key: Value]>
{
  override func encode(_ value: [Key: Value], _ core: EncoderCore) throws {
    try core.contained(.dictionary) { ticket in
      for (key, value) in value {
        try core.beginEntry(ticket, encoding: key)
        try core.value(value)
      }
    }
  }
}

extension EncoderCore {
  /// Opens a container, lets it be filled, and closes it; leaves nothing after an error.
  @inline(__always)
  func contained(_ kind: ContainerKind, _ body: (EncoderTicket) throws -> Void) throws {
    state.pointee.depth &+= 1
    defer { state.pointee.depth &-= 1 }
    if _slowPath(state.pointee.depth > 32) { try checkStack() }
    let mark = mark()
    do {
      let ticket = open(kind)
      if let failure = state.pointee.failure { throw failure }
      try body(ticket)
    } catch {
      abandon(mark)
      throw error
    }
    try leave(mark)
  }

  func items<S: Sequence>(_ items: S, _ kind: ContainerKind) throws where S.Element: Encodable {
    try contained(kind) { ticket in
      for item in items {
        try beginItem(ticket)
        try value(item)
      }
    }
  }

  /// Begins a dictionary's next pair with a key of any type.
  @inline(__always)
  func beginEntry<K: Encodable>(_ ticket: EncoderTicket, encoding key: K) throws {
    guard _fastPath(try activate(ticket)) else {
      return try beginEntryInTree(ticket, encoding: key)
    }
    let frame = state.pointee.frames + Int(ticket.frame)
    fillHole(frame)
    let offset = count
    frame.pointee.value = offset
    try value(key)
    push(frame, offset, prefix(from: offset))
  }

  @inline(never)
  private func beginEntryInTree<K: Encodable>(_ ticket: EncoderTicket, encoding key: K) throws {
    guard let tree = state.pointee.tree else { throw NeedsTree() }
    var coder = CBOREncoder()
    coder.userInfo = state.pointee.userInfo
    let bytes = try coder.encode(key)
    guard tree.add(to: Int(ticket.frame), key: bytes, at: count) else { throw twinKeys() }
  }
}

extension Optional: EncodeRouted where Wrapped: Encodable {
  static func makeEncodeRoute() -> AnyObject { OptionalRoute<Wrapped>() }
}
extension Array: EncodeRouted where Element: Encodable {
  static func makeEncodeRoute() -> AnyObject {
    (Element.self as? any Primitive.Type)?.arrayRoutes.encode ?? ArrayRoute<Element>()
  }
}
extension Set: EncodeRouted where Element: Encodable {
  static func makeEncodeRoute() -> AnyObject { SetRoute<Element>() }
}
extension Dictionary: EncodeRouted where Key: Encodable, Value: Encodable {
  static func makeEncodeRoute() -> AnyObject {
    guard Key.self == String.self, let value = Value.self as? any Primitive.Type else {
      return DictionaryRoute<Key, Value>()
    }
    return value.dictionaryRoutes.encode
  }
}
