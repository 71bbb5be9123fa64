// A process without permission is told so: typed, with the path, and nothing is changed.

import CrashHarness
import CrashLedger
import Foundation
import Hindsight
import Testing

/// Runs the child as somebody to whom the modes of files apply: the superuser may do everything.
private enum Unprivileged {
  /// What comes before the child's own command line; nil where nobody else can be become.
  static let prefix: [String]? = {
    if geteuid() != 0 { return [] }
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
    guard
      let program = folders.map({ $0 + "/setpriv" }).first(where: {
        FileManager.default.isExecutableFile(atPath: $0)
      })
    else { return nil }
    return [program, "--reuid", "65534", "--regid", "65534", "--clear-groups"]
  }()

  /// What a child says that looks at a store, or dispatches one event. Blocks.
  static func run(_ kind: ChildTask.Kind, _ path: String, program: String) throws -> [ChildLine] {
    var task = ChildTask(kind, path: path)
    task.taskCount = 1
    task.stepCount = 1
    let command = (prefix ?? []) + [program] + task.arguments
    return try ChildProcess(command[0], Array(command.dropFirst())).remaining()
  }
}

@Suite(
  .enabled(
    if: Unprivileged.prefix != nil, "needs setpriv, or to be run by another than the superuser"))
struct PermissionTests {
  /// A store of one event, in a directory that everybody may enter, and a child beside it.
  private struct Place {
    let directory: TestDirectory
    let store: String
    let program: String

    init() async throws {
      directory = try TestDirectory()
      store = directory.path + "/a.hindsight"
      program = directory.path + "/crash-child"
      // The build's own folder may be closed to others. Copied by another process: a program that
      // this one has open for writing couldn't be started while others are being started.
      let built = try ChildProcess.program()
      let copying = try ChildProcess("/bin/cp", [built, program])
      #expect(copying.wait() == .exited(0))
      let opened = try await Store(MarkedLedger(), at: store)
      try await opened.dispatch(.moved(EventMark(run: 0, task: 0, step: 0)))
      try await opened.close()
      try allow(0o755, "")
      try allow(0o755, "/crash-child")
    }

    func allow(_ mode: Int, _ name: String) throws {
      try FileManager.default.setAttributes(
        [.posixPermissions: mode], ofItemAtPath: directory.path + name)
    }

    func run(_ kind: ChildTask.Kind, at path: String? = nil) async throws -> [ChildLine] {
      try await onThread { [store, program] in
        try Unprivileged.run(kind, path ?? store, program: program)
      }
    }

    func expectDenied(_ kind: ChildTask.Kind, at path: String? = nil) async throws {
      let line = try await run(kind, at: path).last
      guard case .failed("permissionDenied", nil, nil, let message)? = line else {
        Issue.record("\(kind) ended with \(String(describing: line))")
        return
      }
      #expect(message.contains(path ?? store))
    }

    /// The store is as it was, once its modes are.
    func expectUntouched() async throws {
      try allow(0o700, "/a.hindsight")
      for file in try FileManager.default.contentsOfDirectory(atPath: store) {
        try allow(0o600, "/a.hindsight/" + file)
      }
      let store = try await Store(MarkedLedger(), at: store)
      #expect(store.current.index == 1)
      #expect(store.recovery.ignoredSnapshots.isEmpty)
      try await store.close()
    }
  }

  @Test func `a store's directory that may not be entered is refused`() async throws {
    let place = try await Place()
    try place.allow(0, "/a.hindsight")
    try await place.expectDenied(.look)
    try await place.expectDenied(.single)
    try await place.expectUntouched()
  }

  @Test func `a log that may not be read is refused`() async throws {
    let place = try await Place()
    try place.allow(0o777, "/a.hindsight")
    try place.allow(0, "/a.hindsight/log.mdb")
    try await place.expectDenied(.look)
    try await place.expectDenied(.single)
    try await place.expectUntouched()
  }

  @Test func `a log that may only be read can be looked at, but not written`() async throws {
    let place = try await Place()
    try place.allow(0o755, "/a.hindsight")
    try place.allow(0o444, "/a.hindsight/log.mdb")
    // Who reads has to say so to a writer.
    try place.allow(0o666, "/a.hindsight/log.mdb-lock")
    try await place.expectDenied(.single)
    #expect(try await place.run(.look).last == .done)
    try await place.expectUntouched()
  }

  @Test func `a reader that can't announce itself is refused`() async throws {
    let place = try await Place()
    try place.allow(0o755, "/a.hindsight")
    try place.allow(0o444, "/a.hindsight/log.mdb")
    try place.allow(0o444, "/a.hindsight/log.mdb-lock")
    try await place.expectDenied(.look)
    try await place.expectUntouched()
  }

  @Test func `where no directory may be made, no store is made`() async throws {
    let place = try await Place()
    try place.allow(0o555, "")
    let path = place.directory.path + "/new.hindsight"
    try await place.expectDenied(.single, at: path)
    try place.allow(0o755, "")
    #expect(!FileManager.default.fileExists(atPath: path))
    try await place.expectUntouched()
  }

  @Test func `snapshots that may not be touched cost a replay, and stop nothing`() async throws {
    let place = try await Place()
    let store = try await Store(MarkedLedger(), at: place.store)
    #expect(try await store.snapshot() == 1)
    try await store.close()
    try place.allow(0o777, "/a.hindsight")
    for name in ["log.mdb", "log.mdb-lock"] { try place.allow(0o666, "/a.hindsight/" + name) }
    let snapshots = ["snapshots.mdb", "snapshots.mdb-lock"]
    for name in snapshots { try place.allow(0, "/a.hindsight/" + name) }
    let lines = try await place.run(.single)
    #expect(lines.contains(.opened(index: 1, snapshotIndex: nil, replayedEventCount: 1)))
    #expect(lines.last == .done)
    for name in snapshots { try place.allow(0o600, "/a.hindsight/" + name) }
    let again = try await Store(MarkedLedger(), at: place.store)
    #expect(again.recovery.snapshotIndex == 1)
    #expect(again.current.index == 2)
    try await again.close()
  }
}
