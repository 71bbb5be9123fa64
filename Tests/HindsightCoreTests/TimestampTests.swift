// Times in text, both ways.

import HindsightCore
import Testing

@Suite struct TimestampTests {
  @Test(arguments: [
    ("1970-01-01T00:00:00.000Z", 0),
    ("2020-10-18T07:27:11.000Z", 1_603_006_031_000_000),
    ("2000-02-29T23:59:59.999Z", 951_868_799_999_000),
    ("1969-12-31T23:59:59.999999Z", -1),
    ("0000-01-01T00:00:00.000Z", -62_167_219_200_000_000),
    ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
  ])
  func `a time reads as it was written`(text: String, microseconds: Int64) {
    #expect(Timestamp(text)?.rawValue == microseconds)
    #expect(Timestamp(rawValue: microseconds).description == text)
  }

  @Test func `any moment survives its text`() {
    var generator = SystemRandomNumberGenerator()
    let edges: [Int64] = [.min, .max, 0, -1, 1]
    for value in edges + (0..<2_000).map({ _ in Int64(bitPattern: generator.next()) }) {
      let text = Timestamp(rawValue: value).description
      #expect(Timestamp(text)?.rawValue == value, "\(value) is written as \(text)")
    }
  }

  @Test func `offsets and short fractions are read`() {
    #expect(Timestamp("2020-10-18T09:27:11+02:00") == Timestamp("2020-10-18T07:27:11.000Z"))
    #expect(Timestamp("2020-10-18T07:27:11.5Z")?.rawValue == 1_603_006_031_500_000)
    #expect(Timestamp("2020-10-18T07:27:11.1234560Z")?.rawValue == 1_603_006_031_123_456)
  }

  @Test(arguments: [
    "", "2020", "2020-10-18", "2020-13-01T00:00:00Z", "2021-02-29T00:00:00Z",
    "2020-10-18T24:00:00Z", "2020-10-18T07:60:00Z", "2020-10-18T07:27:60Z",
    "2020-10-18T07:27:11", "2020-10-18T07:27:11.Z", "2020-10-18T07:27:11.1234567Z",
    "2020-10-18T07:27:11Zx", "2020-00-18T07:27:11Z", "+999999-01-01T00:00:00Z",
  ])
  func `what isn't a moment within a microsecond is refused`(text: String) {
    #expect(Timestamp(text) == nil)
  }
}
