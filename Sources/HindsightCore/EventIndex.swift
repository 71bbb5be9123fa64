// The position of an event in the log, and of the state after it.

/// The position of an event in the log: 1-based and gapless.
///
/// Index 0 is the initial state; "the state at i" is the state after event i.
public typealias EventIndex = UInt64
