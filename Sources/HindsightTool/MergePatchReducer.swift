// The built-in reducer `merge-patch`: each event's data is a JSON Merge Patch on one document.

import HindsightCore
import HindsightValue

/// Applies events of any type whose payload is a JSON Merge Patch (RFC 7396) to a document, which
/// is an empty object in the beginning.
struct MergePatchReducer: Reducer {
  init() {}

  var name: String { "merge-patch" }

  var initialState: Value { .map(ValueMap()) }

  func reduce(into state: inout Value, _ event: PatchEvent) {
    state.applyMergePatch(event.payload)
  }
}

/// An event of any type whose payload is a patch.
struct PatchEvent: SelfDescribingEvent, Codable, Sendable {
  let recordedTypeName: String
  let payload: Value

  init(recordedTypeName: String, payload: UnsafeRawBufferPointer) throws {
    self.recordedTypeName = recordedTypeName
    self.payload = try Value(encoded: payload)
  }

  func encodePayload(into writer: inout CBORWriter) throws {
    try payload.encode(into: &writer)
  }
}
