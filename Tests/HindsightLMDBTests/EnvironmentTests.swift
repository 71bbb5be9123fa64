// Opening environments, and how LMDB lets one down there.

import Foundation
import HindsightLMDB
import Testing

@Suite struct EnvironmentTests {
  @Test func `a new environment has no tables, and its file is for its owner alone`() throws {
    try withEnvironment { environment in
      let isMissing = try environment.table(named: "numbers") == nil
      #expect(isMissing)
      for path in [environment.path, environment.path + "-lock"] {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
      }
    }
  }

  @Test func `a file opened twice is one environment, also through a symbolic link`() throws {
    let directory = try TemporaryDirectory()
    let link = directory.url.appending(path: "link.mdb").path
    let first = try Environment.open(directory.file, options: .test)
    try FileManager.default.createSymbolicLink(
      atPath: link, withDestinationPath: directory.file)
    let second = try Environment.open(link, options: .test)
    #expect(first.path == second.path)
    #expect(Descriptors.ofFile(directory.file).count == 2, "LMDB opens it for data and for metas")
    #expect(!FileManager.default.fileExists(atPath: link + "-lock"))
    // One thread can't have two write transactions on one environment; on two it would wait.
    let transaction = try first.beginWrite()
    expect(.nestedWrite) { () throws(LMDBError) in _ = try second.beginWrite().number() }
    _ = try transaction.number()
  }

  @Test func `a file stays open for its second user when the first is gone`() throws {
    let directory = try TemporaryDirectory()
    var first: Environment? = try Environment.open(directory.file, options: .test)
    let second = try Environment.open(directory.file, options: .test)
    first = nil
    #expect(first == nil)
    let table = try fill(second, [1])
    #expect(try keys(try second.beginRead(), table) == [1])
  }

  @Test func `a file is closed with its last user, and not under a live reader`() throws {
    let directory = try TemporaryDirectory()
    var environment: Environment? = try Environment.open(directory.file, options: .test)
    let table = try fill(try #require(environment), [1, 2])
    do {
      let reader = try #require(environment).beginRead()
      environment = nil
      #expect(!Descriptors.ofFile(directory.file).isEmpty)
      #expect(try keys(reader, table) == [1, 2])
    }
    #expect(Descriptors.ofFile(directory.file).isEmpty)
  }

  @Test func `a file open for reading only can't be opened for writing beside it`() throws {
    let directory = try TemporaryDirectory()
    _ = try fill(try Environment.open(directory.file, options: .test), [1])
    var options = EnvironmentOptions.test
    options.access = .readOnly
    let reader = try Environment.open(directory.file, options: options)
    #expect(reader.isReadOnly)
    expect(.conflictingOpen) { () throws(LMDBError) in
      _ = try Environment.open(directory.file, options: .test)
    }
    expect(.readOnly) { () throws(LMDBError) in _ = try reader.beginWrite().number() }
  }

  @Test func `a reader gets the environment that is open for writing`() throws {
    let directory = try TemporaryDirectory()
    let writer = try Environment.open(directory.file, options: .test)
    var options = EnvironmentOptions.test
    options.access = .readOnly
    let reader = try Environment.open(directory.file, options: options)
    #expect(!reader.isReadOnly)
    let table = try fill(writer, [1])
    #expect(try keys(try reader.beginRead(), table) == [1])
  }

  @Test func `a file that was replaced while it is open can't be opened beside it`() throws {
    let directory = try TemporaryDirectory()
    let environment = try Environment.open(directory.file, options: .test)
    let other = directory.url.appending(path: "other.mdb").path
    try environment.copy(to: other)
    #expect(rename(other, directory.file) == 0)
    expect(.conflictingOpen) { () throws(LMDBError) in
      _ = try Environment.open(directory.file, options: .test)
    }
    // What is written to a file that nobody finds any more would be lost.
    expect(.replaced) { () throws(LMDBError) in _ = try environment.beginWrite().number() }
  }

  @Test func `readers aren't bound to threads, and there are many`() throws {
    try withEnvironment { environment in
      let table = try fill(environment, [1])
      #expect(environment.readerSlots == 1024)
      var readers: [Reader] = []
      for _ in 0..<500 { readers.append(Reader(try environment.beginRead())) }
      for reader in readers { #expect(try keys(reader.transaction, table) == [1]) }
    }
  }

  @Test func `a reader more than there are slots is an error, and one less is none`() throws {
    var options = EnvironmentOptions.test
    options.readerSlots = 4
    try withEnvironment(options) { environment in
      var readers: [Reader] = []
      for _ in 0..<4 { readers.append(Reader(try environment.beginRead())) }
      expect(.readersFull) { () throws(LMDBError) in _ = try environment.beginRead().number }
      readers.removeLast()
      _ = try environment.beginRead().number
    }
  }

  @Test func `no descriptor of an environment gets into other programs`() throws {
    try withEnvironment { environment in
      for path in [environment.path, environment.path + "-lock"] {
        let descriptors = Descriptors.ofFile(path)
        #expect(!descriptors.isEmpty)
        #expect(descriptors.allSatisfy { $0.isClosedOnExec })
      }
    }
  }

  @Test func `what isn't an environment is refused, and nothing is made beside it`() throws {
    let directory = try TemporaryDirectory()
    let path = directory.file
    expect(.noEntry) { () throws(LMDBError) in
      var options = EnvironmentOptions.test
      options.access = .readWrite
      _ = try Environment.open(path, options: options)
    }
    try Data(repeating: 7, count: 100_000).write(to: URL(filePath: path))
    expect(.invalid) { () throws(LMDBError) in _ = try Environment.open(path, options: .test) }
    try Data("short".utf8).write(to: URL(filePath: path))
    expect(.invalid) { () throws(LMDBError) in _ = try Environment.open(path, options: .test) }
    expect(.invalid) { () throws(LMDBError) in
      _ = try Environment.open(directory.url.path, options: .test)
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: directory.url.path)
    #expect(names == ["data.mdb"])
  }

  @Test func `a network file system is refused unless told otherwise`() throws {
    let directory = try TemporaryDirectory()
    var options = EnvironmentOptions.test
    options.fileSystemProbe = FileSystemProbe { (_) throws(LMDBError) in "NFS" }
    expect(.networkFileSystem) { () throws(LMDBError) in
      _ = try Environment.open(directory.file, options: options)
    }
    options.allowsNetworkFileSystem = true
    _ = try fill(try Environment.open(directory.file, options: options), [1])
    #expect(try FileSystemProbe.system.networkFileSystem(directory.url.path) == nil)
    #if os(Linux)
      #expect(FileSystemProbe.networkFileSystemName(magic: 0x6969) == "NFS")
      #expect(FileSystemProbe.networkFileSystemName(magic: 0xef53) == nil)
    #endif
  }

  @Test func `a copy is flushed, file and directory, and holds the newest state`() throws {
    let directory = try TemporaryDirectory()
    let environment = try Environment.open(directory.file, options: .test)
    _ = try fill(environment, [1, 2])
    let target = directory.url.appending(path: "copy.mdb").path
    var flushed: [Bool] = []
    try environment.copy(to: target) { descriptor in
      var information = stat()
      fstat(descriptor, &information)
      flushed.append(information.st_mode & S_IFMT == S_IFDIR)
      return fsync(descriptor)
    }
    #expect(flushed == [false, true], "first the file, then its name")
    let copy = try Environment.open(target, options: .test)
    let table = try #require(try copy.table(named: "numbers"))
    #expect(try keys(try copy.beginRead(), table) == [1, 2])
    #expect(throws: LMDBError.self) { try environment.copy(to: target) }
    let other = directory.url.appending(path: "other.mdb").path
    #expect(throws: LMDBError.self) {
      try environment.copy(to: other) { _ in
        errno = EIO
        return -1
      }
    }
    #expect(!FileManager.default.fileExists(atPath: other))
  }
}

/// A read transaction in a place where many can be kept.
private final class Reader {
  let transaction: ReadTransaction
  init(_ transaction: consuming ReadTransaction) { self.transaction = transaction }
}
