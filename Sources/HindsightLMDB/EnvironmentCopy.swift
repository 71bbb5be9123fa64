// Copying an environment while it is in use.

import SystemLMDB

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

extension Environment {
  /// Copies the state of the newest commit to a new file, and makes that durable.
  ///
  /// LMDB's own copy doesn't flush it. The copy is removed where it fails.
  ///
  /// - Parameters:
  ///   - target: the path of the new file; it must not be there.
  ///   - flush: what flushes a descriptor; replaceable for tests.
  /// - Throws: ``LMDBError``.
  package func copy(
    to target: String, flush: (_ descriptor: Int32) -> Int32 = { fsync($0) }
  ) throws(LMDBError) {
    try core.checkProcess("copying")
    let operation = "copying \(path) to \(target)"
    let descriptor = Descriptors.open(target, O_WRONLY | O_CREAT | O_EXCL)
    guard descriptor >= 0 else { throw LMDBError.system(operation) }
    do throws(LMDBError) {
      defer { close(descriptor) }
      try LMDBError.check(mdb_env_copyfd2(core.handle, descriptor, 0), operation)
      guard flush(descriptor) == 0 else { throw LMDBError.system(operation) }
      let parent = target.lastIndex(of: "/").map { String(target[...$0]) } ?? "."
      let directory = Descriptors.open(parent, O_RDONLY | O_DIRECTORY)
      guard directory >= 0 else { throw LMDBError.system(operation) }
      defer { close(directory) }
      guard flush(directory) == 0 else { throw LMDBError.system(operation) }
    } catch {
      unlink(target)
      throw error
    }
  }
}
