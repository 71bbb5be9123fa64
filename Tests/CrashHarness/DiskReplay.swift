// Goes through traced calls by the moments at which they begin and end.
// It always holds: what was acknowledged at a moment is what began to be said before it.

import CrashLedger

/// A disk and what its processes had said, at one moment of a trace after the other.
package struct DiskReplay {
  /// A call begins or ends.
  private struct Moment {
    let time: UInt64
    let call: Int
    let isEnd: Bool
  }

  package let store: String
  package private(set) var disk: DiskModel
  /// What was acknowledged up to now.
  package private(set) var oracle: StoreOracle
  /// Whether a process has said that the store is open, so that it must be there from now on.
  package private(set) var isCreated = false
  /// How many moments have been.
  package private(set) var position = 0
  private let calls: [TracedCall]
  private let moments: [Moment]

  /// - Parameter store: the store's path, in the directory that was traced and is empty at first.
  package init(_ trace: SystemCallTrace, store: String) {
    self.store = store
    calls = trace.calls
    moments = calls.indices.flatMap { call in
      [
        Moment(time: trace.calls[call].begin, call: call, isEnd: false),
        Moment(time: trace.calls[call].end, call: call, isEnd: true),
      ]
    }.sorted { $0.time < $1.time }
    disk = DiskModel(root: DiskNames.parent(of: store))
    oracle = StoreOracle(path: store)
  }

  /// The number of moments.
  package var count: Int { moments.count }

  /// Whether the next moment makes something certain, or somebody is told something at it.
  ///
  /// All that is possible at other moments is also possible right before the next such one.
  package var isBeforeTurn: (certain: Bool, said: Bool) {
    guard position < moments.count else { return (true, true) }
    let moment = moments[position]
    let call = calls[moment.call]
    let isCertain = moment.isEnd && (call.isSuccessfulSync || call.writesThrough)
    return (isCertain, moment.isEnd && call.descriptor == 1 && call.kind == .write)
  }

  /// Lets the moments up to a position be.
  package mutating func advance(to end: Int) throws {
    while position < end {
      let moment = moments[position]
      let call = calls[moment.call]
      position += 1
      if moment.isEnd {
        disk.end(call)
        continue
      }
      try disk.begin(call)
      guard call.descriptor == 1, call.kind == .write else { continue }
      let lines = String(decoding: call.data, as: UTF8.self).split(separator: "\n")
        .compactMap { ChildLine(String($0)) }
      oracle.add(lines)
      if lines.contains(where: \.isOpening) { isCreated = true }
    }
  }
}
