// What is JSON is read exactly; what isn't is refused at its place.

import Foundation
import HindsightValue
import Testing

@Suite struct JSONReaderTests {
  /// The error of reading a text that must not be readable.
  private func error(_ text: String) -> JSONError? { error(Array(text.utf8)) }

  private func error(_ bytes: [UInt8]) -> JSONError? {
    do {
      _ = try Value(json: bytes)
      return nil
    } catch { return error }
  }

  @Test func `integers in CBOR's range are exact`() throws {
    #expect(try Value(json: "0") == .unsigned(0))
    #expect(try Value(json: "18446744073709551615") == .unsigned(.max))
    #expect(try Value(json: "-1") == .negative(0))
    #expect(try Value(json: "-18446744073709551616") == .negative(.max))
    #expect(try Value(json: "9999999999999999999") == .unsigned(9_999_999_999_999_999_999))
    #expect(try Value(json: "-9999999999999999999") == .negative(9_999_999_999_999_999_998))
  }

  @Test func `integers beyond CBOR's range become bignums`() throws {
    #expect(
      try Value(json: "18446744073709551616")
        == .tagged(2, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])))
    #expect(
      try Value(json: "-18446744073709551617")
        == .tagged(3, .bytes([1, 0, 0, 0, 0, 0, 0, 0, 0])))
    #expect(try Value(json: "00".dropFirst() + "").json == "0")
    let largest = Value.tagged(2, .bytes(Array(repeating: 255, count: 400)))
    #expect(try Value(json: largest.json) == largest)
    #expect(largest.json.utf8.count == 964)
    #expect(error(String(repeating: "9", count: 964))?.code == .numberOutOfRange)
    #expect(error(String(repeating: "9", count: 100_000))?.code == .numberOutOfRange)
  }

  @Test func `numbers with a fraction or an exponent are doubles`() throws {
    #expect(try Value(json: "1.0") == .double(1))
    #expect(try Value(json: "1e2") == .double(100))
    #expect(try Value(json: "1E+2") == .double(100))
    #expect(try Value(json: "-0") == .double(-0.0))
    #expect(try Value(json: "-0.0") == .double(-0.0))
    #expect(try Value(json: "0e0") == .double(0))
    #expect(try Value(json: "123.456e-7") == .double(123.456e-7))
    #expect(try Value(json: "9007199254740993.0") == .double(9_007_199_254_740_992))
    #expect(try Value(json: "1e-400") == .double(0))
    #expect(try Value(json: "0e99999999999999999999") == .double(0))
    #expect(error("1e400")?.code == .numberOutOfRange)
    #expect(error("-1e999999999999")?.code == .numberOutOfRange)
  }

  @Test func `a double is read as the standard library reads it`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      let digits = Int.random(in: 1...20, using: &generator)
      var text = String(Int.random(in: 0...9, using: &generator)) + "."
      for _ in 0..<digits { text += String(Int.random(in: 0...9, using: &generator)) }
      text += "e" + String(Int.random(in: -330...307, using: &generator))
      #expect(try Value(json: text) == .double(try #require(Double(text))), "\(text)")
    }
  }

  @Test(arguments: [
    ("\"a\\u0041\\n\\/\"", "aA\n/"), ("\"\\ud83d\\ude00\"", "😀"), ("\"\\u0000\"", "\u{0}"),
    ("\"e\\u0301é\"", "e\u{301}é"), ("\"\"", ""), ("\"\u{7f}\u{10ffff}\"", "\u{7f}\u{10ffff}"),
    ("\"123456789\\\"12345678\\\\\"", "123456789\"12345678\\"),
  ]) func `strings are read with their escapes`(text: String, expected: String) throws {
    #expect(try Value(json: text) == .string(expected))
  }

  @Test(
    arguments: [
      ("", .unexpectedEnd, 0), ("  ", .unexpectedEnd, 2), ("[1,", .unexpectedEnd, 3),
      ("[1", .unexpectedEnd, 2), ("{\"a\"", .unexpectedEnd, 4), ("{\"a\":", .unexpectedEnd, 5),
      ("{", .unexpectedEnd, 1), ("\"abc", .unexpectedEnd, 4), ("\"\\", .unexpectedEnd, 2),
      ("\"\\u12", .unexpectedEnd, 5), ("tru", .unexpectedEnd, 3), ("-", .unexpectedEnd, 1),
      ("1.", .unexpectedEnd, 2), ("1e+", .unexpectedEnd, 3), ("[1,]", .unexpectedCharacter, 3),
      ("{\"a\":1,}", .unexpectedCharacter, 7), ("[1 2]", .unexpectedCharacter, 3),
      ("{a:1}", .unexpectedCharacter, 1), ("{\"a\" 1}", .unexpectedCharacter, 5),
      ("[1}", .unexpectedCharacter, 2), ("nul1", .unexpectedCharacter, 3),
      ("+1", .unexpectedCharacter, 0), (".5", .unexpectedCharacter, 0),
      ("NaN", .unexpectedCharacter, 0), ("'a'", .unexpectedCharacter, 0),
      ("\u{feff}1", .unexpectedCharacter, 0), ("\u{0}", .unexpectedCharacter, 0),
      ("1\u{0}", .trailingBytes, 1), ("1 2", .trailingBytes, 2), ("{} x", .trailingBytes, 3),
      ("01", .invalidNumber, 0), ("-01.5", .invalidNumber, 0), ("1.e5", .unexpectedCharacter, 2),
      ("\"\\x\"", .invalidEscape, 1), ("\"\\u00g0\"", .invalidEscape, 1),
      ("\"\\ud800\"", .loneSurrogate, 1), ("\"a\\udc00\"", .loneSurrogate, 2),
      ("\"\\ud800\\u0041\"", .loneSurrogate, 1), ("\"\\ud800x\"", .loneSurrogate, 1),
      ("\"a\nb\"", .controlCharacter, 2), ("\"12345678\u{1f}\"", .controlCharacter, 9),
      ("{\"a\":1,\"b\":{},\"a\":2}", .duplicateKey, 14),
      ("[{\"\\u0061\":1,\"a\":2}]", .duplicateKey, 13),
    ] as [(String, JSONError.Code, Int)])
  func `what isn't JSON is refused with its place`(
    text: String, code: JSONError.Code, offset: Int
  ) {
    let found = error(text)
    #expect(found?.code == code)
    #expect(found?.byteOffset == offset)
  }

  @Test(
    arguments: [
      ([0x22, 0xff, 0x22], 1), ([0x22, 0xc0, 0x80, 0x22], 1), ([0x22, 0x61, 0xe2, 0x82, 0x22], 2),
      ([0x22, 0xed, 0xa0, 0x80, 0x22], 1), ([0x22, 0xf4, 0x90, 0x80, 0x80, 0x22], 1),
      ([0x22, 0x5c, 0x6e, 0x80, 0x22], 3), ([0x22, 0xc3, 0x5c, 0x6e, 0x22], 1),
    ] as [([UInt8], Int)])
  func `a string that isn't UTF-8 is refused`(bytes: [UInt8], offset: Int) {
    #expect(error(bytes)?.code == .invalidUTF8)
    #expect(error(bytes)?.byteOffset == offset)
  }

  @Test func `an error names line, column and key`() {
    let found = error("{\n  \"é\": 1,\n  \"日本\": x\n}")
    #expect(found?.line == 3)
    #expect(found?.column == 9)
    #expect(error("{\"käse\":1,\"käse\":2}")?.message.contains("\"käse\"") == true)
    #expect(
      error("[nul]")?.description
        == "invalid JSON at line 1, column 5 (byte 4): expected 'null', found ']'")
  }

  @Test func `nesting is limited by an error, not by the stack`() async throws {
    let limit = Value.jsonDepthLimit
    func nested(_ open: String, _ inner: String, _ close: String, _ count: Int) -> String {
      String(repeating: open, count: count) + inner + String(repeating: close, count: count)
    }
    let texts = [
      (nested("[", "", "]", limit), true), (nested("[", "", "]", limit + 1), false),
      (nested("{\"a\":", "1", "}", limit), true), (nested("{\"a\":", "1", "}", limit + 1), false),
      (nested("{\"$tagged\":[9,", "1", "]}", limit), true),
      (nested("{\"$tagged\":[9,", "1", "]}", limit + 1), false),
      (nested("{\"$map\":[[1,", "1", "]]}", limit), true),
      (nested("{\"$map\":[[1,", "1", "]]}", limit + 1), false),
      (nested("[", "99999999999999999999", "]", limit), false),
      (String(repeating: "[", count: 1_000_000), false),
      (String(repeating: "{\"a\":", count: 1_000_000), false),
    ]
    for (text, isAccepted) in texts {
      let result = await onSmallStack { self.error(text)?.code }
      #expect(result == (isAccepted ? nil : .tooDeep), "\(text.prefix(20))")
    }
  }

  @Test func `every cut and every flipped bit of a text is read or refused, never a crash`() throws
  {
    var generator = SeededGenerator.forTest()
    for _ in 0..<300 {
      let bytes = JSONWriter(style: .pretty).bytes(.random(depth: 4, &generator))
      for count in bytes.indices where count % 3 == 0 {
        _ = try? Value(json: bytes[..<count])
        var flipped = bytes
        flipped[count] ^= 1 << UInt8.random(in: 0..<8, using: &generator)
        if let value = try? Value(json: flipped) {
          #expect(try Value(json: value.json) == value)
        }
      }
    }
  }
}

/// Runs something on a thread with a small stack.
func onSmallStack<T: Sendable>(
  sizeBytes: Int = 512 << 10, _ body: @escaping @Sendable () -> T
) async -> T {
  await withCheckedContinuation { continuation in
    let thread = Thread { continuation.resume(returning: body()) }
    thread.stackSize = sizeBytes
    thread.start()
  }
}
