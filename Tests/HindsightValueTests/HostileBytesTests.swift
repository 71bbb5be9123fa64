// Bytes from anywhere: an error or a value, never a crash, and no more memory than they are worth.

import Foundation
import HindsightValue
import Testing

@Suite struct HostileBytesTests {
  /// Decodes as each of many types, in both ways; what fails must fail with the right error.
  private static func tryAll(_ bytes: [UInt8]) {
    func attempt<T: Codable>(_ type: T.Type) {
      do {
        let value = try CBORDecoder().decode(type, from: bytes)
        // What was decoded can be encoded, and decoded again.
        let again = try CBOREncoder().encode(value)
        _ = try CBORDecoder().decode(type, from: again)
      } catch is DecodingError {
      } catch is EncodingError {
      } catch {
        Issue.record("\(type) from \(hex(bytes)): \(error)")
      }
    }
    attempt(Value.self)
    attempt(Record.self)
    attempt(Shapes.self)
    attempt([String: Int].self)
    attempt([Int: [String?]].self)
    attempt([Point: Set<Double>].self)
    attempt([Date].self)
    attempt([Decimal].self)
    attempt([UUID?].self)
    attempt([Data].self)
    attempt(Int128.self)
    attempt(String.self)
    bytes.withUnsafeBytes { buffer in
      let value = try? Value(encoded: buffer)
      var reader = CBORReader(buffer)
      let isWellFormed = (try? reader.skip()) != nil && reader.isAtEnd
      // A value is always well-formed.
      #expect(value == nil || isWellFormed, "\(hex(bytes))")
      var name: [UInt8] = []
      _ = EventEnvelope.probe(buffer, name: &name)
    }
  }

  @Test func `random and mutated bytes never crash the decoder`() throws {
    var random = SeededGenerator.forTest("hostile bytes")
    for _ in 0..<4_000 { Self.tryAll(random.bytes(60)) }
    for _ in 0..<300 {
      let sources: [[UInt8]] = [
        try CBOREncoder().encode(Record.random(&random)),
        try CBOREncoder().encode([Point(x: 1, y: 2): [1.5, -2] as Set]),
        try CBOREncoder().encode([Decimal(string: "1.5"), 3]),
        try CBOREncoder().encode(
          Shapes.list([.named(x: 1, y: "a"), .map(["k": .both(1, named: 2)])])),
        try random.value(depth: 3).encoded(),
      ]
      for source in sources {
        var bytes = source
        for _ in 0...random.below(3) {
          let place = random.below(max(bytes.count, 1))
          switch random.below(4) {
          case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
          case 1: bytes[place] ^= 1 << UInt8(random.below(8))
          case 2: bytes.removeSubrange(place..<min(place + random.below(5), bytes.count))
          default: bytes.insert(contentsOf: random.bytes(4), at: place)
          }
          if bytes.isEmpty { bytes = [0] }
        }
        Self.tryAll(bytes)
        Self.tryAll(Array(source.prefix(random.below(source.count + 1))))
      }
    }
  }

  /// A megabyte each of what is small to write and could be large to hold.
  private static func bombs() throws -> [[UInt8]] {
    let size = 1 << 20
    func head(_ major: UInt8, _ count: Int) -> [UInt8] {
      [major << 5 | 26] + (0..<4).reversed().map { UInt8(count >> ($0 * 8) & 0xff) }
    }
    func filled(_ prefix: [UInt8], _ pattern: [UInt8]) -> [UInt8] {
      var bytes = prefix
      while bytes.count + pattern.count <= size { bytes += pattern }
      return bytes
    }
    // Arrays in arrays that each claim all of the rest, which isn't there.
    let nested = (0..<400).flatMap { _ in head(4, size - 10_000) }
    let claims = (0..<400).flatMap { _ in head(5, size / 2 - 10_000) }
    return [
      filled(head(4, size - 5), [0xf6]), filled(head(4, size - 5), [0x80]),
      filled(head(5, size / 2 - 3), [0x00, 0xf6]), filled([0x9f], [0x9f, 0xff]),
      filled(nested, [0xf6]), filled(claims, [0xf6]), filled([0xbf], [0x60, 0xf6]),
      filled([0x7f], [0x60]), filled(head(4, size / 2), [0xc1, 0x00]), filled([0x9f], [0x9f]),
      filled(head(5, size / 4), [0x18, 0x05, 0xf6]), filled(head(4, size / 6), head(4, 1000)),
    ]
  }

  @Test(.enabled(if: isChild, "runs as a child of another test"))
  func `child decodes bombs and tells its memory`() throws {
    Self.tryAll([0xf6])
    let bombs = try Self.bombs()
    let before = try peakMemoryKilobytes()
    for bomb in bombs {
      _ = try? Value(encoded: bomb)
      _ = try? CBORDecoder().decode(Value.self, from: bomb)
      _ = try? CBORDecoder().decode(Record.self, from: bomb)
      _ = try? CBORDecoder().decode([[[Int]]].self, from: bomb)
      _ = try? CBORDecoder().decode([Record].self, from: bomb)
      _ = try? CBORDecoder().decode([Int: String].self, from: bomb)
      _ = try? CBORDecoder().decode([String: Int].self, from: bomb)
      _ = try? CBORDecoder().decode(Set<[Int?]>.self, from: bomb)
      _ = try? CBORDecoder().decode(String.self, from: bomb)
    }
    try handOver(Array("\(try peakMemoryKilobytes() - before)".utf8))
  }

  private func peakMemoryKilobytes() throws -> Int {
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = try #require(status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") })
    return try #require(Int(line.filter(\.isNumber)))
  }

  #if os(Linux)
    @Test(.enabled(if: !isChild, "is the parent"))
    func `a megabyte of bombs takes a bounded multiple of itself to decode`() async throws {
      let output = try await runChild(test: "child decodes bombs and tells its memory")
      let kilobytes = try #require(Int(String(decoding: output, as: UTF8.self)))
      print("decoding bombs of 1 MiB took \(kilobytes / 1024) MiB at most")
      // A value takes 24 to 48 bytes, an item as little as one; and growing arrays are there twice.
      #expect(kilobytes < 160 << 10)
    }
  #endif
}
