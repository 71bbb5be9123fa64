// Reads and changes the place in a value that a pointer names, without recursion.
// It always holds: a change that throws has changed nothing, and nothing off the path is copied.

extension Value {
  /// The value at a place. O(log n) a token in the keys of its map.
  ///
  /// - Throws: ``JSONPointerError`` that says which token names nothing.
  public func value(at pointer: JSONPointer) throws(JSONPointerError) -> Value {
    var value = self
    for (index, token) in pointer.tokens.enumerated() {
      do throws(JSONPointerFault) {
        value = value.child(try value.step(token))
      } catch {
        throw error.error(pointer, tokenIndex: index)
      }
    }
    return value
  }

  /// The value at a place, or nil where the pointer names nothing.
  public subscript(at pointer: JSONPointer) -> Value? { try? value(at: pointer) }

  /// Replaces what is at a place, which must exist.
  ///
  /// - Returns: what was there.
  /// - Throws: ``JSONPointerError``; then nothing has changed.
  @discardableResult
  public mutating func replace(
    at pointer: JSONPointer, with value: Value
  ) throws(JSONPointerError) -> Value {
    try withPlace(pointer.tokens[...], pointer) { (place) throws(JSONPointerFault) in
      let old = place
      place = value
      return old
    }
  }

  /// Adds a value as RFC 6902, section 4.1, says: sets a key, inserts before an element of an array
  /// (`-` for its end), or replaces the whole.
  ///
  /// - Returns: what a key or the whole had before.
  /// - Throws: ``JSONPointerError``; then nothing has changed.
  @discardableResult
  public mutating func add(
    _ value: Value, at pointer: JSONPointer
  ) throws(JSONPointerError) -> Value? {
    try addNotingStep(value, at: pointer).old
  }

  /// Removes what is at a place, which must exist and not be the whole.
  ///
  /// - Returns: what was there.
  /// - Throws: ``JSONPointerError``; then nothing has changed.
  @discardableResult
  public mutating func remove(at pointer: JSONPointer) throws(JSONPointerError) -> Value {
    try removeNotingStep(at: pointer).old
  }
}

extension Value {
  /// Adds a value; also which element of its array or map it is, or nil for the whole.
  mutating func addNotingStep(
    _ value: Value, at pointer: JSONPointer
  ) throws(JSONPointerError) -> (step: JSONPointerStep?, old: Value?) {
    guard let token = pointer.tokens.last else {
      return (nil, try replace(at: pointer, with: value))
    }
    return try withPlace(pointer.tokens.dropLast(), pointer) { (parent) throws(JSONPointerFault) in
      let step = try parent.insertionStep(token)
      return (step, parent.insert(value, step))
    }
  }

  /// Removes a value; also which element of its array or map it was.
  mutating func removeNotingStep(
    at pointer: JSONPointer
  ) throws(JSONPointerError) -> (step: JSONPointerStep, old: Value) {
    guard let token = pointer.tokens.last else {
      let fault = JSONPointerFault(
        code: .rootNotRemovable, reason: "the whole value can't be removed")
      throw fault.error(pointer, tokenIndex: nil)
    }
    return try withPlace(pointer.tokens.dropLast(), pointer) { (parent) throws(JSONPointerFault) in
      let step = try parent.step(token)
      let old = parent.child(step)
      parent.removeChild(step)
      return (step, old)
    }
  }

  /// Puts in an element where it can be; what a key had before.
  mutating func insert(_ value: Value, _ step: JSONPointerStep) -> Value? {
    switch step {
    case .element(let index):
      withArray { $0.insert(value, at: index) }
      return nil
    case .key(let key):
      return withMap { map in
        let old = map[key]
        map[key] = value
        return old
      }
    }
  }

  /// Removes an element that is known to exist.
  mutating func removeChild(_ step: JSONPointerStep) {
    switch step {
    case .element(let index): withArray { _ = $0.remove(at: index) }
    case .key(let key): withMap { $0[key] = nil }
    }
  }
}

extension Value {
  /// Calls a closure with the value at a place, to be changed there. What the closure throws is
  /// taken to be about the pointer's last token.
  mutating func withPlace<Result>(
    _ path: ArraySlice<String>, _ pointer: JSONPointer,
    _ change: (inout Value) throws(JSONPointerFault) -> Result
  ) throws(JSONPointerError) -> Result {
    // Each step takes the child out of its parent, so that changing it copies nothing.
    var parents: [(value: Value, step: JSONPointerStep)] = []
    var place = Value.null
    swap(&place, &self)
    defer {
      while var parent = parents.popLast() {
        parent.value.exchangeChild(parent.step, &place)
        swap(&parent.value, &place)
      }
      swap(&place, &self)
    }
    for (index, token) in path.enumerated() {
      do throws(JSONPointerFault) {
        let step = try place.step(token)
        var child = Value.null
        place.exchangeChild(step, &child)
        swap(&place, &child)
        parents.append((child, step))
      } catch {
        throw error.error(pointer, tokenIndex: index)
      }
    }
    do throws(JSONPointerFault) {
      return try change(&place)
    } catch {
      throw error.error(pointer, tokenIndex: pointer.tokens.count - 1)
    }
  }

  /// An element that is known to exist.
  func child(_ step: JSONPointerStep) -> Value {
    switch (self, step) {
    case (.array(let items), .element(let index)): return items[index]
    case (.map(let map), .key(let key)):
      if let value = map[key] { return value }
    default: break
    }
    preconditionFailure("a step was made for another value")
  }

  /// Exchanges an element that is known to exist with another value.
  mutating func exchangeChild(_ step: JSONPointerStep, _ child: inout Value) {
    switch step {
    case .element(let index): withArray { swap(&$0[index], &child) }
    case .key(let key):
      withMap { map in
        let old = map[key] ?? .null
        map[key] = child
        child = old
      }
    }
  }

  /// Changes the array that this is, in place.
  mutating func withArray<Result>(_ change: (inout [Value]) -> Result) -> Result {
    guard case .array(var items) = self else { preconditionFailure("this is no array") }
    self = .null
    defer { self = .array(items) }
    return change(&items)
  }

  /// Changes the map that this is, in place.
  mutating func withMap<Result>(_ change: (inout ValueMap) -> Result) -> Result {
    guard case .map(var map) = self else { preconditionFailure("this is no map") }
    self = .null
    defer { self = .map(map) }
    return change(&map)
  }
}
