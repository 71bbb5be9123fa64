// JSON Merge Patch (RFC 7396), in place and without recursion.
// It always holds: what the patch doesn't name is neither copied nor looked at.

extension Value {
  /// Merges a patch into this value: maps are merged key by key, null removes a key, and everything
  /// else replaces what is there (RFC 7396, section 2). A patch that isn't a map replaces the
  /// whole.
  ///
  /// Keys of any kind are merged. O(p log n) in the pairs p of the patch and the keys n of the maps
  /// it names, and O(n) more for a map that gains or loses a key.
  public mutating func applyMergePatch(_ patch: Value) {
    guard case .map(let changes) = patch else {
      self = patch
      return
    }
    var stack = [MergeLevel(target: takeMap(), key: .null, changes: changes.pairs)]
    while true {
      let top = stack.count - 1
      guard let change = stack[top].nextChange() else {
        let finished = stack.removeLast()
        guard top > 0 else {
          self = .map(finished.target)
          return
        }
        stack[top - 1].target[finished.key] = .map(finished.target)
        continue
      }
      switch change.value {
      case .null:
        stack[top].target[change.key] = nil
      case .map(let changes):
        let inner = stack[top].takeMap(at: change.key)
        stack.append(MergeLevel(target: inner, key: change.key, changes: changes.pairs))
      default:
        stack[top].target[change.key] = change.value
      }
    }
  }

  /// The map that this is, leaving null behind; an empty one if it is something else.
  private mutating func takeMap() -> ValueMap {
    guard case .map(let map) = self else { return ValueMap() }
    self = .null
    return map
  }

  /// A map whose patch is being merged, taken out of the map around it.
  private struct MergeLevel {
    var target: ValueMap
    /// Where the target belongs in the map around it.
    let key: Value
    let changes: [ValueMap.Pair]
    private var position = 0

    init(target: ValueMap, key: Value, changes: [ValueMap.Pair]) {
      self.target = target
      self.key = key
      self.changes = changes
    }

    mutating func nextChange() -> ValueMap.Pair? {
      guard position < changes.count else { return nil }
      defer { position += 1 }
      return changes[position]
    }

    /// Takes out the map at a key, or an empty one to be put there.
    mutating func takeMap(at key: Value) -> ValueMap {
      guard case .map(let map) = target[key] else { return ValueMap() }
      target[key] = .null
      return map
    }
  }
}
