// The byte layout of a commit record. All numbers are little-endian and unaligned.
//
//   offset  size  field
//        0     4  magic "HSC1"
//        4     2  format version, 1
//        6     2  flags, 0 (none is defined in version 1)
//        8     8  index of the first event
//       16     4  number of events, at least 1
//       20     4  number of event types used here
//       24     8  recorded time, microseconds since 1970 UTC (signed)
//       32     8  running maximum of event times up to and with this commit (signed)
//       40     8  attempt stamp
//       48     8  digest of the predecessor's record, or of the genesis record
//       56     4  size of the type table in bytes
//       60     4  size of the content in bytes
//       64     4  size of the body as it is stored (event table, type table, content)
//       68     4  zero
//       72     8  zero; in a redacted record, the digest that the chain knows
//       80        body
//                   event table: 8 bytes an event
//                     4  end of the event's content, from the start of the content
//                     4  bits 0–23 number of the type in the type table, bits 24–31 flags
//                   type table: an entry a type
//                     2  size of the name in bytes
//                     1  form (0 whole, 1 enveloped, 2 nested, 3 bare, 4 control)
//                     1  zero
//                     n  the name in UTF-8
//                   content: an event after the other
//                     8  occurred time, where the flag says so (signed microseconds)
//                     4  size of the metadata, and the metadata (CBOR), where the flag says so
//                     n  payload (CBOR)
//     last     8  XXH3 digest (64 bits, seed 0) of all bytes before it

/// Offsets and constants of a commit record.
package enum CommitLayout {
  /// "HSC1", as a little-endian number.
  package static let magic: UInt32 = 0x3143_5348
  package static let formatVersion: UInt16 = 1

  package static let formatVersionOffset = 4
  package static let flagsOffset = 6
  package static let firstIndexOffset = 8
  package static let eventCountOffset = 16
  package static let typeCountOffset = 20
  package static let recordedTimeOffset = 24
  package static let maximumEventTimeOffset = 32
  package static let attemptStampOffset = 40
  package static let predecessorDigestOffset = 48
  package static let typeTableSizeOffset = 56
  package static let contentSizeOffset = 60
  package static let bodySizeOffset = 64
  package static let reservedOffset = 68
  package static let chainDigestOffset = 72
  package static let headerSize = 80
  package static let digestSize = 8
  package static let eventEntrySize = 8
  package static let typeEntryHeaderSize = 4

  /// The most that a record may hold in bytes, all included: 1 GiB.
  package static let recordSizeMax = 1 << 30
  /// The most types that one commit may use: their numbers have 24 bits.
  package static let typeCountMax = 1 << 24
  /// The longest name of an event type in UTF-8 bytes.
  package static let typeNameSizeMax = Int(UInt16.max)
}

/// What a commit record says of one event beside its type.
package struct EventFlags: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// The event is the first of its dispatch; the dispatch extends to the next such event.
  package static let startsDispatch = EventFlags(rawValue: 1)
  /// The content begins with the occurred time.
  package static let hasOccurredTime = EventFlags(rawValue: 2)
  /// The content has metadata before the payload.
  package static let hasMetadata = EventFlags(rawValue: 4)

  /// All that version 1 knows; another one makes a record unreadable.
  package static let known: EventFlags = [.startsDispatch, .hasOccurredTime, .hasMetadata]
}

/// The fields of a commit that depend on its place in the log.
package struct CommitPosition: Sendable, Equatable {
  package var firstIndex: EventIndex
  package var recordedTime: Timestamp
  package var maximumEventTime: Timestamp
  package var attemptStamp: UInt64
  package var predecessorDigest: UInt64

  package init(
    firstIndex: EventIndex, recordedTime: Timestamp, maximumEventTime: Timestamp,
    attemptStamp: UInt64, predecessorDigest: UInt64
  ) {
    self.firstIndex = firstIndex
    self.recordedTime = recordedTime
    self.maximumEventTime = maximumEventTime
    self.attemptStamp = attemptStamp
    self.predecessorDigest = predecessorDigest
  }
}
