// Which names a directory tree can have after a power cut.
// It always holds: a name that was made, moved or removed may be as before until its directory was
// flushed; that the file was flushed makes no difference.

/// The names below a directory, as far as they are known to be on the disk, and what else was done
/// to them.
package struct DiskNames {
  /// What a name leads to.
  package enum Target: Hashable, Sendable {
    case directory
    /// A file, by the number of its making.
    case file(UInt64)
  }

  /// One change, which happens as a whole or not.
  private struct Naming {
    let end: UInt64
    /// What each of its paths leads to after it; nil for nothing.
    let targets: [String: Target?]
    /// The directories that have to be flushed until it is certain.
    var awaited: Set<String>
  }

  private let root: String
  private var settled: [String: Target]
  /// What a process sees.
  package private(set) var latest: [String: Target]
  private var namings: [Naming] = []

  /// - Parameter root: the directory that is there from the start.
  package init(root: String) {
    self.root = root
    settled = [root: .directory]
    latest = settled
  }

  static func parent(of path: String) -> String {
    guard let slash = path.lastIndex(of: "/") else { return "" }
    return String(path[..<slash])
  }

  /// Paths lead somewhere else, or nowhere, from now on.
  package mutating func name(_ targets: [String: Target?], end: UInt64) {
    for (path, target) in targets { latest[path] = target }
    namings.append(
      Naming(end: end, targets: targets, awaited: Set(targets.keys.map(Self.parent))))
  }

  /// A directory was flushed, beginning at a moment.
  package mutating func settle(_ directory: String, endedBefore moment: UInt64) {
    for place in namings.indices where namings[place].end < moment {
      namings[place].awaited.remove(directory)
    }
    var rest: [Naming] = []
    for naming in namings {
      let isFree = !rest.contains { !Set($0.targets.keys).isDisjoint(with: naming.targets.keys) }
      if naming.awaited.isEmpty, isFree {
        for (path, target) in naming.targets { settled[path] = target }
      } else {
        rest.append(naming)
      }
    }
    namings = rest
  }

  /// How many changes aren't certain.
  package var openCount: Int { namings.count }

  /// What there is with a choice of the changes, each made only after those to the same paths.
  package func names(applying choice: [Bool]) -> [String: Target] {
    var names = settled
    var blocked: Set<String> = []
    for (naming, isChosen) in zip(namings, choice) {
      let paths = Set(naming.targets.keys)
      if isChosen, blocked.isDisjoint(with: paths) {
        for (path, target) in naming.targets { names[path] = target }
      } else {
        blocked.formUnion(paths)
      }
    }
    return names.filter { isReachable($0.key, names) }
  }

  private func isReachable(_ path: String, _ names: [String: Target]) -> Bool {
    if path == root { return true }
    let parent = Self.parent(of: path)
    return parent.utf8.count >= root.utf8.count && names[parent] == .directory
      && isReachable(parent, names)
  }
}
