// Reads JSON (RFC 8259) into values, strictly, without recursion.
// It always holds: every byte is accounted for, and no input makes the call stack grow.

extension Value {
  /// The greatest number of arrays, maps and tags inside one another that is read from JSON; 512,
  /// as in CBOR.
  public static var jsonDepthLimit: Int { CBOR.depthLimit }

  /// The value of a JSON text in UTF-8.
  ///
  /// Strict: nothing but white space around the value, valid UTF-8, no lone surrogates, no key
  /// twice in an object, at most ``jsonDepthLimit`` levels. A number without fraction and exponent
  /// is an integer, exactly, beyond 64 bits as a bignum (``JSONMapping``); `-0` and every other
  /// number is the nearest double, so that `1.0` and `1` stay different.
  ///
  /// O(n) in the bytes, and O(k log k) in the keys of an object that aren't in map order.
  ///
  /// - Parameters:
  ///   - bytes: the whole text.
  ///   - mapping: whether objects such as `{"$bytes":"AAE="}` stand for what JSON can't hold.
  /// - Throws: ``JSONError`` with the place of the first fault.
  public init(json bytes: some Sequence<UInt8>, mapping: JSONMapping = .lossless) throws(JSONError)
  {
    let contiguous = bytes.withContiguousStorageIfAvailable { buffer in
      Self.read(buffer, mapping)
    }
    switch contiguous {
    case .success(let value): self = value
    case .failure(let error): throw error
    case nil:
      let result = Array(bytes).withUnsafeBufferPointer { Self.read($0, mapping) }
      self = try result.get()
    }
  }

  /// The value of a JSON text, read as strictly as UTF-8 bytes are.
  ///
  /// - Throws: ``JSONError`` with the place of the first fault.
  public init(json text: String, mapping: JSONMapping = .lossless) throws(JSONError) {
    var text = text
    let result = text.withUTF8 { Self.read($0, mapping) }
    self = try result.get()
  }

  private static func read(
    _ text: UnsafeBufferPointer<UInt8>, _ mapping: JSONMapping
  ) -> Result<Value, JSONError> {
    Result { () throws(JSONError) in
      var reader = JSONReader(text, mapping)
      return try reader.document()
    }
  }
}

/// The state of reading one JSON text. Must not outlive the buffer that it was made with.
struct JSONReader: ~Copyable {
  /// An array or object that is being read.
  struct Frame {
    let isObject: Bool
    /// How many finished values were there before this one's.
    let valueStart: Int
    let keyStart: Int
    /// The greatest height of what is inside.
    var height: Int
  }

  /// Where a key is in the text.
  struct KeySpan {
    /// The offset behind the quotation mark.
    let start: Int
    /// The length in bytes, or -1 where the key has escapes.
    let sizeBytes: Int
  }

  let text: UnsafeBufferPointer<UInt8>
  let mapping: JSONMapping
  var position = 0
  /// Finished values that aren't in their array or object yet; keys and values alternate.
  var values = ValueStack()
  var frames: [Frame] = []
  /// Where the keys of all open objects are.
  var keys: [KeySpan] = []
  /// Whether the last string had escapes.
  var stringHasEscapes = false
  /// Characters of a string with escapes.
  var scratch: [UInt8] = []

  init(_ text: UnsafeBufferPointer<UInt8>, _ mapping: JSONMapping) {
    self.text = text
    self.mapping = mapping
  }

  /// The next byte, or 0, which JSON never has between tokens, at the end.
  var next: UInt8 {
    @inline(__always) get { position < text.count ? text[position] : 0 }
  }

  /// Reads the whole text.
  mutating func document() throws(JSONError) -> Value {
    while true {
      skipWhiteSpace()
      guard try readScalarOrOpen() else { continue }
      if try closeFinished() { break }
    }
    skipWhiteSpace()
    guard position == text.count else {
      throw fault(.trailingBytes, "something follows the value; only white space may")
    }
    return values.pop()
  }

  /// Reads a scalar, or enters an array or object; whether a value is finished.
  @inline(__always)
  private mutating func readScalarOrOpen() throws(JSONError) -> Bool {
    switch next {
    case UInt8(ascii: "\""):
      values.push(.string(try string()))
    case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
      let number = try number()
      // A bignum is a tag around bytes, and so a level of its own.
      if case .tagged = number { try finishLevels(1, isArray: false) }
      values.push(number)
    case UInt8(ascii: "{"):
      try open(isObject: true)
      if next == UInt8(ascii: "}") { return true }
      try key()
      return false
    case UInt8(ascii: "["):
      try open(isObject: false)
      return next == UInt8(ascii: "]")
    case UInt8(ascii: "t"):
      try word("true")
      values.push(.bool(true))
    case UInt8(ascii: "f"):
      try word("false")
      values.push(.bool(false))
    case UInt8(ascii: "n"):
      try word("null")
      values.push(.null)
    default:
      throw unexpected("a value")
    }
    return true
  }

  /// Enters an array or object, up to its first key, value or end.
  private mutating func open(isObject: Bool) throws(JSONError) {
    // A tag or a map with other keys takes up to three levels of JSON; `close` counts exactly.
    let limit = mapping == .lossless ? 3 * Value.jsonDepthLimit : Value.jsonDepthLimit
    guard frames.count < limit else { throw tooDeep() }
    frames.append(
      Frame(
        isObject: isObject, valueStart: values.count, keyStart: keys.count, height: 0))
    position += 1
    skipWhiteSpace()
  }

  /// Goes on behind a finished value: to the next one of its array or object, or out of those that
  /// end here; whether the whole text's value is finished.
  @inline(__always)
  private mutating func closeFinished() throws(JSONError) -> Bool {
    while let frame = frames.last {
      skipWhiteSpace()
      switch (next, frame.isObject) {
      case (UInt8(ascii: ","), true):
        position += 1
        skipWhiteSpace()
        try key()
        return false
      case (UInt8(ascii: ","), false):
        position += 1
        return false
      case (UInt8(ascii: "}"), true), (UInt8(ascii: "]"), false):
        try close(frame)
        position += 1
      default:
        throw unexpected(frame.isObject ? "',' or '}'" : "',' or ']'")
      }
    }
    return true
  }

  /// Makes the value of an array or object whose end is next.
  private mutating func close(_ frame: Frame) throws(JSONError) {
    var height = frame.height + 1
    if frame.isObject {
      let map = try self.map(frame)
      keys.removeLast(keys.count - frame.keyStart)
      if mapping == .lossless, let meaning = JSONMapping.meaning(of: map) {
        height -= meaning.extraLevels
        values.push(meaning.value)
      } else {
        values.push(.map(map))
      }
    } else {
      values.push(.array(values.popArray(from: frame.valueStart)))
    }
    frames.removeLast()
    try finishLevels(height, isArray: !frame.isObject)
  }

  /// Notes for what is around it that a value of some levels is finished.
  private mutating func finishLevels(_ height: Int, isArray: Bool) throws(JSONError) {
    // The two arrays of a map with other keys stand for no level; its object takes them off again.
    let isPartOfForm = isArray && !frames.isEmpty && mapping == .lossless
    guard height <= Value.jsonDepthLimit + (isPartOfForm ? 2 : 0) else { throw tooDeep() }
    if let parent = frames.indices.last, frames[parent].height < height {
      frames[parent].height = height
    }
  }

  private mutating func map(_ frame: Frame) throws(JSONError) -> ValueMap {
    sortFewKeys(frame)
    let pairs = values.popPairs(from: frame.valueStart)
    if let map = ValueMap(uniquePairs: pairs) { return map }
    var seen: Set<Value> = []
    for (span, pair) in zip(keys[frame.keyStart...], pairs)
    where !seen.insert(pair.key).inserted {
      let key = JSONWriter().string(pair.key)
      let message = "the object already has the key \(key.prefix(80))"
      throw fault(.duplicateKey, message, at: span.start - 1)
    }
    preconditionFailure("pairs that make no map have a key twice")
  }

  /// Puts the pairs of an object in map order where they are few and have plain keys: comparing
  /// the text is much quicker than comparing values.
  private mutating func sortFewKeys(_ frame: Frame) {
    let start = frame.keyStart
    guard keys.count - start <= 32 else { return }
    var index = start + 1
    while index < keys.count {
      var place = index
      while place > start, isOrderedBefore(keys[index], keys[place - 1]) { place -= 1 }
      if place < index {
        let span = keys.remove(at: index)
        keys.insert(span, at: place)
        values.movePair(
          at: frame.valueStart + 2 * (index - start), to: frame.valueStart + 2 * (place - start))
      }
      index += 1
    }
  }

  /// Whether a plain key comes before another in map order; false if one of them has escapes.
  @inline(__always)
  private func isOrderedBefore(_ left: KeySpan, _ right: KeySpan) -> Bool {
    guard left.sizeBytes == right.sizeBytes else {
      return left.sizeBytes < right.sizeBytes && left.sizeBytes >= 0
    }
    for index in 0..<max(0, left.sizeBytes) {
      let (a, b) = (text[left.start + index], text[right.start + index])
      if a != b { return a < b }
    }
    return false
  }

  /// Reads a key and its colon.
  @inline(__always)
  private mutating func key() throws(JSONError) {
    guard next == UInt8(ascii: "\"") else { throw unexpected("a key in quotation marks") }
    let start = position + 1
    values.push(.string(try string()))
    keys.append(KeySpan(start: start, sizeBytes: stringHasEscapes ? -1 : position - 1 - start))
    skipWhiteSpace()
    guard next == UInt8(ascii: ":") else { throw unexpected("':'") }
    position += 1
  }

  private mutating func word(_ word: StaticString) throws(JSONError) {
    for index in 0..<word.utf8CodeUnitCount {
      guard next == word.utf8Start[index] else { throw unexpected("'\(word)'") }
      position += 1
    }
  }

  @inline(__always)
  mutating func skipWhiteSpace() {
    while next == 0x20 || next == 0x0a || next == 0x0d || next == 0x09 { position += 1 }
  }
}

// MARK: Errors

extension JSONReader {
  func fault(
    _ code: JSONError.Code, _ message: String, at offset: Int? = nil
  ) -> JSONError {
    JSONError(code, message, at: offset ?? position, in: text)
  }

  /// Where something else was expected: the end, or a byte that doesn't fit.
  func unexpected(_ expected: String) -> JSONError {
    guard position < text.count else {
      return fault(.unexpectedEnd, "the text ends where \(expected) is expected")
    }
    let byte = text[position]
    let found =
      switch byte {
      case 0x21...0x7e: "'\(Character(Unicode.Scalar(byte)))'"
      case 0xef where text[position...].starts(with: [0xef, 0xbb, 0xbf]): "a byte order mark"
      default: "byte 0x" + String(byte, radix: 16)
      }
    return fault(.unexpectedCharacter, "expected \(expected), found \(found)")
  }

  private func tooDeep() -> JSONError {
    fault(.tooDeep, "nested deeper than \(Value.jsonDepthLimit) levels")
  }
}
