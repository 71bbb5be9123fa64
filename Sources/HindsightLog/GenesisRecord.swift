// The first record of a log: what it was made with. All numbers are little-endian.
//
//   offset  size  field
//        0     4  magic "HSG1"
//        4     2  format version, 1
//        6     2  zero
//        8    16  store id, random
//       24     8  creation time, microseconds since 1970 UTC (signed)
//       32     8  compatible features: unknown ones are ignored
//       40     8  read-only-compatible features: unknown ones allow reading alone
//       48     8  incompatible features: unknown ones refuse to open
//       56     4  size of the reducer's name in bytes
//       60     4  zero
//       64     n  the reducer's name in UTF-8
//     last     8  XXH3 digest (64 bits, seed 0) of all bytes before it

import HindsightCore

/// The record under key 0, with whose digest the chain of commits begins.
struct GenesisRecord: Equatable {
  var storeID: (UInt64, UInt64)
  var creationTime: Timestamp
  var compatibleFeatures: UInt64 = 0
  var readOnlyCompatibleFeatures: UInt64 = 0
  var incompatibleFeatures: UInt64 = 0
  var reducerName: String

  static let magic: UInt32 = 0x3147_5348
  static let formatVersion: UInt16 = 1
  static let headerSize = 64
  static let digestSize = 8
  /// The longest name of a reducer in UTF-8 bytes.
  static let reducerNameSizeMax = 255
  // No feature is defined yet.
  static let knownReadOnlyCompatibleFeatures: UInt64 = 0
  static let knownIncompatibleFeatures: UInt64 = 0

  static func == (left: GenesisRecord, right: GenesisRecord) -> Bool {
    left.encoded() == right.encoded()
  }

  /// A record for a new store, with a random id.
  init(creationTime: Timestamp, reducerName: String) {
    var generator = SystemRandomNumberGenerator()
    storeID = (generator.next(), generator.next())
    self.creationTime = creationTime
    self.reducerName = reducerName
  }

  /// Reads a record.
  ///
  /// - Throws: ``HindsightError`` with code `notAStore`, `corrupt` or `unsupportedFormat`.
  init(_ bytes: RawSpan, path: String, forWriting: Bool) throws(HindsightError) {
    guard bytes.byteCount >= Self.headerSize + Self.digestSize,
      bytes.load(0, as: UInt32.self) == Self.magic
    else { throw .notAStore(path, "its log doesn't begin as one of Hindsight's") }
    let version = bytes.load(4, as: UInt16.self)
    guard version == Self.formatVersion, bytes.load(6, as: UInt16.self) == 0,
      bytes.load(60, as: UInt32.self) == 0
    else {
      throw HindsightError(
        .unsupportedFormat,
        "\(path) has format version \(version); this version of Hindsight reads "
          + "\(Self.formatVersion): use a newer one")
    }
    let digested = bytes.extracting(0..<(bytes.byteCount - Self.digestSize))
    let nameSize = Int(bytes.load(56, as: UInt32.self))
    let name = bytes.extracting(Self.headerSize..<digested.byteCount)
    guard Digest.of(digested) == bytes.load(digested.byteCount, as: UInt64.self),
      nameSize == name.byteCount,
      let reducerName = name.withUnsafeBytes({ String(validating: $0, as: UTF8.self) })
    else {
      throw HindsightError(.corrupt, "the first record of \(path) is damaged", index: 0)
    }
    storeID = (
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 8, as: UInt64.self)),
      UInt64(bigEndian: bytes.unsafeLoadUnaligned(fromByteOffset: 16, as: UInt64.self))
    )
    creationTime = Timestamp(rawValue: bytes.load(24, as: Int64.self))
    compatibleFeatures = bytes.load(32, as: UInt64.self)
    readOnlyCompatibleFeatures = bytes.load(40, as: UInt64.self)
    incompatibleFeatures = bytes.load(48, as: UInt64.self)
    self.reducerName = reducerName
    try checkFeatures(path: path, forWriting: forWriting)
  }

  private func checkFeatures(path: String, forWriting: Bool) throws(HindsightError) {
    let incompatible = incompatibleFeatures & ~Self.knownIncompatibleFeatures
    guard incompatible == 0 else {
      throw HindsightError(
        .unsupportedFormat,
        "\(path) uses features (\(String(incompatible, radix: 16))) that this version of "
          + "Hindsight doesn't know: use a newer one")
    }
    let readOnlyCompatible = readOnlyCompatibleFeatures & ~Self.knownReadOnlyCompatibleFeatures
    guard readOnlyCompatible == 0 || !forWriting else {
      throw HindsightError(
        .unsupportedFormat,
        "\(path) uses features (\(String(readOnlyCompatible, radix: 16))) with which this "
          + "version of Hindsight can only read it: open it read-only, or use a newer version")
    }
  }

  /// The record's bytes, with its digest.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.magic)
    append(Self.formatVersion)
    append(UInt16(0))
    append(storeID.0.byteSwapped)
    append(storeID.1.byteSwapped)
    append(creationTime.rawValue)
    append(compatibleFeatures)
    append(readOnlyCompatibleFeatures)
    append(incompatibleFeatures)
    append(UInt32(reducerName.utf8.count))
    append(UInt32(0))
    bytes.append(contentsOf: reducerName.utf8)
    append(bytes.withUnsafeBytes { Digest.of($0) })
    return bytes
  }

  /// What the store tells its users of it.
  var genesis: LogGenesis {
    func hexadecimal(_ number: UInt64) -> String {
      let digits = String(number, radix: 16)
      return String(repeating: "0", count: 16 - digits.count) + digits
    }
    return LogGenesis(
      storeID: hexadecimal(storeID.0) + hexadecimal(storeID.1), creationTime: creationTime,
      reducerName: reducerName)
  }
}
