// What an app defines: its state, its events, and how an event changes the state.

/// How events change a state.
///
/// A reducer is pure and total: the same state and event always give the same next state, and it
/// can't fail. It is called when an event is dispatched and again whenever the log is replayed, so
/// it starts no effects, reads no clock and draws no random numbers: what it needs of the world is
/// in the event, and the event's time and identity are in its ``EventContext``. Iterating over a
/// `Set` or `Dictionary` in a way that depends on the order isn't pure, either.
///
/// ```swift
/// struct Counter: Reducer {
///   enum Event: Codable, Sendable { case added(amount: Int) }
///
///   var initialState: Int { 0 }
///
///   func reduce(into state: inout Int, _ event: Event) {
///     switch event {
///     case .added(let amount): state += amount
///     }
///   }
/// }
/// ```
///
/// Implement one of the two `reduce` functions: the one with the context, or its shorthand.
public protocol Reducer<State, Event>: Sendable {
  /// What the events change. A value: no class instances with mutable properties in it.
  associatedtype State: Codable & Sendable
  /// What can happen.
  associatedtype Event: Codable & Sendable

  /// The name that stores of this reducer carry. Default: the type's name.
  ///
  /// A store opens only with a reducer of the name that it was made with, so set it before renaming
  /// the type.
  var name: String { get }

  /// The version of `reduce` and of the state's encoding. Default: 1.
  ///
  /// Raise it when either changes: snapshots of another version aren't used, and the state is
  /// replayed from the log.
  var version: UInt64 { get }

  /// The type under which events are recorded whose encoding doesn't name one. Default: `"event"`.
  ///
  /// The type of an enum's event is the name of its case. This one is for events that are structs
  /// or other values.
  var eventTypeName: String { get }

  /// The state before the first event.
  var initialState: State { get }

  /// Changes the state by an event.
  ///
  /// Runs on the thread that commits or replays, never twice at a time for one store.
  func reduce(into state: inout State, _ event: Event, context: EventContext)

  /// Changes the state by an event, without looking at its context.
  func reduce(into state: inout State, _ event: Event)

  /// Throws where an event mustn't be appended in a state. Default: accepts every event.
  ///
  /// Called for every dispatched event, with the state right before it, before anything is
  /// appended; never in a replay, so that a stricter rule doesn't invalidate history.
  func validate(_ event: Event, in state: State) throws
}

extension Reducer {
  /// The type's name.
  public var name: String { String(describing: Self.self) }

  /// The first version.
  public var version: UInt64 { 1 }

  /// `"event"`.
  public var eventTypeName: String { "event" }

  /// Calls the shorthand.
  public func reduce(into state: inout State, _ event: Event, context: EventContext) {
    reduce(into: &state, event)
  }

  /// A precondition failure: a reducer implements one of the two forms.
  public func reduce(into state: inout State, _ event: Event) {
    preconditionFailure("\(Self.self) implements neither form of reduce(into:_:)")
  }

  /// Accepts every event.
  public func validate(_ event: Event, in state: State) throws {
    ValidationProbe.current?.defaultRan()
  }
}

/// Finds out whether a reducer has its own `validate`: the default one tells the probe.
///
/// With the default, a store needs no state before it appends, and reduces after the flush.
final class ValidationProbe: @unchecked Sendable {
  // Only used by the thread that binds it, within one call.
  private var sawDefault = false

  @TaskLocal static var current: ValidationProbe?

  func defaultRan() { sawDefault = true }

  /// Whether a reducer's `validate` is its own, asked with an event and a state at hand.
  static func isValidating<R: Reducer>(_ reducer: R, _ event: R.Event, _ state: R.State) -> Bool {
    let probe = ValidationProbe()
    $current.withValue(probe) { try? reducer.validate(event, in: state) }
    return !probe.sawDefault
  }
}
