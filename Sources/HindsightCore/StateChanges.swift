// The newest values of a part of the state, as a sequence that is pulled.

/// The values of a part of a store's state, each with its index: the newest only.
///
/// See ``Store/changes(of:)``. Several iterations are independent of each other.
public struct StateChanges<R: Reducer, Part: Equatable & Sendable>: AsyncSequence, Sendable {
  /// A value of the part, and the index of the state that it was taken from.
  public struct Element: Sendable {
    /// The part's value.
    public let value: Part
    /// The index of the state that has it; other events may have come since it got it.
    public let index: EventIndex
  }

  /// Iterating never fails.
  public typealias Failure = Never

  let holder: StateHolder<R.State>
  let select: @Sendable (R.State) -> Part

  /// Begins with the current value; each iterator waits for itself.
  public func makeAsyncIterator() -> Iterator { Iterator(holder: holder, select: select) }

  /// Waits for changes on behalf of one reader.
  public struct Iterator: AsyncIteratorProtocol {
    let holder: StateHolder<R.State>
    let select: @Sendable (R.State) -> Part
    private var last: Element?
    /// The index up to which there was no other value than the last one.
    private var seen: EventIndex = 0

    init(holder: StateHolder<R.State>, select: @escaping @Sendable (R.State) -> Part) {
      self.holder = holder
      self.select = select
    }

    /// The next other value; nil where the store has been closed or the task cancelled.
    public mutating func next() async -> Element? {
      while true {
        if last != nil {
          guard await holder.waitForChange(from: seen) else { return nil }
        } else if Task.isCancelled {
          return nil
        }
        let element = holder.read { Element(value: select($0), index: $1) }
        seen = element.index
        if let last, last.value == element.value { continue }
        last = element
        return element
      }
    }
  }
}
