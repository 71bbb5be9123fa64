// Where in a value an encoder is, and the errors that say so.

/// A key of a coding path: a map's key, or an array's index.
struct CBORCodingKey: CodingKey {
  let stringValue: String
  let intValue: Int?

  init(stringValue: String) {
    self.stringValue = stringValue
    intValue = nil
  }

  init(intValue: Int) {
    stringValue = "\(intValue)"
    self.intValue = intValue
  }

  init(index: Int) {
    stringValue = "Index \(index)"
    intValue = index
  }

  /// A key whose text may be a number, for types that look for one.
  init(numericText: String) {
    stringValue = numericText
    intValue = Int(numericText)
  }

  static let superKey = CBORCodingKey(stringValue: "super")
}

extension EncoderCore {
  /// Keeps the first error of a method that can't throw; the call ends with it.
  func fail(_ error: any Error) {
    if state.pointee.failure == nil { state.pointee.failure = error }
  }

  /// The keys from the outermost value to the slot that is being encoded.
  var codingPath: [any CodingKey] {
    guard state.pointee.isActive else { return [] }
    if let tree = state.pointee.tree { return path(ofSlot: tree.current, in: tree) }
    return path(through: state.pointee.top)
  }

  /// The keys from the outermost value to a container.
  func codingPath(of ticket: EncoderTicket) -> [any CodingKey] {
    guard state.pointee.isActive, ticket.frame >= 0 else { return [] }
    let index = Int(ticket.frame)
    if let tree = state.pointee.tree {
      guard ticket.serial == tree.serial else { return [] }
      return path(ofSlot: tree.nodes[index].slot, in: tree)
    }
    guard index <= state.pointee.top, state.pointee.frames[index].serial == ticket.serial
    else { return [] }
    return path(through: index - 1)
  }

  func path(ofSlot slot: Int, in tree: EncoderTree) -> [any CodingKey] {
    var path: [any CodingKey] = []
    var slot = tree.slots[slot]
    while slot.parent >= 0 {
      switch slot.step {
      case .root: break
      case .index(let index): path.append(CBORCodingKey(index: index))
      case .key(let bytes):
        let key = bytes.withUnsafeBytes { CBORCodingKey(keyIn: $0) }
        path.append(key)
      }
      slot = tree.slots[tree.nodes[slot.parent].slot]
    }
    return path.reversed()
  }

  /// The keys of the current slots of the frames from the outermost to `last`.
  private func path(through last: Int) -> [any CodingKey] {
    let first = state.pointee.root + 1
    guard last >= first else { return [] }
    return (first...last).compactMap { index in
      let frame = state.pointee.frames[index]
      guard frame.count > 0 else { return nil }
      guard frame.kind.isMap else { return CBORCodingKey(index: frame.count - 1) }
      let entry = state.pointee.entries[frame.firstEntry + frame.count - 1]
      let bytes = UnsafeRawBufferPointer(
        start: state.pointee.writer.base + entry.offset, count: count - entry.offset)
      return CBORCodingKey(keyIn: bytes)
    }
  }

  private func context(_ message: String, _ cause: (any Error)? = nil) -> EncodingError.Context {
    EncodingError.Context(
      codingPath: codingPath, debugDescription: message, underlyingError: cause)
  }

  func invalid(_ value: Any, _ message: String, _ cause: (any Error)? = nil) -> EncodingError {
    EncodingError.invalidValue(value, context(message, cause))
  }

  func tooDeep() -> EncodingError {
    let cause = CBORError(.tooDeep, at: count)
    return invalid("…", cause.message, cause)
  }

  /// The error of the innermost dictionary.
  func twinKeys() -> EncodingError {
    EncodingError.invalidValue(
      "…",
      EncodingError.Context(
        codingPath: codingPath.dropLast(),
        debugDescription: "two different keys of a dictionary have the same encoding"))
  }

  func encodedTwice() -> EncodingError {
    invalid("…", "more than one value was encoded where one belongs")
  }

  func escaped() -> EncodingError {
    let message = "an encoding container was used after the call that it belonged to"
    return EncodingError.invalidValue(
      "…", EncodingError.Context(codingPath: [], debugDescription: message))
  }
}

extension CBORCodingKey {
  /// The key that an item stands for: a text as it is, another scalar in words, else its kind.
  init(keyIn bytes: UnsafeRawBufferPointer) {
    var reader = CBORReader(bytes)
    let kind = reader.nextKind
    switch kind {
    case .string: self.init(stringValue: (try? reader.readString()) ?? "invalid text")
    case .unsigned, .negative, .bool, .float:
      let value = try? Value(from: &reader)
      self.init(stringValue: value?.keyDescription ?? "invalid \(kind, default: "item")")
    default: self.init(stringValue: kind.map { "\($0)" } ?? "?")
    }
  }
}

extension Value {
  /// A key that isn't a text, in a path.
  var keyDescription: String {
    switch self {
    case .unsigned(let value): "\(value)"
    case .negative(let value): "-\(UInt128(value) + 1)"
    case .string(let value): value
    case .bool(let value): "\(value)"
    case .double(let value): "\(value)"
    default: "\(self)"
    }
  }
}
