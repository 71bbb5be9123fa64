// The one error type of the store and the log: a code to switch over and a message to read.

/// An error of a store, its log or its snapshots.
///
/// The message says what happened, where, and what to do; ``code`` is what a program looks at. What
/// an operation leaves behind after an error is said at the operation; unless it says otherwise,
/// nothing was changed.
///
/// ```swift
/// do {
///   try await store.dispatch(event)
/// } catch let error as HindsightError where error.code == .readOnly {
///   // …
/// }
/// ```
public struct HindsightError: Error, Sendable {
  /// What kind of thing happened. Further codes may be added.
  public struct Code: Sendable, Hashable, CustomStringConvertible {
    /// The code's stable name.
    public let description: String

    package init(_ description: String) { self.description = description }
  }

  /// What kind of thing happened.
  public let code: Code
  /// What happened, where, and what to do, in one line.
  public let message: String
  /// The event that it happened at, where it was one.
  public let index: EventIndex?
  /// The type of that event, where it is known.
  public let eventType: String?
  /// The position (0-based) in the dispatched batch of the event that was refused.
  public let batchPosition: Int?
  /// The error that caused this one.
  public let cause: (any Error)?

  /// An error with its code, message, place and cause.
  public init(
    _ code: Code, _ message: String, index: EventIndex? = nil, eventType: String? = nil,
    batchPosition: Int? = nil, cause: (any Error)? = nil
  ) {
    self.code = code
    self.message = message
    self.index = index
    self.eventType = eventType
    self.batchPosition = batchPosition
    self.cause = cause
  }
}

extension HindsightError: CustomStringConvertible {
  /// The message, with the cause behind it.
  public var description: String {
    guard let cause else { return message }
    return "\(message) (\(cause))"
  }
}

extension HindsightError.Code {
  /// There is no store at the path, or what is there isn't one.
  public static let notAStore = Self("notAStore")
  /// The store needs a newer version of Hindsight.
  public static let unsupportedFormat = Self("unsupportedFormat")
  /// The store was made for a reducer of another name.
  public static let reducerMismatch = Self("reducerMismatch")
  /// The process may not read or write the store's files.
  public static let permissionDenied = Self("permissionDenied")
  /// The store is open for reading only.
  public static let readOnly = Self("readOnly")
  /// The store is in use in a way that excludes this one.
  public static let inUse = Self("inUse")
  /// The store has been closed.
  public static let closed = Self("closed")
  /// An index beyond the newest event was asked for.
  public static let indexBeyondHead = Self("indexBeyondHead")
  /// The store's files were replaced, moved, removed or cut off while they were open.
  public static let replaced = Self("replaced")
  /// A commit, or a page below it, doesn't hold what was written.
  public static let corrupt = Self("corrupt")
  /// A commit that must be there isn't.
  public static let missingCommit = Self("missingCommit")
  /// The app's event type doesn't know an event's type.
  public static let unknownEventType = Self("unknownEventType")
  /// An event's bytes don't decode to the app's event type.
  public static let undecodableEvent = Self("undecodableEvent")
  /// The log holds a control event of a kind that this version doesn't know.
  public static let unknownControlEvent = Self("unknownControlEvent")
  /// An event can't be recorded as it is: it doesn't encode, or its type's name is reserved.
  public static let invalidEvent = Self("invalidEvent")
  /// An event's metadata can't be recorded as they are.
  public static let invalidMetadata = Self("invalidMetadata")
  /// The reducer's `validate` refused the event.
  public static let eventRefused = Self("eventRefused")
  /// What should become one commit is larger than a commit can be.
  public static let commitTooLarge = Self("commitTooLarge")
  /// The store was called from inside its own reducer or `transact`.
  public static let reentrantCall = Self("reentrantCall")
  /// The commit failed in a way that leaves open whether it is in the log: reopen the store.
  public static let commitOutcomeUnknown = Self("commitOutcomeUnknown")
  /// The file system has no space left.
  public static let diskFull = Self("diskFull")
  /// The log has reached the size of its memory map: open the store with a larger
  /// ``StoreOptions/mapSize``.
  public static let mapFull = Self("mapFull")
  /// What should be made is there already.
  public static let destinationExists = Self("destinationExists")
  /// The file system refused an operation.
  public static let inputOutput = Self("inputOutput")
  /// The store is on a network file system, on which its locks can't be relied on.
  public static let networkFileSystem = Self("networkFileSystem")
  /// An option has a value that it can't have.
  public static let invalidOption = Self("invalidOption")
  /// A snapshot can't be read, or was made from something else.
  public static let unusableSnapshot = Self("unusableSnapshot")
}
