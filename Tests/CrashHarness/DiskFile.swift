// What a file can hold after a power cut: what is certain of it, and the changes that aren't.
// It always holds: a change that isn't known to be on the disk may be there or not, sector by
// sector, whatever became of the others; but of two changes to a sector the later one wins.

/// A file, as far as it is known to be on the disk, and what else was done to it.
package struct DiskFile {
  /// The smallest part of a file that a disk writes whole.
  package static let sectorSize = 512
  /// What the system writes at once, if nothing goes wrong meanwhile.
  package static let pageSize = 4_096
  static let sectorsPerPage = pageSize / sectorSize

  /// Bytes that were put somewhere, or zeros for those that were cut off.
  private struct Change {
    let offset: Int
    let data: [UInt8]
    let end: UInt64

    /// Its part in a sector goes to a file's bytes.
    func apply(to bytes: inout [UInt8], sector: Int) {
      let start = max(offset, sector * DiskFile.sectorSize)
      let end = min(offset + data.count, (sector + 1) * DiskFile.sectorSize)
      guard start < end else { return }
      if bytes.count < end { bytes += [UInt8](repeating: 0, count: end - bytes.count) }
      bytes.replaceSubrange(start..<end, with: data[(start - offset)..<(end - offset)])
    }
  }

  /// A size that the file was given.
  private struct Sizing {
    let number: UInt64
    let end: UInt64
    let size: Int
  }

  /// What is on the disk, perhaps beyond the file's end.
  private var settledBytes: [UInt8] = []
  private var settledSize = 0
  /// The size that a process sees.
  package private(set) var latestSize = 0
  /// The changes that may be on the disk or not, by number: the later, the higher.
  private var changes: [UInt64: Change] = [:]
  /// The numbers of the changes of each sector, ascending.
  private var sectors: [Int: [UInt64]] = [:]
  /// The sizes since the settled one, ascending by number.
  private var sizings: [Sizing] = []

  package init() {}

  /// Bytes are written.
  ///
  /// - Parameters:
  ///   - number: what orders it among the others, and names it.
  ///   - end: when the call returned.
  package mutating func write(_ data: [UInt8], at offset: Int, number: UInt64, end: UInt64) {
    change(data, at: offset, number: number, end: end)
    if offset + data.count > latestSize { size(offset + data.count, number: number, end: end) }
  }

  /// The file gets another size; what is cut off reads as zeros, should the file grow again.
  package mutating func resize(to size: Int, number: UInt64, end: UInt64) {
    guard size != latestSize else { return }
    if size < latestSize {
      change([UInt8](repeating: 0, count: latestSize - size), at: size, number: number, end: end)
    }
    self.size(size, number: number, end: end)
  }

  private mutating func change(_ data: [UInt8], at offset: Int, number: UInt64, end: UInt64) {
    guard !data.isEmpty else { return }
    changes[number] = Change(offset: offset, data: data, end: end)
    for sector in Self.sectors(of: offset, data.count) {
      sectors[sector, default: []].append(number)
    }
  }

  private mutating func size(_ size: Int, number: UInt64, end: UInt64) {
    latestSize = size
    sizings.append(Sizing(number: number, end: end, size: size))
  }

  private static func sectors(of offset: Int, _ count: Int) -> Range<Int> {
    offset / sectorSize..<(offset + count + sectorSize - 1) / sectorSize
  }

  /// All changes are on the disk that were through before a moment.
  package mutating func settle(endedBefore moment: UInt64) {
    for number in changes.filter({ $1.end < moment }).keys.sorted() { settle(number) }
    let sizing = sizings.last { $0.end < moment }
    if let sizing { settleSize(upTo: sizing.number) }
  }

  /// A change is on the disk, with the size that it gave the file, and whatever was in its sectors
  /// before.
  package mutating func settle(_ number: UInt64) {
    settleSize(upTo: number)
    guard let change = changes.removeValue(forKey: number) else { return }
    for sector in Self.sectors(of: change.offset, change.data.count) {
      for earlier in sectors[sector] ?? [] where earlier < number {
        changes[earlier]?.apply(to: &settledBytes, sector: sector)
      }
      change.apply(to: &settledBytes, sector: sector)
      let rest = sectors[sector]?.filter { $0 > number } ?? []
      sectors[sector] = rest.isEmpty ? nil : rest
    }
  }

  private mutating func settleSize(upTo number: UInt64) {
    guard let last = sizings.last(where: { $0.number <= number }) else { return }
    settledSize = last.size
    sizings.removeAll { $0.number <= number }
  }

  /// The pages that aren't settled, each with the number of changes that touch it.
  package var openPages: [(page: Int, changeCount: Int)] {
    let pages = Set(sectors.keys.map { $0 / Self.sectorsPerPage })
    return pages.sorted().map { ($0, numbers(ofPage: $0).count) }
  }

  /// How many sizes it got since the settled one.
  package var openSizeCount: Int { sizings.count }

  /// The number of changes to each of a page's sectors.
  package func changeCounts(ofPage page: Int) -> [Int] {
    (0..<Self.sectorsPerPage).map { sectors[page * Self.sectorsPerPage + $0]?.count ?? 0 }
  }

  private func numbers(ofPage page: Int) -> [UInt64] {
    let all = (0..<Self.sectorsPerPage).flatMap { sectors[page * Self.sectorsPerPage + $0] ?? [] }
    return Set(all).sorted()
  }

  /// How much of an open page is on the disk.
  package enum PageVersion: Sendable, Equatable {
    /// So many of its changes, the first ones.
    case whole(Int)
    /// Of each sector, so many of the changes to that.
    case torn([Int])
  }

  /// The file as it is with a choice of what isn't settled.
  ///
  /// - Parameters:
  ///   - pages: of open pages; others are as they were.
  ///   - sizeVersion: so many of the sizes took effect, the first ones.
  package func bytes(pages: [Int: PageVersion], sizeVersion: Int) -> [UInt8] {
    var bytes = settledBytes
    for (page, version) in pages {
      let first = page * Self.sectorsPerPage
      var chosen: Set<UInt64>?
      if case .whole(let count) = version { chosen = Set(numbers(ofPage: page).prefix(count)) }
      for place in 0..<Self.sectorsPerPage {
        var numbers = (sectors[first + place] ?? [])[...]
        if case .torn(let counts) = version { numbers = numbers.prefix(counts[place]) }
        for number in numbers where chosen?.contains(number) ?? true {
          changes[number]?.apply(to: &bytes, sector: first + place)
        }
      }
    }
    let size = sizeVersion == 0 ? settledSize : sizings[sizeVersion - 1].size
    if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
    return bytes.count > size ? Array(bytes[..<size]) : bytes
  }

  /// The file as a process sees it.
  package var latestBytes: [UInt8] {
    let pages = openPages.map { ($0.page, PageVersion.whole($0.changeCount)) }
    return bytes(pages: Dictionary(uniqueKeysWithValues: pages), sizeVersion: openSizeCount)
  }
}
