// What a file could hold after a power cut, from the calls that reached it before.
// It always holds: what a flush made durable is there; of everything else, any pages may be, as a
// whole or in part, and a page's writes come in their order.

/// One file of a traced process, as its disk sees it.
package struct DiskFile: Sendable {
  /// A change of the file, and from when on it survives a cut; nil where no flush came.
  struct Change: Sendable {
    enum Kind: Sendable {
      case write(offset: Int, data: [UInt8])
      case size(Int)
    }

    let kind: Kind
    let begin: UInt64
    let durableFrom: UInt64?
  }

  static let pageSize = 4_096
  static let sectorSize = 512

  /// What the file held before the trace; nil where it didn't exist.
  private let base: [UInt8]
  /// In the order in which they ended.
  private let changes: [Change]

  /// - Parameters:
  ///   - path: the file's real path, as it stands in the trace.
  ///   - base: what it held before.
  package init(_ trace: SystemCallTrace, path: String, base: [UInt8] = []) {
    self.base = base
    let calls = trace.calls.filter { $0.path == path && $0.result >= 0 }
    let syncs = calls.filter(\.isSuccessfulSync)
    changes = calls.compactMap { call in
      let kind: Change.Kind
      switch call.kind {
      case .write where call.result > 0: kind = .write(offset: call.offset, data: call.data)
      case .truncate: kind = .size(call.length)
      case .allocate: kind = .size(call.offset + call.length)
      default: return nil
      }
      var durableFrom = syncs.filter { $0.inode == call.inode && $0.begin > call.end }
        .map(\.end).min()
      if call.writesThrough { durableFrom = min(durableFrom ?? .max, call.end) }
      return Change(kind: kind, begin: call.begin, durableFrom: durableFrom)
    }
  }

  /// What can differ after a cut.
  package func cut(at time: UInt64) -> DiskCut {
    var cut = DiskCut(base: base)
    for change in changes where change.begin < time {
      cut.add(change, isDurable: change.durableFrom.map { $0 <= time } ?? false)
    }
    return cut
  }
}

/// The states that a file can be in after one cut.
package struct DiskCut: Sendable {
  private struct Piece: Sendable {
    let offset: Int
    let data: ArraySlice<UInt8>
  }

  private struct Page: Sendable {
    var pieces: [Piece] = []
    /// So many of the pieces are on the disk for certain.
    var durableCount = 0
  }

  private let base: [UInt8]
  private var pages: [Int: Page] = [:]
  /// The sizes that the file was given, in order, and how many of those are durable.
  private var sizes: [Int] = []
  private var durableSizeCount = 0

  init(base: [UInt8]) { self.base = base }

  mutating func add(_ change: DiskFile.Change, isDurable: Bool) {
    switch change.kind {
    case .size(let size):
      sizes.append(size)
      if isDurable { durableSizeCount = sizes.count }
    case .write(let start, let data):
      var offset = start
      while offset < start + data.count {
        let number = offset / DiskFile.pageSize
        let end = min(start + data.count, (number + 1) * DiskFile.pageSize)
        var page = pages[number] ?? Page()
        page.pieces.append(Piece(offset: offset, data: data[(offset - start)..<(end - start)]))
        if isDurable { page.durableCount = page.pieces.count }
        pages[number] = page
        offset = end
      }
    }
  }

  /// The pages of which anything can differ, in order.
  private var openPages: [Int] {
    pages.filter { $0.value.durableCount < $0.value.pieces.count }.keys.sorted()
  }

  /// How many versions there are of each thing that can differ: the size, and pages.
  package var versionCounts: [Int] {
    [sizes.count - durableSizeCount + 1]
      + openPages.map { (pages[$0]?.pieces.count ?? 0) - (pages[$0]?.durableCount ?? 0) + 1 }
  }

  /// The file in one of its states.
  ///
  /// - Parameters:
  ///   - versions: one for each of ``versionCounts``, 0 for the oldest.
  ///   - tear: for a page that isn't in its newest version: which of its sectors are of the next
  ///     version, a bit each.
  package func image(_ versions: [Int], tear: (Int) -> UInt8 = { _ in 0 }) -> [UInt8] {
    var bytes = base
    func extend(to size: Int) {
      if bytes.count < size { bytes += [UInt8](repeating: 0, count: size - bytes.count) }
    }
    for size in sizes.prefix(durableSizeCount + versions[0]) { extend(to: size) }
    func apply(_ piece: Piece, sectors: UInt8 = 0xff) {
      for (position, byte) in piece.data.enumerated() {
        let offset = piece.offset + position
        let sector = offset % DiskFile.pageSize / DiskFile.sectorSize
        guard sectors >> UInt8(sector) & 1 == 1 else { continue }
        extend(to: offset + 1)
        bytes[offset] = byte
      }
    }
    func applyWhole(_ piece: Piece) {
      let end = piece.offset + piece.data.count
      extend(to: end)
      bytes.replaceSubrange(piece.offset..<end, with: piece.data)
    }
    let open = openPages
    for (number, page) in pages where page.durableCount == page.pieces.count {
      _ = number
      for piece in page.pieces { applyWhole(piece) }
    }
    for (position, number) in open.enumerated() {
      guard let page = pages[number] else { continue }
      let count = page.durableCount + versions[position + 1]
      for piece in page.pieces.prefix(count) { applyWhole(piece) }
      if count < page.pieces.count { apply(page.pieces[count], sectors: tear(number)) }
    }
    return bytes
  }
}

/// The states of a cut, numbered: all of them where they are few, and else some, drawn by a seed.
package struct DiskStates: Sendable {
  private let counts: [Int]
  /// Whether every combination of whole pages is among them.
  package let isExhaustive: Bool
  /// So many states are all tried; ten pages, each there or not, have as many.
  private static let exhaustiveMax = 1_024
  /// How many are drawn where there are more, and with torn pages in any case.
  private static let drawnCount = 64

  package init(_ cut: DiskCut) {
    counts = cut.versionCounts
    var product = 1
    for count in counts where product <= Self.exhaustiveMax { product *= count }
    isExhaustive = product <= Self.exhaustiveMax
    wholeCount = isExhaustive ? product : Self.drawnCount
    // Where nothing is open, nothing can be torn.
    count = wholeCount + (counts.allSatisfy { $0 == 1 } ? 0 : min(product, Self.drawnCount))
  }

  private let wholeCount: Int
  package let count: Int

  /// The versions of a state, and which sectors of its pages are torn.
  package func versions(
    _ number: Int, _ generator: inout SeededGenerator
  ) -> (versions: [Int], isTorn: Bool) {
    guard isExhaustive, number < wholeCount else {
      return (counts.map { generator.below($0) }, number >= wholeCount)
    }
    var rest = number
    let versions = counts.map { count in
      defer { rest /= count }
      return rest % count
    }
    return (versions, false)
  }
}
