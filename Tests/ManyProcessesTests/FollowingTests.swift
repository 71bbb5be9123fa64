// Following a store that other processes write to: nothing twice, nothing left out, nothing kept.

import Foundation
import Hindsight
import HindsightLog
import Testing

extension InteractingTests {
  @Suite struct FollowingTests {
    private static let stepCount = 150

    @Test func `a subscriber sees the events of two processes once, in order, and by type`()
      async throws
    {
      let directory = try TestDirectory()
      let path = directory.store
      let store = try await Store(Bank(), at: path)
      let total = EventIndex(2 * 2 * Self.stepCount)
      async let producers: Void = withTaskGroup { group in
        for number in 1...2 {
          group.addTask {
            await #expect(processExitsWith: .success) {
              [path = path as String, number = number as Int] in
              let store = try await Store(Bank(), at: path)
              for step in 0..<Self.stepCount {
                try await store.dispatch(.noted(text: "", by: number, step: step))
                try await store.dispatch(.deposited(account: "\(number)", cents: step))
              }
              try await store.close()
            }
          }
        }
      }
      let notes = Task {
        var steps: [Int: [Int]] = [:]
        var last: EventIndex = 0
        for try await stored in store.events(from: 1, ofTypes: ["noted"]) {
          guard case .noted(_, let by, let step)? = stored.event else { throw Impatience() }
          #expect(stored.index > last)
          last = stored.index
          steps[by, default: []].append(step)
          if steps.values.reduce(0, { $0 + $1.count }) == 2 * Self.stepCount { break }
        }
        return steps
      }
      var next: EventIndex = 1
      for try await stored in store.events() {
        #expect(stored.index == next)
        next += 1
        if next > total { break }
      }
      await producers
      let steps = Array(0..<Self.stepCount)
      #expect(try await notes.value == [1: steps, 2: steps])
      // Beginning anywhere.
      for try await stored in store.events(from: total) {
        #expect(stored.index == total)
        break
      }
      try await store.close()
      try expectSound(path)
    }

    @Test func `cancelling a subscriber leaves no reader and ends it`() async throws {
      let directory = try TestDirectory()
      let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
      let log = try LMDBLog.open(path: directory.store)
      for step in 0..<10 { try await store.dispatch(.noted(text: "", by: 0, step: step)) }
      let progress = Progress()
      let subscribers = (0..<40).map { number in
        Task {
          if number % 2 == 0 {
            for try await stored in store.events() { progress.reach(number, stored.index) }
          } else {
            for await change in store.changes(of: { $0.eventCount }) {
              progress.reach(number, change.index)
            }
          }
        }
      }
      try await wait { (0..<40).allSatisfy { progress.index(of: $0) == 10 } }
      for subscriber in subscribers { subscriber.cancel() }
      for (number, subscriber) in subscribers.enumerated() {
        let result = await subscriber.result
        if number % 2 == 0 {
          #expect(throws: CancellationError.self) { try result.get() }
        } else {
          #expect(throws: Never.self) { try result.get() }
        }
      }
      // The writer itself looks for other processes' commits now and then, for a moment.
      try await wait { try log.statistics().readerCount == 0 }
      try await store.dispatch(.noted(text: "", by: 0, step: 10))
      #expect((0..<40).allSatisfy { progress.index(of: $0) == 10 })
      log.close()
      try await store.close()
      try expectSound(directory.store)
    }

    @Test func `a subscriber who is slow costs no memory`() async {
      await #expect(processExitsWith: .success) {
        let directory = try TestDirectory()
        let store = try await Store(Bank(), at: directory.store, options: .withoutSnapshots)
        let text = String(repeating: "x", count: 4_000)
        func dispatch(_ count: Int) async throws {
          for step in 0..<count {
            try await store.dispatch(
              contentsOf: (0..<64).map { .noted(text: text, by: step, step: $0) })
          }
        }
        try await dispatch(20)
        let subscribers = (0..<20).map { _ in store.events().makeAsyncIterator() }
        var iterators = subscribers
        for position in iterators.indices {
          #expect(try await iterators[position].next()?.index == 1)
        }
        let before = try privateMemorySizeBytes()
        // 40 MB, and 20 subscribers who don't take any of it.
        try await dispatch(160)
        let growth = try privateMemorySizeBytes() - before
        #expect(growth < 16 << 20, "\(growth) bytes")
        var next: EventIndex = 2
        while let stored = try await iterators[0].next() {
          #expect(stored.index == next)
          next += 1
          if next > 180 * 64 { break }
        }
        try await store.close()
      }
    }

    @Test func `an idle store sees another process's commit within a tenth of a second`()
      async throws
    {
      let directory = try TestDirectory()
      let path = directory.store
      let store = try await Store(Bank(), at: path)
      let roundCount = 24
      async let producer = #expect(processExitsWith: .success) {
        [path = path as String, roundCount = roundCount as Int] in
        let store = try await Store(Bank(), at: path)
        for step in 0..<roundCount {
          try await wait { isThere("\(path).\(step)") }
          try await store.dispatch(.noted(text: "", by: 1, step: step))
          // The events' recorded time is before the flush; this is after it.
          try announce("\(path).\(step).done")
        }
        try await store.close()
      }
      var changes = store.changes(of: { $0.eventCount }).makeAsyncIterator()
      #expect(await changes.next()?.value == 0)
      var durations: [Duration] = []
      for step in 0..<roundCount {
        try announce("\(path).\(step)")
        try await wait { isThere("\(path).\(step).done") }
        let start = ContinuousClock.now
        #expect(await changes.next()?.value == step + 1)
        durations.append(.now - start)
        #expect(store.current.index == EventIndex(step + 1))
      }
      _ = await producer
      // Other tests take the processors away at times.
      let inTime = durations.count { $0 <= .milliseconds(100) }
      #expect(inTime >= roundCount * 3 / 4, "\(durations)")
      try await store.close()
      try expectSound(path)
    }
  }
}

/// How far each of several subscribers has come.
private final class Progress: @unchecked Sendable {  // All under the lock.
  private let lock = NSLock()
  private var indexes: [Int: EventIndex] = [:]

  func reach(_ number: Int, _ index: EventIndex) { lock.withLock { indexes[number] = index } }
  func index(of number: Int) -> EventIndex? { lock.withLock { indexes[number] } }
}

/// How much memory this process has for itself, without the files that it has mapped.
private func privateMemorySizeBytes() throws -> Int {
  #if os(Linux)
    let status = try String(contentsOfFile: "/proc/self/status", encoding: .utf8)
    let line = status.split(separator: "\n").first { $0.hasPrefix("RssAnon:") }
    let words = try #require(line).split(whereSeparator: \.isWhitespace)
    return try #require(Int(words[1])) * 1_024
  #else
    var usage = rusage()
    getrusage(RUSAGE_SELF, &usage)
    return Int(usage.ru_maxrss)
  #endif
}
