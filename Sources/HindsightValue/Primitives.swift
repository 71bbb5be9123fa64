// Numbers, bools and strings, alone, in arrays and in dictionaries by text: coded without generics.
//
// Generic code that isn't compiled for one type is several times as slow. The requirements here are
// what each type brings along compiled for itself; the routes only call them.

/// A type that is coded as one scalar item.
protocol Primitive: EncodeRouted, DecodeRouted, Codable {
  static func write(_ value: Self, _ core: EncoderCore)
  static func write(items: [Self], _ core: EncoderCore)
  static func write(pairs: [String: Self], _ core: EncoderCore) throws
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Self
  static func readItems(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [Self]
  static func readPairs(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [String: Self]
}

extension Primitive {
  static func write(items: [Self], _ core: EncoderCore) {
    core.state.pointee.writer.appendArrayHeader(count: items.count)
    for item in items { write(item, core) }
  }

  static func write(pairs: [String: Self], _ core: EncoderCore) throws {
    try core.contained(.dictionary) { ticket in
      for (key, value) in pairs {
        try core.beginEntry(ticket, text: key)
        write(value, core)
      }
    }
  }

  static func readItems(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [Self] {
    try core.array(offset, place) { try read($0, $1, $2) }
  }

  static func readPairs(
    _ core: DecoderCore, _ offset: Int, _ place: Place
  ) throws -> [String: Self] {
    try core.dictionary(
      offset, place, key: { try $0.string($1, $2) }, value: { try read($0, $1, $2) })
  }

  static func makeEncodeRoute() -> AnyObject { PrimitiveRoute<Self>() }
  static func makeDecodeRoute() -> AnyObject { PrimitiveReadRoute<Self>() }

  static var arrayRoutes: (encode: AnyObject, decode: AnyObject) {
    (PrimitiveArrayRoute<Self>(), PrimitiveArrayReadRoute<Self>())
  }
  static var dictionaryRoutes: (encode: AnyObject, decode: AnyObject) {
    (PrimitiveDictionaryRoute<Self>(), PrimitiveDictionaryReadRoute<Self>())
  }
}

final class PrimitiveRoute<T: Primitive>: EncodeRoute<T> {
  override func encode(_ value: T, _ core: EncoderCore) throws { T.write(value, core) }
}

final class PrimitiveArrayRoute<T: Primitive>: EncodeRoute<[T]> {
  override func encode(_ value: [T], _ core: EncoderCore) throws { T.write(items: value, core) }
}

final class PrimitiveDictionaryRoute<T: Primitive>: EncodeRoute<[String: T]> {
  override func encode(_ value: [String: T], _ core: EncoderCore) throws {
    try T.write(pairs: value, core)
  }
}

final class PrimitiveReadRoute<T: Primitive>: DecodeRoute<T> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> T {
    try T.read(core, offset, place)
  }
}

final class PrimitiveArrayReadRoute<T: Primitive>: DecodeRoute<[T]> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [T] {
    try T.readItems(core, offset, place)
  }
}

final class PrimitiveDictionaryReadRoute<T: Primitive>: DecodeRoute<[String: T]> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> [String: T] {
    try T.readPairs(core, offset, place)
  }
}

extension Primitive where Self: FixedWidthInteger {
  @inline(__always)
  static func write(_ value: Self, _ core: EncoderCore) { core.integer(value) }
  @inline(__always)
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Self {
    try core.integer(Self.self, offset, place)
  }
}
extension Int: Primitive {}
extension Int8: Primitive {}
extension Int16: Primitive {}
extension Int32: Primitive {}
extension Int64: Primitive {}
extension Int128: Primitive {}
extension UInt: Primitive {}
extension UInt8: Primitive {}
extension UInt16: Primitive {}
extension UInt32: Primitive {}
extension UInt64: Primitive {}
extension UInt128: Primitive {}

extension String: Primitive {
  @inline(__always)
  static func write(_ value: String, _ core: EncoderCore) {
    core.state.pointee.writer.append(value)
  }
  @inline(__always)
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> String {
    try core.string(offset, place)
  }
}

extension Bool: Primitive {
  static func write(_ value: Bool, _ core: EncoderCore) { core.state.pointee.writer.append(value) }
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Bool {
    try core.bool(offset, place)
  }
}

extension Double: Primitive {
  static func write(_ value: Double, _ core: EncoderCore) {
    core.state.pointee.writer.append(value)
  }
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Double {
    try core.double(offset, place)
  }
}

extension Float: Primitive {
  static func write(_ value: Float, _ core: EncoderCore) {
    core.state.pointee.writer.append(Double(value))
  }
  static func read(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Float {
    try core.float(offset, place)
  }
}
