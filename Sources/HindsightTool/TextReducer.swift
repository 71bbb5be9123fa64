// The built-in reducer `text`: each event's data are splices of one document.

import HindsightCore
import HindsightValue

/// Applies splices to a text, which is empty in the beginning.
///
/// An event's payload is a map with `splices`, an array of maps: `position` and `deleted` (0 by
/// default) count Unicode scalars, `inserted` (empty by default) is a text. The splices of an event
/// apply one after the other. Further keys beside `splices` are kept and not looked at.
struct TextReducer: Reducer {
  init() {}

  var name: String { "text" }

  var initialState: EditableText { EditableText() }

  func reduce(into state: inout EditableText, _ event: TextEvent) {
    // A reducer is total: what `validate` refuses, and so can't be in a log, changes nothing.
    guard (try? event.check(on: state)) != nil else { return }
    try? event.forEachSplice { splice in
      try state.replace(position: splice.position, count: splice.deleted, with: splice.inserted)
    }
  }

  func validate(_ event: TextEvent, in state: EditableText) throws {
    try event.check(on: state)
  }
}

/// An event of any type whose payload holds splices.
struct TextEvent: SelfDescribingEvent, Codable, Sendable {
  let recordedTypeName: String
  /// The encoding as it came, so that nothing of it is lost.
  private let payload: [UInt8]

  init(recordedTypeName: String, payload: UnsafeRawBufferPointer) throws {
    self.recordedTypeName = recordedTypeName
    self.payload = Array(payload)
    try forEachSplice { _ in }
  }

  func encodePayload(into writer: inout CBORWriter) throws {
    writer.append(encoded: payload)
  }

  /// - Throws: ``TextSpliceError`` where a splice doesn't lie within the text that it meets.
  func check(on text: EditableText) throws {
    var scalarCount = text.scalarCount
    var number = 0
    try forEachSplice { splice in
      number += 1
      guard splice.position <= scalarCount, splice.deleted <= scalarCount - splice.position else {
        throw TextSpliceError(
          "splice \(number) deletes \(splice.deleted) scalars at position \(splice.position) of a "
            + "text of \(scalarCount)")
      }
      scalarCount += splice.inserted.unicodeScalars.count - splice.deleted
    }
  }
}

/// A part of a text to replace; positions and counts are Unicode scalars.
struct TextSplice {
  var position = -1
  var deleted = 0
  var inserted = ""
}

/// Why a payload isn't one of splices, or why they don't fit.
struct TextSpliceError: Error, CustomStringConvertible {
  let description: String

  init(_ description: String) { self.description = description }
}

extension TextEvent {
  /// Reads the splices one after the other from the payload, as nothing else needs them.
  func forEachSplice(_ body: (TextSplice) throws -> Void) throws {
    try payload.withUnsafeBytes { bytes in
      var reader = CBORReader(bytes)
      var hasSplices = false
      try reader.forEachKey { reader in
        guard reader.readKey("splices") else { return false }
        hasSplices = true
        guard let count = try reader.readArrayHeader() else {
          throw TextSpliceError("the splices have no definite count")
        }
        for _ in 0..<count { try body(reader.readSplice()) }
        return true
      }
      guard hasSplices else {
        throw TextSpliceError("the data has no splices: {\"splices\": [{\"position\": …}]}")
      }
    }
  }
}

extension CBORReader {
  /// Visits the pairs of a map of definite length; the closure says whether it read the pair.
  fileprivate mutating func forEachKey(
    _ body: (inout CBORReader) throws -> Bool
  ) throws {
    guard let count = try readMapHeader() else {
      throw TextSpliceError("a map has no definite count")
    }
    for _ in 0..<count where try !body(&self) {
      try skip()
      try skip()
    }
  }

  fileprivate mutating func readSplice() throws -> TextSplice {
    var splice = TextSplice()
    try forEachKey { reader in
      if reader.readKey("position") {
        splice.position = try reader.readCount("position")
      } else if reader.readKey("deleted") {
        splice.deleted = try reader.readCount("deleted")
      } else if reader.readKey("inserted") {
        splice.inserted = try reader.readString()
      } else {
        throw TextSpliceError(
          "a splice has a key that isn't position, deleted or inserted")
      }
      return true
    }
    guard splice.position >= 0 else { throw TextSpliceError("a splice has no position") }
    return splice
  }

  private mutating func readCount(_ name: StaticString) throws -> Int {
    let count = try readInt()
    guard count >= 0 else { throw TextSpliceError("a splice's \(name) is below 0: \(count)") }
    return count
  }
}
