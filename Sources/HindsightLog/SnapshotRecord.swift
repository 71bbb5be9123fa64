// The byte layout of a snapshot: a header record, and its state in chunks. All numbers of the
// header are little-endian, those of keys big-endian.
//
//   key     n  the reducer's name in UTF-8
//           8  the reducer's version
//           8  the index
//           4  (in table `chunks`) the chunk's number, from 0
//
//   offset  size  field
//        0     4  magic "HSS1"
//        4     2  format version, 1
//        6     2  compression, 0: none, 1: each chunk is a Zstandard frame
//        8     8  the reducer's version
//       16     8  the index
//       24     8  digest of the commit at the index
//       32     8  digest of the initial state's encoding
//       40     8  version of upcasters and known event types
//       48     8  redaction epoch
//       56     8  digest of the state's encoding
//       64     8  size of the state's encoding in bytes
//       72     8  size of all chunks as they are stored, in bytes
//       80     4  number of chunks
//       84     4  size of the reducer's name in bytes
//       88     n  the reducer's name in UTF-8
//     last     8  XXH3 digest (64 bits, seed 0) of all bytes before it

import HindsightCore

/// The header of a snapshot as it is stored.
struct SnapshotRecord: Equatable {
  var header: SnapshotHeader
  /// The size of all chunks as they are stored, in bytes.
  var storedSize: UInt64
  var chunkCount: UInt32
  var compression: Compression

  /// How chunks are stored.
  enum Compression: UInt16 {
    case none = 0
    case zstandard = 1
  }

  static let magic: UInt32 = 0x3153_5348
  static let formatVersion: UInt16 = 1
  static let headerSize = 88
  static let digestSize = 8
  /// The size of each chunk but the last before it is compressed, in bytes.
  static let chunkSize = 1 << 22

  /// The record of a state whose chunks take that many bytes.
  init(_ header: SnapshotHeader, storedSize: UInt64, compression: Compression) {
    self.header = header
    self.storedSize = storedSize
    self.compression = compression
    chunkCount = UInt32((Int(header.stateSize) + Self.chunkSize - 1) / Self.chunkSize)
  }

  /// Reads a record.
  ///
  /// - Throws: ``HindsightError`` with code `unusableSnapshot` and the reason.
  init(_ bytes: RawSpan, index: EventIndex) throws(HindsightError) {
    guard bytes.byteCount >= Self.headerSize + Self.digestSize,
      bytes.load(0, as: UInt32.self) == Self.magic
    else { throw .unusableSnapshot("its header doesn't begin as one", index: index) }
    guard bytes.load(4, as: UInt16.self) == Self.formatVersion,
      let compression = Compression(rawValue: bytes.load(6, as: UInt16.self))
    else { throw .unusableSnapshot("it has a newer format", index: index) }
    let digested = bytes.extracting(0..<(bytes.byteCount - Self.digestSize))
    let nameSize = Int(bytes.load(84, as: UInt32.self))
    let name = bytes.extracting(Self.headerSize..<digested.byteCount)
    guard Digest.of(digested) == bytes.load(digested.byteCount, as: UInt64.self),
      name.byteCount == nameSize,
      let reducerName = name.withUnsafeBytes({ String(validating: $0, as: UTF8.self) })
    else { throw .unusableSnapshot("its header is damaged", index: index) }
    header = SnapshotHeader(
      reducerName: reducerName, reducerVersion: bytes.load(8, as: UInt64.self),
      index: bytes.load(16, as: UInt64.self), commitDigest: bytes.load(24, as: UInt64.self),
      initialStateDigest: bytes.load(32, as: UInt64.self),
      schemaVersion: bytes.load(40, as: UInt64.self),
      redactionEpoch: bytes.load(48, as: UInt64.self),
      stateDigest: bytes.load(56, as: UInt64.self), stateSize: bytes.load(64, as: UInt64.self))
    self.compression = compression
    storedSize = bytes.load(72, as: UInt64.self)
    chunkCount = bytes.load(80, as: UInt32.self)
  }

  /// The record's bytes, with its digest.
  func encoded() -> [UInt8] {
    var bytes: [UInt8] = []
    func append(_ value: some FixedWidthInteger) {
      withUnsafeBytes(of: value.littleEndian) { bytes.append(contentsOf: $0) }
    }
    append(Self.magic)
    append(Self.formatVersion)
    append(compression.rawValue)
    append(header.reducerVersion)
    append(header.index)
    append(header.commitDigest)
    append(header.initialStateDigest)
    append(header.schemaVersion)
    append(header.redactionEpoch)
    append(header.stateDigest)
    append(header.stateSize)
    append(storedSize)
    append(chunkCount)
    append(UInt32(header.reducerName.utf8.count))
    bytes.append(contentsOf: header.reducerName.utf8)
    append(bytes.withUnsafeBytes { Digest.of($0) })
    return bytes
  }
}

/// The key of a snapshot and of its chunks.
struct SnapshotKey {
  var reducerName: String
  var reducerVersion: UInt64
  var index: EventIndex

  /// What the keys of all snapshots of a reducer's version begin with.
  var prefix: [UInt8] { Array(reducerName.utf8) + bigEndian(reducerVersion) }
  var bytes: [UInt8] { prefix + bigEndian(index) }
  func bytes(chunk: UInt32) -> [UInt8] { bytes + bigEndian(chunk) }

  init(reducerName: String, reducerVersion: UInt64, index: EventIndex) {
    self.reducerName = reducerName
    self.reducerVersion = reducerVersion
    self.index = index
  }

  /// The snapshot that a key's bytes name, or nil where they aren't a key.
  init?(_ bytes: [UInt8]) {
    func number(_ bytes: ArraySlice<UInt8>) -> UInt64 {
      bytes.reduce(0) { $0 << 8 | UInt64($1) }
    }
    guard bytes.count >= 16,
      let name = String(validating: bytes.dropLast(16), as: UTF8.self)
    else { return nil }
    reducerName = name
    reducerVersion = number(bytes.suffix(16).prefix(8))
    index = number(bytes.suffix(8))
  }

  private func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
    withUnsafeBytes(of: number.bigEndian) { Array($0) }
  }
}

extension HindsightError {
  static func unusableSnapshot(_ reason: String, index: EventIndex) -> HindsightError {
    HindsightError(
      .unusableSnapshot, "the snapshot at \(index) can't be used: \(reason)", index: index)
  }
}
