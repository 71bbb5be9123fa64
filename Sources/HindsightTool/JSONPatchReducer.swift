// The built-in reducer `json-patch`: each event's data is a JSON Patch on one document.

import HindsightCore
import HindsightValue

/// Applies events of any type whose payload is a JSON Patch (RFC 6902) to a document, which is an
/// empty object in the beginning. A patch that doesn't apply is refused.
struct JSONPatchReducer: Reducer {
  var name: String { "json-patch" }

  var initialState: Value { .map(ValueMap()) }

  func reduce(into state: inout Value, _ event: JSONPatchEvent) {
    // A reducer is total: what `validate` refuses, and so can't be in a log, changes nothing.
    try? state.apply(event.patch)
  }

  func validate(_ event: JSONPatchEvent, in state: Value) throws {
    var patched = state
    try patched.apply(event.patch)
  }
}

/// An event of any type whose payload is a list of operations.
struct JSONPatchEvent: SelfDescribingEvent, Sendable {
  let recordedTypeName: String
  let patch: JSONPatch
  /// The payload as it came: an operation may have further members, which are kept.
  private let payload: Value

  init(recordedTypeName: String, payload: UnsafeRawBufferPointer) throws {
    self.recordedTypeName = recordedTypeName
    self.payload = try Value(encoded: payload)
    patch = try JSONPatch(self.payload)
  }

  func encodePayload(into writer: inout CBORWriter) throws {
    try payload.encode(into: &writer)
  }
}

extension JSONPatchEvent: Codable {
  private enum CodingKeys: String, CodingKey {
    case type
    case data
  }

  init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    recordedTypeName = try container.decode(String.self, forKey: .type)
    payload = try container.decode(Value.self, forKey: .data)
    patch = try JSONPatch(payload)
  }

  func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: CodingKeys.self)
    try container.encode(recordedTypeName, forKey: .type)
    try container.encode(payload, forKey: .data)
  }
}
