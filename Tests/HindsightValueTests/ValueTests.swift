// When values are equal.

import HindsightValue
import Testing

@Suite struct ValueTests {
  @Test func `strings compare by their UTF-8 bytes`() {
    #expect(Value.string("e\u{301}") != Value.string("\u{e9}"))
  }
}
