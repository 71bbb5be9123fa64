// JSON Patch documents (RFC 6902): a list of operations on places in a value.
// It always holds: every operation has the members that its kind needs, and valid pointers.

/// A JSON Patch: operations that are applied one after the other, all or none.
public struct JSONPatch: Hashable, Sendable {
  /// One change or check of a place (RFC 6902, section 4).
  public enum Operation: Hashable, Sendable {
    /// Sets a key, inserts into an array, or replaces the whole value.
    case add(JSONPointer, Value)
    /// Removes what is there.
    case remove(JSONPointer)
    /// Replaces what is there.
    case replace(JSONPointer, Value)
    /// Removes what is at one place and adds it at another.
    case move(from: JSONPointer, to: JSONPointer)
    /// Adds what is at one place at another, too.
    case copy(from: JSONPointer, to: JSONPointer)
    /// Fails unless this is there; numbers compare by what they count, so `1` is `1.0`.
    case test(JSONPointer, Value)
  }

  /// The operations, in the order in which they are applied.
  public var operations: [Operation]

  /// A patch of these operations.
  public init(_ operations: [Operation]) { self.operations = operations }

  /// Reads a patch document: an array of objects with `op`, `path`, and `value` or `from`. Other
  /// members are ignored. O(n) in its operations and pointers.
  ///
  /// - Throws: ``JSONPatchError`` that names the first operation that isn't one.
  public init(_ document: Value) throws(JSONPatchError) {
    guard case .array(let items) = document else {
      throw JSONPatchError(.invalidDocument, "a patch is an array of operations")
    }
    operations = []
    operations.reserveCapacity(items.count)
    for (index, item) in items.enumerated() {
      operations.append(try Self.operation(item, at: index))
    }
  }

  /// The patch document. O(n) in the operations and pointers.
  public var value: Value { .array(operations.map(\.value)) }

  private static func operation(
    _ item: Value, at index: Int
  ) throws(JSONPatchError) -> Operation {
    guard case .map(let members) = item else {
      throw JSONPatchError(.invalidDocument, "an operation is an object", at: index)
    }
    guard case .string(let name) = members["op"] else {
      throw JSONPatchError(.invalidDocument, "an operation needs the text 'op'", at: index)
    }
    func pointer(_ member: String) throws(JSONPatchError) -> JSONPointer {
      guard case .string(let text) = members[member] else {
        throw JSONPatchError(.invalidDocument, "'\(name)' needs the text '\(member)'", at: index)
      }
      do throws(JSONPointerError) {
        return try JSONPointer(parsing: text)
      } catch {
        throw JSONPatchError(.invalidDocument, error.message, at: index, pointer: text)
      }
    }
    func value() throws(JSONPatchError) -> Value {
      guard let value = members["value"] else {
        throw JSONPatchError(.invalidDocument, "'\(name)' needs 'value'", at: index)
      }
      return value
    }
    switch name {
    case "add": return .add(try pointer("path"), try value())
    case "remove": return .remove(try pointer("path"))
    case "replace": return .replace(try pointer("path"), try value())
    case "move": return .move(from: try pointer("from"), to: try pointer("path"))
    case "copy": return .copy(from: try pointer("from"), to: try pointer("path"))
    case "test": return .test(try pointer("path"), try value())
    default:
      let known = "add, remove, replace, move, copy or test"
      let quoted = JSONWriter().string(.string(name))
      throw JSONPatchError(.invalidDocument, "\(quoted) is none of \(known)", at: index)
    }
  }
}

extension JSONPatch.Operation {
  /// The place that is changed or checked.
  public var pointer: JSONPointer {
    switch self {
    case .add(let place, _), .remove(let place), .replace(let place, _), .move(_, let place),
      .copy(_, let place), .test(let place, _):
      place
    }
  }

  /// The object of a patch document.
  public var value: Value {
    switch self {
    case .add(let place, let value): Self.object("add", place, "value", value)
    case .remove(let place): Self.object("remove", place, nil, .null)
    case .replace(let place, let value): Self.object("replace", place, "value", value)
    case .move(let from, let to): Self.object("move", to, "from", .string(from.description))
    case .copy(let from, let to): Self.object("copy", to, "from", .string(from.description))
    case .test(let place, let value): Self.object("test", place, "value", value)
    }
  }

  private static func object(
    _ name: String, _ place: JSONPointer, _ member: String?, _ value: Value
  ) -> Value {
    var map = ValueMap()
    map["op"] = .string(name)
    map["path"] = .string(place.description)
    if let member { map[member] = value }
    return .map(map)
  }
}

/// Why a JSON Patch can't be read or applied.
public struct JSONPatchError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The kind of fault.
  public struct Code: RawRepresentable, Hashable, Sendable {
    /// The name, which stays the same in later versions.
    public let rawValue: String

    /// A kind of fault by its name.
    public init(rawValue: String) { self.rawValue = rawValue }

    /// The document isn't a patch.
    public static let invalidDocument = Code(rawValue: "invalidDocument")
    /// There is no such place in the value; ``JSONPatchError/cause`` says why.
    public static let placeNotFound = Code(rawValue: "placeNotFound")
    /// What is there isn't what was tested for.
    public static let testFailed = Code(rawValue: "testFailed")
    /// Something would be moved into itself.
    public static let moveIntoItself = Code(rawValue: "moveIntoItself")
    /// The result would be nested deeper than ``Value/jsonDepthLimit``.
    public static let tooDeep = Code(rawValue: "tooDeep")
    /// The patch copies more than ``JSONPatch/copyLimit`` values.
    public static let tooLarge = Code(rawValue: "tooLarge")
  }

  /// The kind of fault.
  public let code: Code
  /// Which operation is at fault, from 0; nil for the whole document.
  public let operationIndex: Int?
  /// The text of the pointer at fault.
  public let pointer: String?
  /// Why the pointer names nothing.
  public let cause: JSONPointerError?
  /// What is wrong, in words, without the place.
  public let message: String

  init(
    _ code: Code, _ message: String, at operationIndex: Int? = nil, pointer: String? = nil,
    cause: JSONPointerError? = nil
  ) {
    self.code = code
    self.operationIndex = operationIndex
    self.pointer = pointer
    self.cause = cause
    self.message = message
  }

  /// What is wrong, after the place of the operation in the patch where it is one of them.
  public var description: String {
    operationIndex.map { "operation \($0) of the patch: \(message)" } ?? message
  }
}
