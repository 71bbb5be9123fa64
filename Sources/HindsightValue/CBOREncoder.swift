// Encodes any `Encodable` value as deterministic CBOR.

/// Encodes `Encodable` values as CBOR in its deterministic form (RFC 8949, section 4.2.1).
///
/// The same value gives the same bytes, in every process: keys of maps are sorted, lengths and
/// numbers take their shortest form, all NaNs are one, and sets and dictionaries are sorted
/// wherever the encoder meets them as such (a type that hands its encoder on to a set's own
/// `encode(to:)` hides it).
///
/// What becomes what:
/// - A keyed container is a map with text keys; an `intValue` is never used. An unkeyed container
///   is an array. A slot that nothing is encoded to is an empty map.
/// - A dictionary is a map, with its keys encoded as what they are; two keys of one encoding are an
///   error. nil is null.
/// - `Int128` and `UInt128` are integers, and bignums (tags 2 and 3) beyond 64 bits.
/// - `Data` is a byte string, a `UUID` 16 bytes with tag 37, a `URL` without a base a text with tag
///   32. A `Date` is seconds since 1970 with tag 1 where this gives back exactly the same date, and
///   else a double of seconds since 2001 with tag 1212432708. A `Decimal` is a decimal fraction
///   (tag 4: exponent, mantissa), or NaN.
///
/// Nesting is limited to 512 levels, and by what the stack of the thread holds: an error, no crash.
///
/// An encoder is a value and costs nothing to make. What it needs is kept per thread; encoding
/// allocates only the result.
public struct CBOREncoder: Sendable {
  /// What types find in the `userInfo` of their encoder.
  public var userInfo: [CodingUserInfoKey: any Sendable] = [:]

  /// Whether ``CBORCodable`` types write themselves. Off, to check that it makes no difference.
  package var usesCBORCodable = true

  /// An encoder; it has no options.
  public init() {}

  /// The encoding of a value.
  ///
  /// - Throws: `EncodingError`, or what a type's `encode(to:)` throws.
  public func encode<T: Encodable>(_ value: T) throws -> [UInt8] {
    let core = EncoderCore.take()
    defer { core.give() }
    core.state.pointee.writer.truncate(to: 0)
    try encode(value, core)
    let bytes = core.state.pointee.writer.bytes
    core.shrink()
    return bytes
  }

  /// Appends the encoding of a value to a writer. After an error the writer is as it was.
  ///
  /// - Throws: `EncodingError`, or what a type's `encode(to:)` throws.
  public func encode<T: Encodable>(_ value: T, into writer: inout CBORWriter) throws {
    let core = EncoderCore.take()
    swap(&core.state.pointee.writer, &writer)
    defer {
      swap(&core.state.pointee.writer, &writer)
      core.give()
    }
    try encode(value, core)
  }

  @inline(__always)
  private func encode<T: Encodable>(_ value: T, _ core: EncoderCore) throws {
    let start = core.count
    core.begin(userInfo, usesCBORCodable: usesCBORCodable)
    defer { core.end() }
    do {
      try core.value(value)
      guard _slowPath(core.state.pointee.needsTree || core.state.pointee.failure != nil) else {
        return
      }
      if let failure = core.state.pointee.failure { throw failure }
      throw NeedsTree()
    } catch {
      core.state.pointee.writer.truncate(to: start)
      let failure = core.state.pointee.failure ?? error
      guard core.state.pointee.needsTree else { throw failure }
    }
    do {
      try core.encodeAsTree(value)
    } catch {
      core.state.pointee.writer.truncate(to: start)
      guard let error = error as? CBORError else { throw error }
      throw core.invalid("…", error.message, error)
    }
  }
}

extension EncoderCore {
  /// Gives back the memory of an unusually large value.
  @inline(__always)
  func shrink() {
    if _slowPath(state.pointee.writer.capacity > 1 << 20) {
      state.pointee.writer = CBORWriter(capacity: 1 << 12)
    }
  }
}
