// The built-in reducer `merge-patch`: each event's data is a JSON Merge Patch on one document.

import HindsightCore
package import HindsightValue

/// Applies events of any type whose payload is a JSON Merge Patch (RFC 7396) to a document, which
/// is an empty object in the beginning.
package struct MergePatchReducer: Reducer {
  package init() {}

  package var name: String { "merge-patch" }

  package var initialState: Value { .map(ValueMap()) }

  package func reduce(into state: inout Value, _ event: PatchEvent) {
    state.applyMergePatch(event.payload)
  }
}

/// An event of any type whose payload is a patch.
package struct PatchEvent: SelfDescribingEvent, Codable, Sendable {
  package let recordedTypeName: String
  package let payload: Value

  package init(recordedTypeName: String, payload: UnsafeRawBufferPointer) throws {
    self.recordedTypeName = recordedTypeName
    self.payload = try Value(encoded: payload)
  }

  package func encodePayload(into writer: inout CBORWriter) throws {
    try payload.encode(into: &writer)
  }
}
