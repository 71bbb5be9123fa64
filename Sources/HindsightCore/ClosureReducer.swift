// A reducer made of an initial state and a function.

/// A reducer that is made of an initial state and a function of either shape.
public struct ClosureReducer<State: Codable & Sendable, Event: Codable & Sendable>: Reducer {
  /// The name that stores of it carry.
  public let name: String
  /// The version of the function and the state's encoding.
  public let version: UInt64
  /// The state before the first event.
  public let initialState: State
  private let function: @Sendable (inout State, Event) -> Void

  /// A reducer from a function that changes the state in place.
  ///
  /// - Parameters:
  ///   - name: the name that stores of it carry.
  ///   - version: raised when the function or the state's encoding changes.
  public init(
    name: String, version: UInt64 = 1, initialState: State,
    reduce: @escaping @Sendable (inout State, Event) -> Void
  ) {
    self.name = name
    self.version = version
    self.initialState = initialState
    function = reduce
  }

  /// A reducer from a function that returns the next state.
  public init(
    name: String, version: UInt64 = 1, initialState: State,
    reduce: @escaping @Sendable (State, Event) -> State
  ) {
    self.init(name: name, version: version, initialState: initialState) { state, event in
      state = reduce(state, event)
    }
  }

  /// Changes the state by an event, with the function.
  public func reduce(into state: inout State, _ event: Event) {
    function(&state, event)
  }
}
