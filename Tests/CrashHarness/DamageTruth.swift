// What a small store really holds, and whether a damaged copy says anything else.
// It always holds: an answer is the right one, or a typed error; a shorter history is neither.

import Hindsight
import HindsightTimeTravel
import HindsightTool

/// The events and all states of a sound store of the reducer `merge-patch`.
struct DamageTruth: Sendable {
  private let events: [PatchEvent]
  /// The states at the indexes 0 to the head.
  private let states: [Value]

  /// A damaged store gave a wrong answer.
  struct Wrong: Error, CustomStringConvertible {
    let description: String
  }

  private var head: EventIndex { EventIndex(events.count) }

  init(ofStoreAt path: String) async throws {
    let timeline = try Timeline(MergePatchReducer(), at: path)
    var events: [PatchEvent] = []
    for try await stored in timeline.events() {
      guard let event = stored.event else {
        throw Wrong(description: "the sound store has an event of the engine's own")
      }
      events.append(event)
    }
    self.events = events
    var states = [MergePatchReducer().initialState]
    for event in events {
      var state = states[states.count - 1]
      MergePatchReducer().reduce(into: &state, event)
      states.append(state)
    }
    self.states = states
    try timeline.close()
  }

  /// Asks a damaged store's timeline for all states and events.
  ///
  /// - Returns: whether anything was refused.
  func checkTimeline(at path: String) async throws -> Bool {
    try await refusing {
      let timeline = try Timeline(MergePatchReducer(), at: path)
      var isRefused = false
      do {
        guard timeline.head == head else {
          throw Wrong(description: "the timeline ends at \(timeline.head), not at \(head)")
        }
        // Backwards, so that none is made from another.
        for index in (0...head).reversed() {
          let part = try await refusing {
            guard try await timeline.state(at: index) == states[Int(index)] else {
              throw Wrong(description: "the state at \(index) is wrong")
            }
            return false
          }
          isRefused = isRefused || part
        }
        if try await refusing({ try await checkEvents(of: timeline) }) { isRefused = true }
      } catch {
        try? timeline.close()
        throw error
      }
      try timeline.close()
      return isRefused
    }
  }

  private func checkEvents(of timeline: Timeline<MergePatchReducer>) async throws -> Bool {
    var index: EventIndex = 0
    for try await stored in timeline.events() {
      index += 1
      guard stored.index == index, isTrue(stored.event, at: index) else {
        throw Wrong(description: "event \(index) is wrong")
      }
    }
    guard index == head else {
      throw Wrong(description: "the events end at \(index) without an error")
    }
    return false
  }

  private func isTrue(_ event: PatchEvent?, at index: EventIndex) -> Bool {
    let right = events[Int(index) - 1]
    return event?.recordedTypeName == right.recordedTypeName && event?.payload == right.payload
  }

  /// Opens a damaged store for writing, dispatches once, and looks at what became of it.
  ///
  /// - Returns: whether that was refused.
  func checkWriting(to path: String) async throws -> Bool {
    let event = try PatchEvent(recordedTypeName: "added", key: "after", value: .bool(true))
    var state = states[Int(head)]
    MergePatchReducer().reduce(into: &state, event)
    return try await refusing {
      let store = try await Store(MergePatchReducer(), at: path)
      do {
        guard store.current.index == head, store.current.state == states[Int(head)] else {
          throw Wrong(description: "the store opens at \(store.current.index), not at \(head)")
        }
        let index = try await store.dispatch(event).index
        guard index == head + 1, store.current.state == state else {
          throw Wrong(description: "a dispatch got index \(index)")
        }
      } catch {
        try? await store.close()
        throw error
      }
      try await store.close()
      let timeline = try Timeline(MergePatchReducer(), at: path)
      defer { try? timeline.close() }
      guard timeline.head == head + 1 else {
        throw Wrong(description: "after a dispatch the log ends at \(timeline.head)")
      }
      for index in [head + 1, head, head / 2] {
        _ = try await refusing {
          let right = index > head ? state : states[Int(index)]
          guard try await timeline.state(at: index) == right else {
            throw Wrong(description: "after a dispatch the state at \(index) is wrong")
          }
          return false
        }
      }
      return false
    }
  }

  /// Whether something was refused with a typed error.
  private func refusing(_ body: () async throws -> Bool) async throws -> Bool {
    do { return try await body() } catch is HindsightError { return true }
  }
}

extension PatchEvent {
  /// An event that sets one value.
  init(recordedTypeName: String, key: String, value: Value) throws {
    var content = ValueMap()
    content[key] = value
    var writer = CBORWriter()
    try Value.map(content).encode(into: &writer)
    self = try writer.bytes.withUnsafeBytes {
      try PatchEvent(recordedTypeName: recordedTypeName, payload: $0)
    }
  }
}
