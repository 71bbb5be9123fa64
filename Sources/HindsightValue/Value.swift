// The self-describing tree that the tool works on when it doesn't know an app's types.
// It always holds: one number, one representation. Equality is by UTF-8 bytes and by bit pattern.

/// A value of the CBOR data model (RFC 8949, section 2), which includes all of JSON's.
///
/// Equality and hashing follow the encoded form, not Swift's: strings and keys compare by their
/// UTF-8 bytes (so `"e\u{301}"` is not `"\u{e9}"`), doubles by their bit pattern, except that all
/// NaNs are one. An integer is never equal to a double.
public enum Value: Sendable {
  case null
  case undefined
  case bool(Bool)
  /// An integer of zero or above.
  case unsigned(UInt64)
  /// The integer `-1 - n`, so the whole of CBOR's negative range.
  case negative(UInt64)
  case double(Double)
  case string(String)
  case bytes([UInt8])
  case array([Value])
  case map(ValueMap)
  /// A tagged value (RFC 8949, section 3.4).
  indirect case tagged(UInt64, Value)
  /// A simple value without a meaning of its own; never 20 to 31.
  case simple(UInt8)

  /// The integer as a value, in its only representation.
  @inlinable
  public static func integer(_ value: Int64) -> Value {
    value < 0 ? .negative(UInt64(bitPattern: ~value)) : .unsigned(UInt64(value))
  }

  /// The integer, where this is one that an `Int64` can hold.
  @inlinable
  public var int64: Int64? {
    switch self {
    case .unsigned(let value): Int64(exactly: value)
    case .negative(let value): value <= UInt64(Int64.max) ? ~Int64(value) : nil
    default: nil
    }
  }
}

extension Value: Hashable {
  /// Whether both have the same deterministic encoding: NaN equals itself, and 0.0 isn't -0.0.
  public static func == (left: Value, right: Value) -> Bool { compare(left, right) == 0 }

  /// Hashes what the deterministic encoding depends on.
  public func hash(into hasher: inout Hasher) {
    if isContainer { hashContainer(into: &hasher) } else { hashScalar(into: &hasher) }
  }

  var isContainer: Bool {
    switch self {
    case .array, .map, .tagged: true
    default: false
    }
  }

  private func hashScalar(into hasher: inout Hasher) {
    switch self {
    case .null: hasher.combine(0)
    case .undefined: hasher.combine(1)
    case .bool(let value): hasher.combine(value)
    case .unsigned(let value): hasher.combine(value)
    case .negative(let value): hasher.combine(~value)
    case .double(let value): hasher.combine(value.isNaN ? Double.nan.bitPattern : value.bitPattern)
    case .string(let value):
      hasher.combine(value.utf8.count)
      for byte in value.utf8 { hasher.combine(byte) }
    case .bytes(let value): hasher.combine(value)
    case .simple(let value): hasher.combine(value)
    default: break
    }
  }

  private func hashContainer(into hasher: inout Hasher) {
    switch self {
    case .array(let items):
      hasher.combine(items.count)
      for item in items { item.hash(into: &hasher) }
    case .map(let map):
      map.hash(into: &hasher)
    case .tagged(let tag, let value):
      hasher.combine(tag)
      value.hash(into: &hasher)
    default: break
    }
  }
}
