// Applies JSON Patches (RFC 6902), all or nothing.
// It always holds: a value whose patch fails is what it was, and no copy of it was made for that.

extension JSONPatch {
  /// How many values the `copy` operations of one patch may copy together, so that a short
  /// patch can't make a value grow without bound.
  public static let copyLimit = 1 << 20
}

extension Value {
  /// Applies a patch: all of its operations, or none.
  ///
  /// O(log n) an operation in the keys of the maps on its path, O(n) in those of a map that gains
  /// or loses a key and in the elements of an array behind the changed one; values that are copied,
  /// or moved deeper, are counted.
  ///
  /// - Throws: ``JSONPatchError`` that names the operation; then the value is unchanged.
  public mutating func apply(_ patch: JSONPatch) throws(JSONPatchError) {
    var run = PatchRun()
    for (index, operation) in patch.operations.enumerated() {
      do throws(JSONPatchError) {
        try run.apply(operation, at: index, to: &self)
      } catch {
        run.undo(&self)
        throw error
      }
    }
  }
}

/// The changes that a patch has made so far, and how to take them back.
private struct PatchRun {
  private enum Undo {
    /// Something was replaced, or a key that was there was set.
    case restore(JSONPointer, Value)
    /// An element was added to an array or map, whose place this is.
    case remove(parent: JSONPointer, JSONPointerStep)
    /// An element was removed from an array or map, whose place this is.
    case insert(parent: JSONPointer, JSONPointerStep, Value)
  }

  private var undos: [Undo] = []
  private var copyBudget = JSONPatch.copyLimit

  mutating func apply(
    _ operation: JSONPatch.Operation, at index: Int, to value: inout Value
  ) throws(JSONPatchError) {
    switch operation {
    case .add(let place, let new):
      try checkDepth(of: new, at: place, index)
      try add(new, at: place, index, to: &value)
    case .remove(let place):
      _ = try remove(at: place, index, from: &value)
    case .replace(let place, let new):
      try checkDepth(of: new, at: place, index)
      try replace(at: place, with: new, index, in: &value)
    case .move(let from, let to):
      guard from == to || !from.isPrefix(of: to) else {
        throw JSONPatchError(
          .moveIntoItself, "a value can't be moved into itself", at: index,
          pointer: to.description)
      }
      let moved = try self.value(at: from, index, in: value)
      if to.tokens.count > from.tokens.count { try checkDepth(of: moved, at: to, index) }
      if from == to { return }
      try add(try remove(at: from, index, from: &value), at: to, index, to: &value)
    case .copy(let from, let to):
      let copied = try self.value(at: from, index, in: value)
      try spendCopyBudget(on: copied, at: from, index)
      if to.tokens.count > from.tokens.count { try checkDepth(of: copied, at: to, index) }
      try add(copied, at: to, index, to: &value)
    case .test(let place, let expected):
      guard try self.value(at: place, index, in: value).isNumericallyEqual(to: expected) else {
        let quoted = JSONWriter().string(.string(place.description))
        throw JSONPatchError(
          .testFailed, "what is at \(quoted) isn't what the test expects", at: index,
          pointer: place.description)
      }
    }
  }

  /// Takes back all changes, the last one first.
  mutating func undo(_ value: inout Value) {
    while let undo = undos.popLast() {
      do throws(JSONPointerError) {
        switch undo {
        case .restore(let place, let old):
          try value.replace(at: place, with: old)
        case .remove(let parent, let step):
          try value.withPlace(parent.tokens[...], parent) { $0.removeChild(step) }
        case .insert(let parent, let step, let old):
          try value.withPlace(parent.tokens[...], parent) { _ = $0.insert(old, step) }
        }
      } catch {
        preconditionFailure("what was just changed is there: \(error)")
      }
    }
  }

  private mutating func add(
    _ new: Value, at place: JSONPointer, _ index: Int, to value: inout Value
  ) throws(JSONPatchError) {
    do throws(JSONPointerError) {
      let (step, old) = try value.addNotingStep(new, at: place)
      if let old {
        undos.append(.restore(place, old))
      } else if let step {
        undos.append(.remove(parent: JSONPointer(place.tokens.dropLast()), step))
      }
    } catch { throw notFound(error, index) }
  }

  private mutating func remove(
    at place: JSONPointer, _ index: Int, from value: inout Value
  ) throws(JSONPatchError) -> Value {
    do throws(JSONPointerError) {
      let (step, old) = try value.removeNotingStep(at: place)
      undos.append(.insert(parent: JSONPointer(place.tokens.dropLast()), step, old))
      return old
    } catch { throw notFound(error, index) }
  }

  private mutating func replace(
    at place: JSONPointer, with new: Value, _ index: Int, in value: inout Value
  ) throws(JSONPatchError) {
    do throws(JSONPointerError) {
      undos.append(.restore(place, try value.replace(at: place, with: new)))
    } catch { throw notFound(error, index) }
  }

  private func value(
    at place: JSONPointer, _ index: Int, in value: Value
  ) throws(JSONPatchError) -> Value {
    do throws(JSONPointerError) {
      return try value.value(at: place)
    } catch { throw notFound(error, index) }
  }

  private func notFound(_ error: JSONPointerError, _ index: Int) -> JSONPatchError {
    JSONPatchError(
      .placeNotFound, error.message, at: index, pointer: error.pointer, cause: error)
  }

  private func checkDepth(
    of value: Value, at place: JSONPointer, _ index: Int
  ) throws(JSONPatchError) {
    guard value.hasLevels(atMost: Value.jsonDepthLimit - place.tokens.count) else {
      throw JSONPatchError(
        .tooDeep, "the result would be nested deeper than \(Value.jsonDepthLimit) levels",
        at: index, pointer: place.description)
    }
  }

  private mutating func spendCopyBudget(
    on value: Value, at place: JSONPointer, _ index: Int
  ) throws(JSONPatchError) {
    guard let count = value.countOfParts(atMost: copyBudget) else {
      throw JSONPatchError(
        .tooLarge, "the patch copies more than \(JSONPatch.copyLimit) values", at: index,
        pointer: place.description)
    }
    copyBudget -= count
  }
}
