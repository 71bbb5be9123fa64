// What the CBOR tests share: hex, seeds, and a generator of values.

import Foundation
import HindsightValue
import Testing

func hex(_ bytes: some Sequence<UInt8>) -> String {
  bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
}

func unhex(_ text: String) -> [UInt8] {
  let digits = text.filter { !$0.isWhitespace }.compactMap(\.hexDigitValue)
  return stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] * 16 + digits[$0 + 1]) }
}

/// Encodes, decodes, and encodes again: gives the value back, and expects the same bytes.
func roundTrip<T: Codable>(
  _ value: T, sourceLocation: SourceLocation = #_sourceLocation
) throws -> T {
  let bytes = try CBOREncoder().encode(value)
  // What is written is always one well-formed, deterministic item.
  let tree = try Value(encoded: bytes)
  #expect(try tree.encoded() == bytes, sourceLocation: sourceLocation)
  let back = try CBORDecoder().decode(T.self, from: bytes)
  #expect(try CBOREncoder().encode(back) == bytes, sourceLocation: sourceLocation)
  return back
}

let corpus = ProcessInfo.processInfo.environment["HINDSIGHT_CORPUS"]
