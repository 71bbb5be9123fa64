// Tells whether a path is on a network file system, where LMDB's locks and its shared map can't be
// relied on.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// Finds out what kind of file system a path is on.
package struct FileSystemProbe: Sendable {
  /// The name of the network file system that a path is on, or nil where it is a local one.
  package let networkFileSystem: @Sendable (_ path: String) throws(LMDBError) -> String?

  package init(_ probe: @escaping @Sendable (_ path: String) throws(LMDBError) -> String?) {
    networkFileSystem = probe
  }

  /// Asks the system's `statfs`.
  package static let system = FileSystemProbe { (path) throws(LMDBError) in
    var information = statfs()
    guard statfs(path, &information) == 0 else {
      throw LMDBError.system("asking for the file system of \(path)")
    }
    #if canImport(Darwin)
      guard information.f_flags & UInt32(MNT_LOCAL) == 0 else { return nil }
      return withUnsafeBytes(of: information.f_fstypename) { bytes in
        String(decoding: bytes.prefix { $0 != 0 }, as: UTF8.self)
      }
    #else
      return networkFileSystemName(magic: UInt32(truncatingIfNeeded: information.f_type))
    #endif
  }

  #if !canImport(Darwin)
    /// The name of a network file system by its `statfs` number, nil for all others.
    ///
    /// FUSE isn't among them: what is behind it can't be seen from here.
    package static func networkFileSystemName(magic: UInt32) -> String? {
      switch magic {
      case 0x6969: "NFS"
      case 0x517b, 0xfe53_4d42: "SMB"
      case 0xff53_4d42: "CIFS"
      case 0x5346_414f, 0x6b41_4653: "AFS"
      case 0x7375_7245: "Coda"
      case 0x0102_1997: "9P"
      case 0x00c3_6400: "Ceph"
      case 0x0bd0_0bd0: "Lustre"
      case 0x0116_1970: "GFS2"
      case 0x7461_636f: "OCFS2"
      default: nil
      }
    }
  #endif
}
