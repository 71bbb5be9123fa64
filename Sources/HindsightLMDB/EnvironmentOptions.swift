// How an environment is opened.

/// How an environment is opened.
package struct EnvironmentOptions: Sendable {
  package enum Access: Sendable {
    /// LMDB's read-only mode; the file must be there.
    case readOnly
    /// Reading and writing; a missing file is an error.
    case readWrite
    /// Reading and writing; a missing file is created.
    case create
  }

  package var access: Access = .create
  /// The size of the map, and so the most that the file can grow to, in bytes.
  ///
  /// Address space, not memory. Where the system refuses it, it is halved until it doesn't.
  package var mapSize = 1 << 40
  /// How many read transactions can be open at a time, in all processes together.
  ///
  /// The first process that opens the environment decides.
  package var readerSlots = 1024
  package var allowsNetworkFileSystem = false
  /// Whether a file whose making was interrupted is made anew, and what tells that it has contents.
  ///
  /// The bytes stand in every file with anything in it that must not be lost; where there are none
  /// to look for, only a file that has nothing but meta pages is made anew. With nil, none is.
  package var contentMark: [UInt8]?
  /// What says which file system a path is on; replaceable for tests.
  package var fileSystemProbe = FileSystemProbe.system

  package init() {}

  /// No map is made smaller than this, in bytes.
  static let mapSizeMin = 1 << 20
  /// More tables than any environment here has.
  static let tableCountMax: UInt32 = 16
}
