// How a recorded event's type and payload relate to the bytes that the event encodes to.

/// How a recorded type and payload are put together to the event's encoding.
///
/// The raw value is what a commit record holds.
public enum EventForm: UInt8, Sendable, Hashable {
  /// The payload is the whole encoding; the type is the reducer's name for its events.
  case whole = 0
  /// The encoding is a map with one pair: the type, and the payload.
  case enveloped = 1
  /// As ``enveloped``, in further maps with the one key `_0`; the type is the keys joined by dots.
  case nested = 2
  /// The encoding is the type as a text; there is no payload.
  case bare = 3
  /// The engine's own event (`hindsight.…`); reducers never see it.
  case control = 4
}
