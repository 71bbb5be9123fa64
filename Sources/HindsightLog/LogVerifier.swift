// Looks at everything in a store and says what is wrong with it, rather than stopping at the first.
// It always holds: nothing is changed, and the files are read, not mapped, so that damage is found
// and not stumbled over.

public import HindsightCore
import HindsightLMDB

/// Something that isn't as it should be in a store.
public struct VerifyFinding: Sendable, Hashable, CustomStringConvertible {
  /// What a finding is about.
  public enum Part: String, Sendable, Hashable {
    /// The log: the truth.
    case log
    /// The snapshots: a cache, which replaying replaces.
    case snapshots
  }

  /// What it is about.
  public let part: Part
  /// The event that it concerns, or the first of its commit, where it concerns one.
  public let index: EventIndex?
  /// What is wrong, in one line.
  public let message: String

  /// The message, with its place.
  public var description: String {
    "\(part.rawValue)\(index.map { " at \($0)" } ?? ""): \(message)"
  }
}

/// What verifying a store found.
public struct VerifyReport: Sendable {
  /// What is wrong; empty in a sound store. At most ``findingCountMax``.
  public internal(set) var findings: [VerifyFinding] = []
  /// What the log was made with, if that can be read.
  public internal(set) var genesis: LogGenesis?
  /// The index of the newest readable event.
  public internal(set) var headIndex: EventIndex = 0
  /// The number of readable commits.
  public internal(set) var commitCount: UInt64 = 0
  /// The number of readable events.
  public internal(set) var eventCount: UInt64 = 0
  /// The number of snapshots looked at.
  public internal(set) var snapshotCount = 0

  /// So many findings are kept; further ones are of little use.
  public static let findingCountMax = 1_000

  mutating func add(_ part: VerifyFinding.Part, _ message: String, at index: EventIndex? = nil) {
    if findings.count < Self.findingCountMax {
      findings.append(VerifyFinding(part: part, index: index, message: message))
    }
  }
}

/// Verifies the store of a directory.
///
/// It doesn't open the log, so that it can say what is wrong with one that doesn't open. Works
/// beside a live writer, whose old pages can't be reused meanwhile.
public struct LogVerifier {
  private let directory: StoreDirectory
  private let options: LMDBLog.Options

  /// A verifier of the store in a directory.
  public init(path: String, allowsNetworkFileSystem: Bool = false) {
    directory = StoreDirectory(path: path)
    var options = LMDBLog.Options(access: .readOnly)
    options.allowsNetworkFileSystem = allowsNetworkFileSystem
    self.options = options
  }

  /// What is wrong with an event's bytes, or nil: of its type, its metadata (empty where it has
  /// none), and its payload.
  package typealias EventCheck = (
    _ type: EventType, _ metadata: RawSpan, _ payload: RawSpan
  ) -> String?

  /// Verifies everything. O(n) in the bytes of the store.
  ///
  /// - Parameters:
  ///   - checkEvent: looks into events further than their sizes.
  ///   - progress: is told the last index of each commit, as it was looked at.
  /// - Throws: ``HindsightError`` where there is nothing to look at: codes `notAStore`,
  ///   `permissionDenied`, `networkFileSystem`, `inputOutput`.
  package func verify(
    checkEvent: @escaping EventCheck = { _, _, _ in nil },
    progress: @escaping (EventIndex) -> Void = { _ in }
  ) throws -> VerifyReport {
    try directory.requireStore()
    // Snapshots first: a live writer only makes them of commits that are already there.
    let snapshots = SnapshotVerifier(directory: directory, options: options).verify()
    let walk = CommitVerifier(
      path: directory.path, snapshots: snapshots, checkEvent: checkEvent, progress: progress)
    let isUnborn: Bool
    do throws(LMDBError) {
      let environment = try Environment.open(
        directory.logPath, options: EnvironmentOptions(options))
      isUnborn = try environment.beginRead().number == 0
      let trees = try environment.checkTrees(
        visiting: EntryVisitor(LMDBLog.commitsTableName) { walk.visit(key: $0, value: $1) })
      walk.finish(trees)
    } catch {
      throw HindsightError(error)
    }
    if isUnborn {
      throw HindsightError.notAStore(
        directory.path, "its making was interrupted; opening it for writing completes it")
    }
    return walk.report
  }

  /// Verifies everything but what payloads and metadata hold.
  public func verify() throws -> VerifyReport {
    try verify(checkEvent: { _, _, _ in nil })
  }
}
