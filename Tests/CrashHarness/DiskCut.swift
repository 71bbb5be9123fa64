// The states in which a disk can be after its power was cut at one moment.
// It always holds: each state has everything that is certain, and a choice of what isn't.

/// What isn't certain of a store's files at one moment, and all that can come of it.
package struct DiskCut {
  /// Something that is on the disk to some degree.
  package enum Unit: Equatable, Sendable {
    /// A page of a file.
    case page(file: UInt64, number: Int)
    /// A file's size.
    case size(file: UInt64)
    /// The name that was changed as that one of the uncertain ones.
    case name(Int)
  }

  /// A choice of what is on the disk.
  package struct Choice: Equatable, Sendable {
    /// How many of each unit's changes; the first ones.
    package var versions: [Int]
    /// Pages of which single sectors were written, by the place of their units: how many of the
    /// changes of each sector.
    package var torn: [Int: [Int]] = [:]

    package init(versions: [Int], torn: [Int: [Int]] = [:]) {
      self.versions = versions
      self.torn = torn
    }
  }

  /// What can be on the disk or not.
  package let units: [Unit]
  /// How many changes each of them had.
  package let changeCounts: [Int]
  private let disk: DiskModel
  private let store: String

  /// Up to so many changes, all choices are looked at.
  package static let exhaustiveChangeCountMax = 10

  package init(_ disk: DiskModel, store: String) {
    var units: [Unit] = []
    var counts: [Int] = []
    for place in 0..<disk.names.openCount {
      units.append(.name(place))
      counts.append(1)
    }
    for (number, file) in disk.files.sorted(by: { $0.key < $1.key })
    where Self.isLasting(number, disk) {
      if file.openSizeCount > 0 {
        units.append(.size(file: number))
        counts.append(file.openSizeCount)
      }
      for (page, changeCount) in file.openPages {
        units.append(.page(file: number, number: page))
        counts.append(changeCount)
      }
    }
    self.units = units
    changeCounts = counts
    self.disk = disk
    self.store = store
  }

  /// Whether a file isn't a lock file, as far as its name tells.
  private static func isLasting(_ number: UInt64, _ disk: DiskModel) -> Bool {
    !disk.names.latest.contains { $0.value == .file(number) && $0.key.hasSuffix("-lock") }
  }

  /// The number of all changes that may be on the disk or not.
  package var changeCount: Int { changeCounts.reduce(0, +) }
  /// Whether there are so few that all choices of whole pages are looked at.
  package var isExhaustive: Bool { changeCount <= Self.exhaustiveChangeCountMax }
  /// The number of choices of whole pages, where they are few.
  package var wholeChoiceCount: Int { changeCounts.reduce(1) { $0 * ($1 + 1) } }

  /// The whole-page choice of a number below ``wholeChoiceCount``.
  package func choice(_ number: Int) -> Choice {
    var rest = number
    return Choice(
      versions: changeCounts.map { count in
        defer { rest /= count + 1 }
        return rest % (count + 1)
      })
  }

  /// A choice at random: of any density, as everything between nothing and all can happen.
  ///
  /// - Parameter isTorn: whether pages are written in part.
  package func choice(isTorn: Bool, using generator: inout SeededGenerator) -> Choice {
    let percentage = generator.below(101)
    func version(of count: Int) -> Int {
      if generator.below(100) < percentage { return count }
      return generator.below(3) == 0 ? generator.below(count + 1) : 0
    }
    var choice = Choice(versions: changeCounts.map(version))
    guard isTorn else { return choice }
    let pages = units.indices.filter { if case .page = units[$0] { true } else { false } }
    guard let one = pages.randomElement(using: &generator) else { return choice }
    for place in generator.below(2) == 0 ? [one] : pages {
      guard case .page(let file, let page) = units[place], let file = disk.files[file] else {
        continue
      }
      choice.torn[place] = file.changeCounts(ofPage: page).map {
        $0 == 0 ? 0 : generator.below($0 + 1)
      }
    }
    return choice
  }

  /// The store's files with a choice, by name; nil where there isn't even the store's directory.
  package func files(_ choice: Choice) -> [String: [UInt8]]? {
    var names = [Bool](repeating: false, count: disk.names.openCount)
    var sizes: [UInt64: Int] = [:]
    var pages: [UInt64: [Int: DiskFile.PageVersion]] = [:]
    for (place, unit) in units.enumerated() {
      let version = choice.versions[place]
      switch unit {
      case .name(let number): names[number] = version > 0
      case .size(let file): sizes[file] = version
      case .page(let file, let page):
        pages[file, default: [:]][page] = choice.torn[place].map { .torn($0) } ?? .whole(version)
      }
    }
    let tree = disk.names.names(applying: names)
    guard tree[store] == .directory else { return nil }
    return disk.contents(of: store, tree) { number, file in
      file.bytes(pages: pages[number] ?? [:], sizeVersion: sizes[number] ?? 0)
    }
  }
}
