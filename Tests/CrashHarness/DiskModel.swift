// A disk below one directory, as traced system calls leave it: what is certain, and what isn't.
// It always holds: only a flush of the same file or directory, begun after a change was through,
// or a write that goes through to the disk by itself, makes a change certain.

import Foundation

/// A disk that follows a trace, moment by moment.
package struct DiskModel {
  /// What a trace has in it that can't be followed.
  package struct Unfollowable: Error, CustomStringConvertible {
    package let description: String
  }

  package private(set) var names: DiskNames
  package private(set) var files: [UInt64: DiskFile] = [:]
  private let root: String
  /// Which file an inode is, of those that are open.
  private var filesByInode: [UInt64: UInt64] = [:]

  /// An empty directory.
  package init(root: String) {
    self.root = root
    names = DiskNames(root: root)
  }

  private func isBelowRoot(_ path: String) -> Bool { path.hasPrefix(root + "/") }

  /// A call begins: from now on, what it does may be on the disk.
  package mutating func begin(_ call: TracedCall) throws {
    switch call.kind {
    case .open: try open(call)
    case .write:
      guard call.result > 0, isBelowRoot(call.path) else { return }
      try change(call) { $0.write(call.data, at: call.offset, number: call.begin, end: call.end) }
    case .truncate:
      guard call.result == 0, isBelowRoot(call.path) else { return }
      try change(call) { $0.resize(to: call.length, number: call.begin, end: call.end) }
    case .allocate:
      guard call.result == 0, isBelowRoot(call.path) else { return }
      try change(call) {
        let size = max($0.latestSize, call.offset + call.length)
        $0.resize(to: size, number: call.begin, end: call.end)
      }
    case .makeDirectory, .rename, .unlink: if call.result == 0 { try name(call) }
    case .mapWritable:
      // A lock file is written through its map. Nothing that is to last may be: it can't be seen.
      guard isBelowRoot(call.path), !call.path.hasSuffix("-lock") else { return }
      throw Unfollowable(description: "\(call.path) is mapped for writing")
    case .sync, .dataSync, .mapSync, .rangeSync: break
    }
  }

  /// A call ends: a flush makes certain what was through before it began.
  package mutating func end(_ call: TracedCall) {
    if call.kind == .write, call.writesThrough, call.result > 0 {
      if let file = filesByInode[call.inode] { files[file]?.settle(call.begin) }
    }
    guard call.isSuccessfulSync else { return }
    if let file = filesByInode[call.inode], isBelowRoot(call.path) {
      files[file]?.settle(endedBefore: call.begin)
    }
    if names.latest[call.path] == .directory {
      names.settle(call.path, endedBefore: call.begin)
    }
  }

  private mutating func open(_ call: TracedCall) throws {
    guard call.result >= 0, isBelowRoot(call.path) else { return }
    let flags = Int32(truncatingIfNeeded: call.length)
    switch names.latest[call.path] {
    case .directory: return
    case .file(let file):
      filesByInode[call.inode] = file
      guard flags & O_TRUNC != 0 else { return }
      files[file]?.resize(to: 0, number: call.begin, end: call.end)
    case nil:
      guard flags & O_CREAT != 0 else {
        throw Unfollowable(description: "\(call.path) is opened, but nobody made it")
      }
      files[call.begin] = DiskFile()
      filesByInode[call.inode] = call.begin
      names.name([call.path: .file(call.begin)], end: call.end)
    }
  }

  private mutating func change(_ call: TracedCall, _ body: (inout DiskFile) -> Void) throws {
    guard let number = filesByInode[call.inode], var file = files.removeValue(forKey: number) else {
      throw Unfollowable(description: "\(call.path) is changed, but nobody opened it")
    }
    body(&file)
    files[number] = file
  }

  private mutating func name(_ call: TracedCall) throws {
    let old = names.latest[call.path]
    switch call.kind {
    case .makeDirectory: names.name([call.path: .directory], end: call.end)
    case .unlink: names.name([call.path: DiskNames.Target?.none], end: call.end)
    default:
      let path = String(decoding: call.data, as: UTF8.self)
      guard let old, old != .directory else {
        throw Unfollowable(description: "\(call.path) is renamed, which isn't a known file")
      }
      names.name([call.path: DiskNames.Target?.none, path: old], end: call.end)
    }
  }

  /// The files of a store as a process sees them, by name.
  package func latestFiles(of store: String) -> [String: [UInt8]] {
    contents(of: store, names.latest) { _, file in file.latestBytes }
  }

  /// The files that last, of a store in a tree of names. Lock files are made anew after a cut.
  func contents(
    of store: String, _ tree: [String: DiskNames.Target],
    _ bytes: (UInt64, DiskFile) -> [UInt8]
  ) -> [String: [UInt8]] {
    var found: [String: [UInt8]] = [:]
    for (path, target) in tree where DiskNames.parent(of: path) == store {
      guard case .file(let number) = target, !path.hasSuffix("-lock"), let file = files[number]
      else { continue }
      found[String(path.dropFirst(store.utf8.count + 1))] = bytes(number, file)
    }
    return found
  }
}
