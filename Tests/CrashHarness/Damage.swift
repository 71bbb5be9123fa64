// Ways in which a file of a store can be damaged, numbered, so that each can be made again.

import Foundation

/// One change to a file.
package enum Damage: Sendable, CustomStringConvertible {
  /// A byte is combined with a mask by exclusive or.
  case flip(offset: Int, mask: UInt8)
  /// The file ends at a size.
  case truncation(size: Int)

  package var description: String {
    switch self {
    case .flip(let offset, let mask): "byte \(offset) ^ 0x\(String(mask, radix: 16))"
    case .truncation(let size): "cut off at \(size)"
    }
  }

  /// The bytes of a file with the damage done.
  package func applied(to bytes: [UInt8]) -> [UInt8] {
    switch self {
    case .flip(let offset, let mask):
      var damaged = bytes
      damaged[offset] ^= mask
      return damaged
    case .truncation(let size): return Array(bytes.prefix(size))
    }
  }
}

/// All damages that are done to one file: bytes in turn, and each length by the sector.
///
/// What a meta page's byte does depends on its value: each of its bits is changed by itself, and
/// the lowest byte of the transaction's number in every way but one. The newest page's number
/// lowered by two is what LMDB leaves of a commit whose meta page couldn't be written: nothing can
/// tell the two apart, so it isn't tried, and `docs/reliability.md` says so.
package struct DamageList: Sendable {
  private let seed: UInt64
  /// Where a byte is changed: within which range, and how, where that isn't drawn.
  private let places: [(range: Range<Int>, mask: UInt8?)]
  private let truncationCount: Int
  private static let sectorSize = 512
  private static let pageSize = 4_096
  /// LMDB's meta pages begin with so many bytes that mean something.
  private static let metaSize = 152
  /// Where in a meta page the transaction's number begins.
  private static let numberOffset = 144
  /// Every how many bytes one is changed where the file has never been written.
  private static let emptyStep = 256

  /// - Parameter step: every how many bytes one is changed, of those that were ever written.
  package init(of bytes: [UInt8], step: Int, seed: UInt64) {
    self.seed = seed
    let written = bytes.lastIndex { $0 != 0 } ?? 0
    var places: [(Range<Int>, UInt8?)] = []
    var start = 0
    while start < bytes.count {
      if start < 2 * Self.pageSize, start % Self.pageSize < Self.metaSize {
        places += Self.masks(ofMetaByte: start, of: bytes).map { (start..<(start + 1), $0) }
        start += 1
        continue
      }
      let end = min(start + (start > written ? Self.emptyStep : step), bytes.count)
      places.append((start..<end, nil))
      start = end
    }
    self.places = places
    truncationCount = (bytes.count + Self.sectorSize - 1) / Self.sectorSize
  }

  private static func masks(ofMetaByte place: Int, of bytes: [UInt8]) -> [UInt8] {
    guard place % pageSize == numberOffset else { return (0..<8).map { 1 << UInt8($0) } + [0xff] }
    let numbers = [0, 1].map { page in
      bytes[(page * pageSize + numberOffset)...].prefix(8).reversed()
        .reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
    }
    let (own, other) = (numbers[place / pageSize], numbers[1 - place / pageSize])
    guard own > other, other > 0 else { return Array(1...255) }
    return (1...255).filter { own ^ UInt64($0) != other - 1 }
  }

  package var count: Int { places.count + truncationCount }

  package subscript(number: Int) -> Damage {
    guard number < places.count else {
      return .truncation(size: (number - places.count) * Self.sectorSize)
    }
    var generator = SeededGenerator(seed: seed &+ UInt64(number))
    let offset = Int.random(in: places[number].range, using: &generator)
    if let mask = places[number].mask { return .flip(offset: offset, mask: mask) }
    // A single bit, all bits, or any.
    let mask: UInt8 =
      switch generator.below(3) {
      case 0: 1 << UInt8(generator.below(8))
      case 1: 0xff
      default: UInt8(1 + generator.below(255))
      }
    return .flip(offset: offset, mask: mask)
  }
}
