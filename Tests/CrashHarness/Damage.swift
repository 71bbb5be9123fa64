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
package struct DamageList: Sendable {
  private let seed: UInt64
  /// Where a byte is changed: within which range, one each.
  private let places: [Range<Int>]
  private let truncationCount: Int
  private static let sectorSize = 512
  /// LMDB's meta pages begin with so many bytes that mean something.
  private static let metaSize = 152
  private static let pageSize = 4_096
  /// Every how many bytes one is changed where the file has never been written.
  private static let emptyStep = 256

  /// - Parameter step: every how many bytes one is changed, of those that were ever written.
  package init(of bytes: [UInt8], step: Int, seed: UInt64) {
    self.seed = seed
    let written = bytes.lastIndex { $0 != 0 } ?? 0
    var places: [Range<Int>] = []
    var start = 0
    while start < bytes.count {
      let isMeta = start < 2 * Self.pageSize && start % Self.pageSize < Self.metaSize
      let length = isMeta ? 1 : start > written ? Self.emptyStep : step
      let end = min(start + length, bytes.count)
      places.append(start..<end)
      start = end
    }
    self.places = places
    truncationCount = (bytes.count + Self.sectorSize - 1) / Self.sectorSize
  }

  package var count: Int { places.count + truncationCount }

  package subscript(number: Int) -> Damage {
    guard number < places.count else {
      return .truncation(size: (number - places.count) * Self.sectorSize)
    }
    var generator = SeededGenerator(seed: seed &+ UInt64(number))
    let offset = Int.random(in: places[number], using: &generator)
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
