// The examples of RFC 8949, appendix A, and what its text says is not well-formed.

import Foundation
import HindsightValue
import Testing

@Suite struct CBORVectorTests {
  struct Vector: Decodable {
    let hex: String
    let roundtrip: Bool
  }

  @Test(.enabled(if: corpus != nil, "HINDSIGHT_CORPUS isn't set"))
  func `all vectors of appendix A decode, but f818, and re-encode to the same bytes`() throws {
    let file = URL(fileURLWithPath: try #require(corpus) + "/cbor/appendix_a.json")
    let vectors = try JSONDecoder().decode([Vector].self, from: Data(contentsOf: file))
    #expect(vectors.count == 82)
    for vector in vectors {
      let bytes = unhex(vector.hex)
      if vector.hex == "f818" {
        #expect(throws: CBORError.self) { try Value(encoded: bytes) }
        continue
      }
      let value = try Value(encoded: bytes)
      let again = try value.encoded()
      if vector.roundtrip { #expect(hex(again) == vector.hex) }
      #expect(try Value(encoded: again) == value)
      // The same through the coder, and by skipping.
      #expect(try CBORDecoder().decode(Value.self, from: bytes) == value)
      #expect(try CBOREncoder().encode(value) == again)
      try bytes.withUnsafeBytes {
        var reader = CBORReader($0)
        try reader.skip()
        try reader.finish()
      }
    }
  }

  @Test(
    arguments: [
      ("", .unexpectedEnd), ("18", .unexpectedEnd), ("19 01", .unexpectedEnd),
      ("1b 00000000000000", .unexpectedEnd), ("61", .unexpectedEnd),
      ("5b ffffffffffffffff 00", .unexpectedEnd),
      ("9b ffffffffffffffff 00", .unexpectedEnd), ("bb 7fffffffffffffff 0000", .unexpectedEnd),
      ("82 00", .unexpectedEnd), ("a1 00", .unexpectedEnd), ("c1", .unexpectedEnd),
      ("9f 00", .unexpectedEnd), ("bf 0000", .unexpectedEnd), ("7f 6161", .unexpectedEnd),
      ("1c", .notWellFormed), ("1d", .notWellFormed), ("1e", .notWellFormed),
      ("1f", .notWellFormed),
      ("3c", .notWellFormed), ("3f", .notWellFormed), ("5c", .notWellFormed),
      ("7e", .notWellFormed),
      ("9c", .notWellFormed), ("bd", .notWellFormed), ("dc", .notWellFormed),
      ("df 00", .notWellFormed),
      ("fc", .notWellFormed), ("fd", .notWellFormed), ("fe", .notWellFormed),
      ("ff", .notWellFormed),
      ("f800", .notWellFormed), ("f818", .notWellFormed), ("f81f", .notWellFormed),
      ("81 ff", .notWellFormed), ("a1 00 ff", .notWellFormed), ("bf 00 ff", .notWellFormed),
      ("9f c1 ff", .notWellFormed), ("c1 ff", .notWellFormed), ("a1 ff", .unexpectedEnd),
    ] as [(String, CBORError.Code)])
  func `what isn't well-formed is refused, by reading and by skipping`(
    _ text: String, _ code: CBORError.Code
  ) throws {
    let bytes = unhex(text)
    let error = #expect(throws: CBORError.self) { try Value(encoded: bytes) }
    #expect(error?.code == code)
    bytes.withUnsafeBytes { buffer in
      var reader = CBORReader(buffer)
      let skipped = #expect(throws: CBORError.self) { try reader.skip() }
      #expect(skipped?.code == code)
    }
    #expect(throws: DecodingError.self) { try CBORDecoder().decode(Value.self, from: bytes) }
  }

  @Test(arguments: [
    "7f 4161 ff", "5f 6161 ff", "5f 5f ff ff", "7f 7f ff ff", "5f 00 ff", "7f f6 ff",
  ])
  func `chunks of a string are strings of its kind, of definite length`(_ text: String) throws {
    #expect(throws: CBORError.self) { try Value(encoded: unhex(text)) }
    unhex(text).withUnsafeBytes { buffer in
      var reader = CBORReader(buffer)
      #expect(throws: CBORError.self) { try reader.skip() }
    }
  }

  @Test func `a character isn't split between chunks`() throws {
    let error = #expect(throws: CBORError.self) { try Value(encoded: unhex("7f 61c3 61bc ff")) }
    #expect(error?.code == .invalidString)
    #expect(try Value(encoded: unhex("7f 62c3bc 60 ff")) == .string("ü"))
  }

  @Test(arguments: ["61ff", "62c080", "63eda080", "64f4908080", "78 0141 ff"])
  func `text that isn't UTF-8 is refused`(_ text: String) throws {
    let error = #expect(throws: CBORError.self) { try Value(encoded: unhex(text)) }
    #expect(error?.code == .invalidString || error?.code == .trailingBytes)
    #expect(throws: DecodingError.self) { try CBORDecoder().decode(String.self, from: unhex(text)) }
  }

  @Test func `a key twice and bytes left over are refused`() throws {
    let twice = #expect(throws: CBORError.self) { try Value(encoded: unhex("a2 6161 00 6161 01")) }
    #expect(twice?.code == .duplicateKey)
    // In different forms it is still the same key.
    let forms = #expect(throws: CBORError.self) { try Value(encoded: unhex("a2 01 00 1801 01")) }
    #expect(forms?.code == .duplicateKey)
    let left = #expect(throws: CBORError.self) { try Value(encoded: unhex("00 00")) }
    #expect(left?.code == .trailingBytes)
    #expect(left?.offset == 1)
  }

  @Test func `seeded values encode as they compare, and decode to themselves`() throws {
    var random = SeededGenerator.forTest("values")
    var last: (Value, [UInt8])?
    for _ in 0..<3_000 {
      let value = random.value()
      let bytes = try value.encoded()
      #expect(try Value(encoded: bytes) == value)
      #expect(try CBORDecoder().decode(Value.self, from: CBOREncoder().encode(value)) == value)
      if let (other, otherBytes) = last {
        #expect(Value.isOrderedBefore(value, other) == bytes.lexicographicallyPrecedes(otherBytes))
      }
      last = (value, bytes)
    }
  }

  @Test func `every half-precision float is read and written exactly`() throws {
    for bits in UInt16.min ... .max {
      let bytes: [UInt8] = [0xf9, UInt8(bits >> 8), UInt8(bits & 0xff)]
      guard case .double(let value) = try Value(encoded: bytes) else {
        Issue.record("not a double: \(hex(bytes))")
        continue
      }
      if value.isNaN {
        #expect(hex(try Value.double(value).encoded()) == "f97e00")
      } else {
        #expect(try Value.double(value).encoded() == bytes)
      }
    }
  }
}
