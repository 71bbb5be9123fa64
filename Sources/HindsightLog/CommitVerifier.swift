// Verifies the commits of a log, one after the other, against their own digests and each other.

import HindsightCore
import HindsightLMDB

/// The walk over the table of commits; every finding goes to its report.
final class CommitVerifier {
  private(set) var report = VerifyReport()
  private let path: String
  private let checkEvent: LogVerifier.EventCheck
  private let progress: (EventIndex) -> Void
  /// Snapshots whose commit is still to come, the next at the end.
  private var snapshots: [SnapshotHeader]
  /// The last commit that could be read, or the genesis record.
  private var last: Last?

  private struct Last {
    var head: LogHead
    var attemptStamp: UInt64
    /// Whether the record's digest could be relied on.
    var isIntact: Bool
  }

  init(
    path: String, snapshots: SnapshotVerifier.Result, checkEvent: @escaping LogVerifier.EventCheck,
    progress: @escaping (EventIndex) -> Void
  ) {
    self.path = path
    self.checkEvent = checkEvent
    self.progress = progress
    self.snapshots = snapshots.headers.sorted { $0.index > $1.index }
    report.findings = snapshots.findings
    report.snapshotCount = snapshots.headers.count
  }

  func visit(key: [UInt8], value: RawSpan) {
    guard key.count == 8 else {
      return report.add(.log, "the table of commits has a key that isn't an index")
    }
    let index = key.reduce(EventIndex(0)) { $0 << 8 | EventIndex($1) }
    if index == 0 { visitGenesis(value) } else { visitCommit(index, value) }
  }

  func finish(_ trees: TreeReport) {
    for problem in trees.problems { report.add(.log, problem) }
    if report.genesis == nil, last == nil {
      report.add(.log, "the log has no readable first record", at: 0)
    }
    for snapshot in snapshots.reversed() {
      report.add(
        .snapshots, "there is a snapshot beyond the newest event, \(report.headIndex)",
        at: snapshot.index)
    }
  }

  private func visitGenesis(_ value: RawSpan) {
    do throws(HindsightError) {
      let record = try GenesisRecord(value, path: path, forWriting: false)
      report.genesis = record.genesis
      let digest = value.load(value.byteCount - GenesisRecord.digestSize, as: UInt64.self)
      let none = Timestamp(rawValue: .min)
      last = Last(
        head: LogHead(index: 0, digest: digest, recordedTime: none, maximumEventTime: none),
        attemptStamp: 0, isIntact: true)
      compareSnapshots(upTo: 0, digest: digest)
    } catch {
      report.add(.log, error.message, at: 0)
    }
  }

  private func visitCommit(_ index: EventIndex, _ value: RawSpan) {
    let record: CommitRecord
    do throws(CommitRecordError) {
      record = try CommitRecord(validating: value)
    } catch {
      return report.add(.log, error.message, at: index)
    }
    guard record.firstIndex == index else {
      return report.add(
        .log, "the commit says that it begins with event \(record.firstIndex)", at: index)
    }
    let isIntact = Digest.of(record.digestedBytes) == record.digest
    if !isIntact { report.add(.log, "the commit's bytes don't have its digest", at: index) }
    compareWithPredecessor(record)
    let largestTime = visitEvents(record)
    compareTimes(record, largestTime: largestTime)
    last = Last(
      head: LogHead(
        index: record.lastIndex, digest: record.digest, recordedTime: record.recordedTime,
        maximumEventTime: record.maximumEventTime),
      attemptStamp: record.attemptStamp, isIntact: isIntact)
    report.headIndex = record.lastIndex
    report.commitCount += 1
    compareSnapshots(upTo: record.lastIndex, digest: record.digest)
    progress(record.lastIndex)
  }

  private func compareWithPredecessor(_ record: borrowing CommitRecord) {
    let index = record.firstIndex
    let expected = (last?.head.index ?? 0) + 1
    guard index == expected else {
      return report.add(
        .log,
        index > expected
          ? "events \(expected) to \(index - 1) are missing"
          : "the commit holds events that another one holds, too",
        at: min(index, expected))
    }
    guard let last, last.isIntact else { return }
    if record.predecessorDigest != last.head.digest {
      report.add(.log, "the commit belongs to another history than the one before it", at: index)
    }
    if record.attemptStamp <= last.attemptStamp {
      report.add(.log, "the commit's attempt stamp isn't above the one before it", at: index)
    }
  }

  /// Looks at each event; returns the largest occurred or recorded time.
  private func visitEvents(_ record: borrowing CommitRecord) -> Timestamp? {
    var largest: Timestamp?
    var position = 0
    do throws(CommitRecordError) {
      let types = try record.eventTypes()
      while position < record.eventCount {
        let event = try record.event(at: position)
        let index = record.firstIndex + EventIndex(position)
        guard event.typeNumber < types.count else {
          throw CommitRecordError("the event has a type that its commit doesn't list")
        }
        if position == 0, !event.flags.contains(.startsDispatch) {
          report.add(.log, "the commit's first event doesn't begin a dispatch", at: index)
        }
        if let problem = checkEvent(types[event.typeNumber], event.metadata, event.payload) {
          report.add(.log, problem, at: index)
        }
        let time = event.occurredTime ?? record.recordedTime
        largest = max(largest ?? time, time)
        report.eventCount += 1
        position += 1
      }
      return largest
    } catch {
      report.add(.log, error.message, at: record.firstIndex + EventIndex(position))
      return nil
    }
  }

  private func compareTimes(_ record: borrowing CommitRecord, largestTime: Timestamp?) {
    let index = record.firstIndex
    guard let last, last.isIntact, last.head.index == index - 1 else { return }
    if record.recordedTime < last.head.recordedTime {
      report.add(.log, "the commit was recorded before the one before it", at: index)
    }
    guard let largestTime else { return }
    if record.maximumEventTime != max(last.head.maximumEventTime, largestTime) {
      report.add(.log, "the commit's largest event time isn't that of its events", at: index)
    }
  }

  private func compareSnapshots(upTo index: EventIndex, digest: UInt64) {
    while let snapshot = snapshots.last, snapshot.index <= index {
      snapshots.removeLast()
      if snapshot.commitDigest != digest {
        report.add(
          .snapshots, "the snapshot was made from another history", at: snapshot.index)
      }
    }
  }
}
