// What changed between two states, by place.

public import HindsightCore
public import HindsightValue

/// What changed between the states at two indexes.
public struct StateDifference: Sendable, Hashable {
  /// The index of the state that is compared with.
  public let from: EventIndex
  /// The index of the state that is compared.
  public let to: EventIndex
  /// What was added, removed or replaced, by place; empty where the states are equal.
  public let changes: [ValueChange]
  /// The JSON Patch (RFC 6902) that makes the second state of the first.
  public let patch: JSONPatch

  /// Compares two states as trees. O(n) in their sizes, and bounded in the differences of arrays.
  public init(from: EventIndex, to: EventIndex, old: Value, new: Value) {
    self.from = from
    self.to = to
    changes = Value.difference(from: old, to: new)
    patch = JSONPatch(from: old, to: new)
  }
}

extension Timeline {
  /// The state at an index as a tree, as its encoding holds it.
  ///
  /// - Throws: as ``state(at:)``.
  public func value(at index: EventIndex) async throws -> Value {
    try Value(encoded: CBOREncoder().encode(try await state(at: index)))
  }

  /// What changed between the states at two indexes, in either order.
  ///
  /// - Throws: as ``state(at:)``.
  public func diff(from first: EventIndex, to second: EventIndex) async throws -> StateDifference {
    StateDifference(
      from: first, to: second, old: try await value(at: first), new: try await value(at: second))
  }
}
