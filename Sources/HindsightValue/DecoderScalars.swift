// Numbers that come in another form than the usual, and values behind tags that say nothing here.

extension DecoderCore {
  /// The value behind a tag, if the item that couldn't be read is one.
  @inline(never)
  func throughTag<R>(
    _ type: Any.Type, _ offset: Int, _ place: Place, _ error: CBORError,
    _ read: (Int, Place) throws -> R
  ) throws -> R {
    guard error.code == .wrongType, let content = untagged(offset), content != offset else {
      throw failure(error, place, expecting: type)
    }
    return try read(content, place)
  }

  /// The offset behind all tags of an item, or nil where they aren't well-formed.
  func untagged(_ offset: Int) -> Int? {
    var reader = reader(at: offset)
    while reader.nextKind == .tagged {
      guard (try? reader.readTag()) != nil else { return nil }
    }
    return reader.position
  }

  /// An integer that is a bignum, a float, or behind a tag.
  @inline(never)
  func otherInteger<I: FixedWidthInteger>(
    _ type: I.Type, _ offset: Int, _ place: Place
  ) throws -> I {
    var reader = reader(at: offset)
    do {
      switch reader.nextKind {
      case .float:
        let value = try reader.readDouble()
        state.pointee.lastEnd = reader.position
        guard let exact = I(exactly: value) else { throw outOfRange("\(I.self)", offset, place) }
        return exact
      case .tagged:
        var tag = try reader.readTag()
        while !(tag == 2 || tag == 3) || reader.nextKind != .bytes {
          guard reader.nextKind == .tagged else {
            return try integer(type, reader.position, place)
          }
          tag = try reader.readTag()
        }
        let bytes = try reader.readBytes().drop { $0 == 0 }
        state.pointee.lastEnd = reader.position
        guard bytes.count <= 16 else { throw outOfRange("\(I.self)", offset, place) }
        let magnitude = bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        if tag == 2, let value = I(exactly: magnitude) { return value }
        if tag == 3, magnitude >> 127 == 0, let value = I(exactly: ~Int128(magnitude)) {
          return value
        }
        throw outOfRange("\(I.self)", offset, place)
      default: throw reader.failure(.wrongType)
      }
    } catch let error as CBORError {
      throw failure(error, place, expecting: type)
    }
  }

  @inline(never)
  func otherDouble(_ offset: Int, _ place: Place, _ error: CBORError) throws -> Double {
    switch reader(at: offset).nextKind {
    case .unsigned, .negative:
      let value = try integer(Int128.self, offset, place)
      guard let exact = Double(exactly: value) else {
        throw outOfRange("Double", offset, place)
      }
      return exact
    default:
      return try throughTag(Double.self, offset, place, error) { try double($0, $1) }
    }
  }

  // MARK: Paths and errors

  /// The keys from the outermost value to a place.
  func codingPath(_ place: Place) -> [any CodingKey] {
    var path: [any CodingKey] = []
    if let key = key(place.step) { path.append(key) }
    var node = Int(place.node)
    // A node's parent was made before it.
    while node > 0, node < state.pointee.nodeCapacity {
      let step = state.pointee.nodes[node]
      if let key = key(step.step) { path.append(key) }
      guard step.parent < node else { break }
      node = Int(step.parent)
    }
    return path.reversed()
  }

  private func key(_ step: UInt32) -> (any CodingKey)? {
    guard step != PathNode.noStep else { return nil }
    guard step & PathNode.isIndex == 0 else {
      return CBORCodingKey(index: Int(step & ~PathNode.isIndex))
    }
    let size = state.pointee.end - state.pointee.start
    guard state.pointee.isActive, Int(step) < size else { return nil }
    let bytes = UnsafeRawBufferPointer(
      start: state.pointee.start + Int(step), count: size - Int(step))
    return CBORCodingKey(keyIn: bytes)
  }

  @inline(never)
  func failure(_ error: CBORError, _ place: Place, expecting type: Any.Type? = nil)
    -> DecodingError
  {
    let path = codingPath(place)
    guard error.code == .wrongType, let type else {
      return .dataCorrupted(
        DecodingError.Context(
          codingPath: path, debugDescription: error.description, underlyingError: error))
    }
    let kind = reader(at: error.offset).nextKind
    let found = kind.map { "\($0)" } ?? "nothing"
    let context = DecodingError.Context(
      codingPath: path, debugDescription: "found \(found) at byte \(error.offset)",
      underlyingError: error)
    return kind == .null || kind == .undefined
      ? .valueNotFound(type, context) : .typeMismatch(type, context)
  }

  @inline(never)
  func outOfRange(_ type: String, _ offset: Int, _ place: Place) -> DecodingError {
    let error = CBORError(.outOfRange, at: offset)
    return .dataCorrupted(
      DecodingError.Context(
        codingPath: codingPath(place),
        debugDescription: "the number at byte \(offset) doesn't fit in \(type)",
        underlyingError: error))
  }

  @inline(never)
  func corrupted(_ message: String, _ place: Place) -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(codingPath: codingPath(place), debugDescription: message))
  }

  func escaped() -> DecodingError {
    .dataCorrupted(
      DecodingError.Context(
        codingPath: [],
        debugDescription: "a decoding container was used after the call that it belonged to"))
  }
}
