// What the child process tells the tests, line by line.
// It always holds: a line is written by one system call, so that it is there whole or not at all.

/// One line of the child's output.
package enum ChildLine: Equatable, Sendable {
  /// The child is about to open the store.
  case starting
  /// The store is open, at an index.
  case opened(index: UInt64, snapshotIndex: UInt64?, replayedEventCount: UInt64)
  /// A dispatch has returned; its first event has that index.
  case acknowledged(EventMark, index: UInt64)
  /// A snapshot has been written.
  case snapshot(index: UInt64)
  /// Something was refused: the error's code, its index and event type if any, and its message.
  case failed(code: String, index: UInt64?, eventType: String?, message: String)
  /// The state in which the child ends, where it was asked for.
  case ended(index: UInt64, eventCount: Int, history: UInt64)
  /// All is done, and the store closed.
  case done

  /// The line without its end.
  package var text: String {
    switch self {
    case .starting: "starting"
    case .opened(let index, let snapshotIndex, let count):
      "opened \(index) \(snapshotIndex.map(String.init) ?? "-") \(count)"
    case .acknowledged(let mark, let index): "acknowledged \(mark.text) \(index)"
    case .snapshot(let index): "snapshot \(index)"
    case .failed(let code, let index, let type, let message):
      "failed \(code) \(index.map(String.init) ?? "-") \(type ?? "-") "
        + message.split(separator: "\n").joined(separator: " ")
    case .ended(let index, let count, let history): "ended \(index) \(count) \(history)"
    case .done: "done"
    }
  }

  /// The meaning of a line, nil where it has none.
  package init?(_ text: String) {
    let words = text.split(separator: " ", maxSplits: 4, omittingEmptySubsequences: false)
      .map(String.init)
    switch (words.first, words.count) {
    case ("starting", 1): self = .starting
    case ("done", 1): self = .done
    case ("ended", 4):
      guard let index = UInt64(words[1]), let count = Int(words[2]), let history = UInt64(words[3])
      else { return nil }
      self = .ended(index: index, eventCount: count, history: history)
    case ("opened", 4):
      guard let index = UInt64(words[1]), let count = UInt64(words[3]) else { return nil }
      self = .opened(index: index, snapshotIndex: UInt64(words[2]), replayedEventCount: count)
    case ("acknowledged", 3):
      guard let mark = EventMark(words[1]), let index = UInt64(words[2]) else { return nil }
      self = .acknowledged(mark, index: index)
    case ("snapshot", 2):
      guard let index = UInt64(words[1]) else { return nil }
      self = .snapshot(index: index)
    case ("failed", 5):
      self = .failed(
        code: words[1], index: UInt64(words[2]), eventType: words[3] == "-" ? nil : words[3],
        message: words[4])
    default: return nil
    }
  }
}

/// What the child is asked to do, as its arguments.
package struct ChildTask: Sendable {
  /// How a task dispatches.
  package enum Kind: String, CaseIterable, Sendable {
    case single, batch, transact
    /// Each of the others in turn.
    case mixed
    /// Nothing: the store is opened for reading only, and closed.
    case look
  }

  package var kind: Kind
  package var path: String
  package var run = 0
  package var taskCount = 64
  /// How many dispatches each task makes; nil for no end.
  package var stepCount: Int?
  /// A snapshot after so many events; nil for none.
  package var snapshotEvery: UInt64?
  /// Whether one more task asks for snapshots all the time.
  package var forcesSnapshots = false
  /// A file at whose sight the tasks end; the child then says what state it has.
  package var endFile: String?
  /// Whether the child goes on when something fails, and says what did.
  package var stubbornness: Stubbornness?

  /// How the child goes on when something fails.
  package struct Stubbornness: Sendable {
    /// How often it opens the store in all, one after the other.
    package var sessionCount = 2
    /// A file that it waits for before it tries again; nil for trying again at once.
    package var goFile: String?
    /// How many dispatches each task makes after the first time; nil for as many as then.
    package var laterStepCount: Int?

    package init(sessionCount: Int = 2, goFile: String? = nil, laterStepCount: Int? = nil) {
      self.sessionCount = sessionCount
      self.goFile = goFile
      self.laterStepCount = laterStepCount
    }

    fileprivate var arguments: [String] {
      ["\(sessionCount)", goFile ?? "-", laterStepCount.map(String.init) ?? "-"]
    }
  }

  package init(_ kind: Kind, path: String) {
    self.kind = kind
    self.path = path
  }

  package var arguments: [String] {
    [
      kind.rawValue, path, "\(run)", "\(taskCount)", stepCount.map(String.init) ?? "-",
      snapshotEvery.map(String.init) ?? "-", forcesSnapshots ? "forced" : "-", endFile ?? "-",
    ] + (stubbornness?.arguments ?? [])
  }

  package init?(arguments: [String]) {
    guard arguments.count == 8 || arguments.count == 11, let kind = Kind(rawValue: arguments[0]),
      let run = Int(arguments[2]), let taskCount = Int(arguments[3])
    else { return nil }
    self.init(kind, path: arguments[1])
    self.run = run
    self.taskCount = taskCount
    stepCount = Int(arguments[4])
    snapshotEvery = UInt64(arguments[5])
    forcesSnapshots = arguments[6] == "forced"
    endFile = arguments[7] == "-" ? nil : arguments[7]
    guard arguments.count == 11 else { return }
    guard let sessionCount = Int(arguments[8]) else { return nil }
    stubbornness = Stubbornness(
      sessionCount: sessionCount, goFile: arguments[9] == "-" ? nil : arguments[9],
      laterStepCount: Int(arguments[10]))
  }
}
