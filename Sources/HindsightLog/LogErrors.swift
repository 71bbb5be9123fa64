// Turns errors of LMDB and of the system into the store's errors: the one place that does.

import HindsightCore
import HindsightLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension HindsightError {
  /// What an error of the storage means for the store, perhaps at an event.
  init(_ error: LMDBError, index: EventIndex? = nil) {
    let code = Code(error.code)
    // Whatever files another process made, or LMDB itself noticed: a larger map takes them.
    let remedy = code == .mapFull ? "; open the store with a larger mapSize" : ""
    self.init(code, error.description + remedy, index: index, cause: nil)
  }

  /// A failed system call on a path.
  static func system(_ operation: String, path: String, number: Int32 = errno) -> HindsightError {
    HindsightError(LMDBError.system("\(operation) \(path)", number))
  }

  /// What is wrong with the bytes of the commit that begins with an event.
  init(_ error: CommitRecordError, index: EventIndex) {
    self.init(
      error.isNewerFormat ? .unsupportedFormat : .corrupt,
      "the commit of event \(index) can't be read: \(error.message)", index: index)
  }

  static func corrupt(_ message: String, index: EventIndex) -> HindsightError {
    HindsightError(.corrupt, "the commit of event \(index) is damaged: \(message)", index: index)
  }

  static func missingCommit(_ index: EventIndex) -> HindsightError {
    HindsightError(
      .missingCommit, "the commit of event \(index) is missing from the log", index: index)
  }

  static func beyondHead(_ index: EventIndex, head: EventIndex) -> HindsightError {
    HindsightError(
      .indexBeyondHead, "there is no event \(index): the newest is \(head)", index: index)
  }

  static func destinationExists(_ path: String) -> HindsightError {
    HindsightError(
      .destinationExists, "there is something at \(path) already: name a place that is free")
  }

  static func notAStore(_ path: String, _ reason: String) -> HindsightError {
    HindsightError(.notAStore, "\(path) isn't a store: \(reason)")
  }
}

extension HindsightError.Code {
  init(_ code: LMDBError.Code) {
    self =
      switch code {
      case .noEntry, .notFound, .invalid, .isDirectory: .notAStore
      case .accessDenied, .notPermitted, .readOnlyFileSystem: .permissionDenied
      case .versionMismatch: .unsupportedFormat
      case .corrupted, .pageNotFound, .truncated, .missingTable: .corrupt
      case .mapFull, .mapResized: .mapFull
      case .noSpace, .quotaExceeded: .diskFull
      case .readersFull, .conflictingOpen: .inUse
      case .networkFileSystem: .networkFileSystem
      case .latched, .panic: .commitOutcomeUnknown
      case .nestedWrite: .reentrantCall
      case .readOnly: .readOnly
      case .replaced: .replaced
      case .forked: .closed
      default: .inputOutput
      }
  }
}
