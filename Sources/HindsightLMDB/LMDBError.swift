// The one error type of this module, and the one place that maps LMDB's results to it.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A failed operation of an LMDB environment.
package struct LMDBError: Error, Sendable, Equatable {
  /// What went wrong: LMDB's negative codes, the system's positive `errno`s, and this module's own.
  package struct Code: RawRepresentable, Sendable, Hashable {
    package let rawValue: Int32
    package init(rawValue: Int32) { self.rawValue = rawValue }
  }

  package let code: Code
  /// What the code means, in words.
  package let message: String
  /// What was being done, and to what.
  package let operation: String

  package init(_ code: Code, _ operation: String, message: String? = nil) {
    self.code = code
    self.operation = operation
    self.message = message ?? String(cString: mdb_strerror(code.rawValue))
  }

  /// The error of a failed system call.
  package static func system(_ operation: String, _ number: Int32 = errno) -> LMDBError {
    LMDBError(Code(rawValue: number), operation)
  }

  /// Throws unless the result of an LMDB function is success.
  static func check(
    _ result: Int32, _ operation: @autoclosure () -> String
  ) throws(LMDBError) {
    guard result == MDB_SUCCESS else {
      throw LMDBError(Code(rawValue: result), operation())
    }
  }
}

extension LMDBError: CustomStringConvertible {
  package var description: String { "\(operation): \(message)" }
}

extension LMDBError.Code {
  /// There is no such key; of a table's name: no such table.
  package static let notFound = Self(rawValue: MDB_NOTFOUND)
  package static let keyExists = Self(rawValue: MDB_KEYEXIST)
  package static let pageNotFound = Self(rawValue: MDB_PAGE_NOTFOUND)
  package static let corrupted = Self(rawValue: MDB_CORRUPTED)
  /// LMDB itself has given the environment up.
  package static let panic = Self(rawValue: MDB_PANIC)
  package static let versionMismatch = Self(rawValue: MDB_VERSION_MISMATCH)
  /// The file isn't one of LMDB's.
  package static let invalid = Self(rawValue: MDB_INVALID)
  package static let mapFull = Self(rawValue: MDB_MAP_FULL)
  package static let readersFull = Self(rawValue: MDB_READERS_FULL)
  /// Another process made the map larger, and the file has grown beyond this one's.
  package static let mapResized = Self(rawValue: MDB_MAP_RESIZED)
  package static let badTransaction = Self(rawValue: MDB_BAD_TXN)
  /// The table's handle is not, or no longer, one of this environment.
  package static let badTable = Self(rawValue: MDB_BAD_DBI)

  package static let noEntry = Self(rawValue: ENOENT)
  package static let accessDenied = Self(rawValue: EACCES)
  package static let notPermitted = Self(rawValue: EPERM)
  package static let readOnlyFileSystem = Self(rawValue: EROFS)
  package static let noSpace = Self(rawValue: ENOSPC)
  package static let quotaExceeded = Self(rawValue: EDQUOT)
  package static let isDirectory = Self(rawValue: EISDIR)

  // Numbers that neither LMDB (-30,799 to -30,780) nor the system (positive) uses.

  /// The environment was opened before a fork and is of no use to the child.
  package static let forked = Self(rawValue: -1)
  /// The file ends before pages that its trees refer to.
  package static let truncated = Self(rawValue: -2)
  /// The file is open in this process in a way that can't be shared.
  package static let conflictingOpen = Self(rawValue: -3)
  /// The transaction's state of the environment has no such table.
  package static let missingTable = Self(rawValue: -4)
  package static let networkFileSystem = Self(rawValue: -5)
  /// An earlier commit failed with its outcome unknown.
  package static let latched = Self(rawValue: -6)
  /// The calling thread already has a write transaction on this environment.
  package static let nestedWrite = Self(rawValue: -7)
  /// The environment is open for reading only.
  package static let readOnly = Self(rawValue: -8)
  /// The path doesn't lead to the files that are open any more.
  package static let replaced = Self(rawValue: -9)
}
