// Finds the index that the events had reached at a time.

extension EventLog {
  /// The last index up to which no event is later than a time.
  ///
  /// An event's time is when it occurred, else when it was recorded; what counts is the latest up
  /// to an index, so that the answer grows with the time. 0 where the first event is later. O(log
  /// n) in the events, and O(k) in those of one commit.
  ///
  /// - Throws: as ``scan(_:reversed:_:)``.
  public func index(at time: Timestamp) throws -> EventIndex {
    var reached: EventIndex = 0
    var end = try head().index
    // All up to `reached` is at most at that time; what comes after `end` is later.
    while reached < end {
      let middle = reached + (end - reached + 1) / 2
      try scan(middle...middle, reversed: false) { commit in
        if commit.maximumEventTime <= time {
          reached = commit.lastIndex
        } else {
          let inside = try lastIndex(in: commit, at: time, before: reached)
          if inside >= commit.firstIndex {
            (reached, end) = (inside, inside)
          } else {
            end = commit.firstIndex - 1
          }
        }
        return .stop
      }
    }
    return reached
  }

  /// The last event of a commit before the first that is later than a time, or one below it.
  private func lastIndex(
    in commit: borrowing CommitRecord, at time: Timestamp, before reached: EventIndex
  ) throws -> EventIndex {
    var index = commit.firstIndex - 1
    if index > reached, try maximumEventTime(at: index) > time { return index }
    do {
      for position in 0..<commit.eventCount {
        let event = try commit.event(at: position)
        if (event.occurredTime ?? commit.recordedTime) > time { break }
        index += 1
      }
    } catch {
      throw error.hindsightError(index: index + 1)
    }
    return index
  }

  private func maximumEventTime(at index: EventIndex) throws -> Timestamp {
    var time = Timestamp(rawValue: .min)
    try scan(index...index, reversed: false) { commit in
      time = commit.maximumEventTime
      return .stop
    }
    return time
  }
}
