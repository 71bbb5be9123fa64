// `Value` as a `Codable` type: exact with this module's coders, a tree of what they have with
// others.

extension Value: Codable {
  /// Encodes this value.
  ///
  /// ``CBOREncoder`` encodes it as itself. Another encoder gets what it can hold: null for null and
  /// undefined, integers (beyond 64 bits with a sign: a double), doubles, strings, an array of
  /// numbers for bytes, the content of a tagged value, the number of a simple one; a map with only
  /// text keys as a keyed container, any other as an array of keys and values in turn.
  public func encode(to encoder: any Encoder) throws {
    if let native = encoder as? SlotEncoder {
      var container: any SingleValueEncodingContainer = native
      return try container.encode(self)
    }
    switch self {
    case .array(let items):
      var container = encoder.unkeyedContainer()
      for item in items { try container.encode(item) }
    case .bytes(let bytes):
      var container = encoder.unkeyedContainer()
      for byte in bytes { try container.encode(byte) }
    case .map(let map):
      try Self.encode(map, to: encoder)
    case .tagged(_, let value):
      try value.encode(to: encoder)
    default:
      var container = encoder.singleValueContainer()
      try encodeScalar(to: &container)
    }
  }

  private func encodeScalar(to container: inout any SingleValueEncodingContainer) throws {
    switch self {
    case .bool(let value): try container.encode(value)
    case .unsigned(let value): try container.encode(value)
    case .negative(let argument):
      if let value = int64 {
        try container.encode(value)
      } else {
        try container.encode(-1 - Double(argument))
      }
    case .double(let value): try container.encode(value)
    case .string(let value): try container.encode(value)
    case .simple(let value): try container.encode(value)
    default: try container.encodeNil()
    }
  }

  private static func encode(_ map: ValueMap, to encoder: any Encoder) throws {
    let keys = map.pairs.compactMap { pair -> String? in
      if case .string(let key) = pair.key { key } else { nil }
    }
    if keys.count == map.count {
      var container = encoder.container(keyedBy: CBORCodingKey.self)
      for (key, pair) in zip(keys, map.pairs) {
        try container.encode(pair.value, forKey: CBORCodingKey(stringValue: key))
      }
    } else {
      var container = encoder.unkeyedContainer()
      for pair in map.pairs {
        try container.encode(pair.key)
        try container.encode(pair.value)
      }
    }
  }

  /// Decodes a value.
  ///
  /// ``CBORDecoder`` gives exactly what is there. From another decoder comes what it can tell
  /// apart: null, bools, integers, doubles, strings, arrays, and maps with text keys.
  public init(from decoder: any Decoder) throws {
    if let native = decoder as? SlotDecoder {
      self = try native.decode(Value.self)
      return
    }
    if let container = try? decoder.container(keyedBy: CBORCodingKey.self) {
      let pairs = try container.allKeys.map {
        ValueMap.Pair(
          key: .string($0.stringValue), value: try container.decode(Value.self, forKey: $0))
      }
      guard let map = ValueMap(uniquePairs: pairs) else {
        throw DecodingError.dataCorrupted(
          DecodingError.Context(
            codingPath: decoder.codingPath, debugDescription: "a map has the same key twice"))
      }
      self = .map(map)
    } else if var container = try? decoder.unkeyedContainer() {
      var items: [Value] = []
      while !container.isAtEnd { items.append(try container.decode(Value.self)) }
      self = .array(items)
    } else {
      try self.init(scalar: try decoder.singleValueContainer())
    }
  }

  private init(scalar container: any SingleValueDecodingContainer) throws {
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(UInt64.self) {
      self = .unsigned(value)
    } else if let value = try? container.decode(Int64.self) {
      self = .integer(value)
    } else if let value = try? container.decode(Double.self) {
      self = .double(value)
    } else {
      self = .string(try container.decode(String.self))
    }
  }
}
