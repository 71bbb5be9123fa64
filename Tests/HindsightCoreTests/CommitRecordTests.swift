// The bytes of a commit record, both ways, and what damage to them does.

import HindsightCore
import Testing

@Suite struct CommitRecordTests {
  private func frames(_ texts: [String], type: String = "noted") -> EventFrames {
    var frames = EventFrames()
    for text in texts {
      let start = frames.arena.count
      frames.arena.append(contentsOf: text.utf8)
      frames.frames.append(
        EventFrame(
          type: EventType(name: type, form: .enveloped), flags: [], occurredTime: nil,
          content: start..<frames.arena.count))
    }
    return frames
  }

  private func record(_ dispatches: [EventFrames]) -> [UInt8] {
    var builder = CommitBuilder()
    for dispatch in dispatches { builder.append(dispatch) }
    let position = CommitPosition(
      firstIndex: 7, recordedTime: Timestamp(rawValue: 1_000),
      maximumEventTime: Timestamp(rawValue: 2_000), attemptStamp: 3, predecessorDigest: 4)
    var bytes = [UInt8](repeating: 0xaa, count: builder.recordSize)
    bytes.withUnsafeMutableBytes { builder.write(into: $0, at: position) }
    return bytes
  }

  @Test func `a record gives back what was packed`() throws {
    let bytes = record([frames(["a", "bcd"]), frames([""], type: "other"), frames(["efghi"])])
    let span = bytes.span.bytes
    let commit = try CommitRecord(validating: span)
    #expect(commit.firstIndex == 7)
    #expect(commit.lastIndex == 10)
    #expect(commit.eventCount == 4)
    #expect(commit.recordedTime.rawValue == 1_000)
    #expect(commit.maximumEventTime.rawValue == 2_000)
    #expect(commit.attemptStamp == 3)
    #expect(commit.predecessorDigest == 4)
    #expect(commit.digest == 0xaaaa_aaaa_aaaa_aaaa)
    let types = try commit.eventTypes()
    #expect(types.map(\.name) == ["noted", "other"])
    var payloads: [String] = []
    var starts: [Bool] = []
    for position in 0..<4 {
      let event = try commit.event(at: position)
      payloads.append(
        types[event.typeNumber].name + ":"
          + event.payload.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
      starts.append(event.flags.contains(.startsDispatch))
    }
    #expect(payloads == ["noted:a", "noted:bcd", "other:", "noted:efghi"])
    #expect(starts == [true, false, true, true])
  }

  @Test func `no changed or missing byte makes reading a record crash`() throws {
    let bytes = record([frames(["a", "bcd"]), frames([""], type: "other"), frames(["efghi"])])
    func readAll(_ bytes: [UInt8]) {
      let span = bytes.span.bytes
      do {
        let commit = try CommitRecord(validating: span)
        let types = try commit.eventTypes()
        for position in 0..<commit.eventCount {
          let event = try commit.event(at: position)
          _ = event.metadata.byteCount + event.payload.byteCount + types.count
        }
      } catch {}
    }
    for position in bytes.indices {
      for bit in 0..<8 {
        var changed = bytes
        changed[position] ^= 1 << bit
        readAll(changed)
      }
      readAll(Array(bytes[..<position]))
    }
  }

  @Test func `a record with an unknown version or flag is of a newer format`() throws {
    for offset in [CommitLayout.formatVersionOffset, CommitLayout.flagsOffset] {
      var bytes = record([frames(["a"])])
      bytes[offset] |= 0x40
      let error = #expect(throws: CommitRecordError.self) {
        let span = bytes.span.bytes
        _ = try CommitRecord(validating: span).eventCount
      }
      #expect(error?.isNewerFormat == true)
    }
  }
}
