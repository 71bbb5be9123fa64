// Foundation's values, in forms that give back exactly the same value.

#if canImport(FoundationEssentials)
  import FoundationEssentials
#else
  import Foundation
#endif

/// The tags that are used (RFC 8949, section 3.4, and the registry of CBOR tags).
private enum Tag {
  static let secondsSince1970: UInt64 = 1
  static let decimalFraction: UInt64 = 4
  static let url: UInt64 = 32
  static let uuid: UInt64 = 37
  /// Not registered: a double of seconds since 2001-01-01 00:00 UTC, Foundation's reference date.
  static let secondsSince2001: UInt64 = 0x4844_4154
}

extension DecoderCore {
  /// The tag of a tagged item, and where what it tags is; nil for an item without a tag.
  fileprivate func tag(_ offset: Int, _ place: Place) throws -> (number: UInt64, content: Int)? {
    var reader = reader(at: offset)
    guard reader.nextKind == .tagged else { return nil }
    do throws(CBORError) {
      return (try reader.readTag(), reader.position)
    } catch {
      throw failure(error, place)
    }
  }

  fileprivate func bytes(_ offset: Int, _ place: Place) throws -> [UInt8] {
    var reader = reader(at: offset)
    do throws(CBORError) {
      let bytes = try reader.readBytes()
      state.pointee.lastEnd = reader.position
      return bytes
    } catch {
      throw failure(error, place, expecting: [UInt8].self)
    }
  }
}

// MARK: Date

/// Seconds since 1970 (tag 1) if that loses nothing, else seconds since 2001 as they are.
private final class DateRoute: EncodeRoute<Date> {
  override func encode(_ value: Date, _ core: EncoderCore) throws {
    let reference = value.timeIntervalSinceReferenceDate
    let unix = value.timeIntervalSince1970
    let back = Date(timeIntervalSince1970: unix).timeIntervalSinceReferenceDate
    if back.bitPattern == reference.bitPattern || reference.isNaN {
      core.state.pointee.writer.appendTag(Tag.secondsSince1970)
      core.state.pointee.writer.append(unix)
    } else {
      core.state.pointee.writer.appendTag(Tag.secondsSince2001)
      core.state.pointee.writer.append(reference)
    }
  }
}

/// Also a bare number of seconds since 2001: the form of the date's own `Codable`.
private final class DateReadRoute: DecodeRoute<Date> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Date {
    guard let tag = try core.tag(offset, place) else {
      return Date(timeIntervalSinceReferenceDate: try core.double(offset, place))
    }
    switch tag.number {
    case Tag.secondsSince1970:
      return Date(timeIntervalSince1970: try core.double(tag.content, place))
    case Tag.secondsSince2001:
      return Date(timeIntervalSinceReferenceDate: try core.double(tag.content, place))
    default:
      throw core.corrupted("tag \(tag.number) isn't that of a date", place)
    }
  }
}

extension Date: EncodeRouted, DecodeRouted {
  static func makeEncodeRoute() -> AnyObject { DateRoute() }
  static func makeDecodeRoute() -> AnyObject { DateReadRoute() }
}

// MARK: Data

private final class DataRoute: EncodeRoute<Data> {
  override func encode(_ value: Data, _ core: EncoderCore) throws {
    value.withUnsafeBytes { core.state.pointee.writer.append(bytes: $0) }
  }
}

/// Also an array of numbers: the form of the data's own `Codable`.
private final class DataReadRoute: DecodeRoute<Data> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Data {
    let item = core.untagged(offset) ?? offset
    guard core.reader(at: item).nextKind == .array else {
      return Data(try core.bytes(item, place))
    }
    return Data(try core.value([UInt8].self, item, place))
  }
}

extension Data: EncodeRouted, DecodeRouted {
  static func makeEncodeRoute() -> AnyObject { DataRoute() }
  static func makeDecodeRoute() -> AnyObject { DataReadRoute() }
}

// MARK: UUID

private final class UUIDRoute: EncodeRoute<UUID> {
  override func encode(_ value: UUID, _ core: EncoderCore) throws {
    core.state.pointee.writer.appendTag(Tag.uuid)
    withUnsafeBytes(of: value.uuid) { core.state.pointee.writer.append(bytes: $0) }
  }
}

/// Also its text: the form of the UUID's own `Codable`.
private final class UUIDReadRoute: DecodeRoute<UUID> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> UUID {
    let item = core.untagged(offset) ?? offset
    if core.reader(at: item).nextKind == .string {
      guard let value = UUID(uuidString: try core.string(item, place)) else {
        throw core.corrupted("the text isn't a UUID", place)
      }
      return value
    }
    let bytes = try core.bytes(item, place)
    guard bytes.count == 16 else { throw core.corrupted("a UUID has 16 bytes", place) }
    return UUID(uuid: bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) })
  }
}

extension UUID: EncodeRouted, DecodeRouted {
  static func makeEncodeRoute() -> AnyObject { UUIDRoute() }
  static func makeDecodeRoute() -> AnyObject { UUIDReadRoute() }
}

// MARK: URL

/// A text (tag 32) if that gives back the same URL, else the map of the URL's own `Codable`.
private final class URLRoute: EncodeRoute<URL> {
  override func encode(_ value: URL, _ core: EncoderCore) throws {
    let text = value.absoluteString
    guard value.baseURL == nil, URL(string: text) == value else { return try core.plain(value) }
    core.state.pointee.writer.appendTag(Tag.url)
    core.state.pointee.writer.append(text)
  }
}

private final class URLReadRoute: DecodeRoute<URL> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> URL {
    let item = core.untagged(offset) ?? offset
    guard core.reader(at: item).nextKind == .string else {
      return try core.plain(URL.self, item, place)
    }
    guard let value = URL(string: try core.string(item, place)) else {
      throw core.corrupted("the text isn't a URL", place)
    }
    return value
  }
}

extension URL: EncodeRouted, DecodeRouted {
  static func makeEncodeRoute() -> AnyObject { URLRoute() }
  static func makeDecodeRoute() -> AnyObject { URLReadRoute() }
}

// MARK: Decimal

extension Decimal {
  /// Sign, digits and exponent, where the number is one and these give back the same.
  fileprivate var exactParts: (isNegative: Bool, mantissa: UInt128, exponent: Int)? {
    guard !isNaN, let mantissa = UInt128(significand.description) else { return nil }
    let isNegative = sign == .minus
    guard let back = Decimal(isNegative: isNegative, mantissa: mantissa, exponent: exponent),
      back.exponent == exponent, back.significand == significand, back.sign == sign
    else { return nil }
    return (isNegative, mantissa, exponent)
  }

  fileprivate init?(isNegative: Bool, mantissa: UInt128, exponent: Int) {
    guard (-128...127).contains(exponent), let digits = Decimal(string: "\(mantissa)") else {
      return nil
    }
    self.init(sign: isNegative ? .minus : .plus, exponent: exponent, significand: digits)
    if isNaN { return nil }
  }
}

/// A decimal fraction (tag 4) if that gives back the same digits, else the map of the decimal's
/// own `Codable`. NaN is the float.
private final class DecimalRoute: EncodeRoute<Decimal> {
  override func encode(_ value: Decimal, _ core: EncoderCore) throws {
    if value.isNaN { return core.state.pointee.writer.append(Double.nan) }
    guard let parts = value.exactParts else { return try core.plain(value) }
    core.state.pointee.writer.appendTag(Tag.decimalFraction)
    core.state.pointee.writer.appendArrayHeader(count: 2)
    core.integer(parts.exponent)
    if parts.isNegative, parts.mantissa > 0 {
      core.wideInteger(true, parts.mantissa - 1)
    } else {
      core.wideInteger(false, parts.mantissa)
    }
  }
}

/// Also an integer, and the map of the decimal's own `Codable`.
private final class DecimalReadRoute: DecodeRoute<Decimal> {
  override func decode(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Decimal {
    if let tag = try core.tag(offset, place), tag.number == Tag.decimalFraction {
      let value = try decodeFraction(core, tag.content, place)
      core.state.pointee.lastEnd = -1
      return value
    }
    switch core.reader(at: core.untagged(offset) ?? offset).nextKind {
    case .float:
      guard try core.double(offset, place).isNaN else {
        throw core.corrupted("a decimal isn't a binary fraction", place)
      }
      return Decimal.nan
    case .map: return try core.plain(Decimal.self, offset, place)
    default: return try whole(core, offset, place, exponent: 0)
    }
  }

  private func decodeFraction(_ core: DecoderCore, _ offset: Int, _ place: Place) throws -> Decimal
  {
    let head = try core.arrayHead(offset, place)
    guard head.count == 2 else { throw core.corrupted("a decimal has two parts", place) }
    let exponent = try core.integer(Int.self, head.first, place)
    let second = try core.endOfLast(head.first, place)
    return try whole(core, second, place, exponent: exponent)
  }

  /// An integer of up to 128 bits and a sign, times a power of ten.
  private func whole(
    _ core: DecoderCore, _ offset: Int, _ place: Place, exponent: Int
  ) throws -> Decimal {
    let (isNegative, mantissa) = try core.magnitude(offset, place)
    guard
      let value = Decimal(isNegative: isNegative, mantissa: mantissa, exponent: exponent)
    else { throw core.outOfRange("Decimal", offset, place) }
    return value
  }
}

extension DecoderCore {
  /// The sign and the absolute value of an integer or a bignum.
  fileprivate func magnitude(_ offset: Int, _ place: Place) throws -> (Bool, UInt128) {
    var reader = reader(at: offset)
    let isNegative: Bool
    switch reader.nextKind {
    case .negative: isNegative = true
    case .tagged: isNegative = (try? reader.readTag()) == 3
    default: isNegative = false
    }
    guard isNegative else { return (false, try integer(UInt128.self, offset, place)) }
    // -1 - n; a bignum's bytes are n.
    if reader.nextKind == .bytes {
      let bytes = try bytes(reader.position, place).drop { $0 == 0 }
      let argument = bytes.prefix(16).reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
      guard bytes.count <= 16, argument < .max else { throw outOfRange("Decimal", offset, place) }
      return (true, argument + 1)
    }
    return (true, (try integer(Int128.self, offset, place)).magnitude)
  }
}

extension Decimal: EncodeRouted, DecodeRouted {
  static func makeEncodeRoute() -> AnyObject { DecimalRoute() }
  static func makeDecodeRoute() -> AnyObject { DecimalReadRoute() }
}
