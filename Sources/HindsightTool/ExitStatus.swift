// How the tool ends: the numbers of sysexits, and the one line that goes with them.
// It always holds: 0 is success, 1 is a finding, and everything else is a failure.

import HindsightCore

/// The number that a process ends with, as scripts see it.
package struct ExitStatus: RawRepresentable, Sendable, Hashable {
  package let rawValue: Int32

  package init(rawValue: Int32) { self.rawValue = rawValue }

  /// Everything that was asked for was done.
  package static let success = Self(rawValue: 0)
  /// It was done, and found something: damage, a difference.
  package static let finding = Self(rawValue: 1)
  /// The command line is wrong (`EX_USAGE`).
  package static let usage = Self(rawValue: 64)
  /// The input, or what the store holds, is wrong (`EX_DATAERR`).
  package static let badData = Self(rawValue: 65)
  /// What should be read isn't there (`EX_NOINPUT`).
  package static let noInput = Self(rawValue: 66)
  /// Something is in the way that may pass, such as another process (`EX_TEMPFAIL`).
  package static let tryAgain = Self(rawValue: 75)
  /// The tool itself is wrong (`EX_SOFTWARE`).
  package static let software = Self(rawValue: 70)
  /// What should be made can't be, as something is there already (`EX_CANTCREAT`).
  package static let cannotCreate = Self(rawValue: 73)
  /// The system refused to read or write (`EX_IOERR`).
  package static let inputOutput = Self(rawValue: 74)
  /// This user may not do it (`EX_NOPERM`).
  package static let noPermission = Self(rawValue: 77)
}

/// A failure of the tool: its exit status, and one line that says what happened and what to do.
package struct ToolError: Error, CustomStringConvertible {
  package let status: ExitStatus
  package let description: String

  package init(_ status: ExitStatus, _ description: String) {
    self.status = status
    self.description = description
  }
}

extension ExitStatus {
  /// The status that an error ends the tool with.
  package init(for error: any Error) {
    switch error {
    case let error as ToolError: self = error.status
    case is ValidationError: self = .usage
    case is OutputClosed: self = .success
    case let error as HindsightError: self = Self.statuses[error.code] ?? .software
    default: self = .software
    }
  }

  private static let statuses: [HindsightError.Code: ExitStatus] = [
    .notAStore: .noInput, .indexBeyondHead: .noInput,
    .unsupportedFormat: .badData, .reducerMismatch: .badData, .corrupt: .badData,
    .missingCommit: .badData, .unknownEventType: .badData, .undecodableEvent: .badData,
    .unknownControlEvent: .badData, .invalidEvent: .badData, .invalidMetadata: .badData,
    .eventRefused: .badData, .commitTooLarge: .badData, .unusableSnapshot: .badData,
    .permissionDenied: .noPermission, .readOnly: .noPermission,
    .inUse: .tryAgain, .invalidOption: .usage, .networkFileSystem: .usage,
    .commitOutcomeUnknown: .inputOutput, .diskFull: .inputOutput, .mapFull: .inputOutput,
    .inputOutput: .inputOutput, .replaced: .inputOutput, .destinationExists: .cannotCreate,
  ]
}
