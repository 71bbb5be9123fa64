// Finds the repository that this file was compiled from, and reads its files.
// It always holds: what git would not track (builds, stores, editors' folders) is left out.

import Foundation
import Testing

/// The repository's text files.
struct Repository {
  let root: URL
  let files: [ProjectFile]

  /// Reads every text file of the folders that belong to the project, and of the top level.
  init(root: URL) throws {
    self.root = root
    var files: [ProjectFile] = []
    for entry in try Self.topLevel(of: root) {
      let url = root.appendingPathComponent(entry)
      var isFolder: ObjCBool = false
      guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder) else {
        continue
      }
      let paths = isFolder.boolValue ? try Self.paths(below: url, named: entry) : [entry]
      for path in paths {
        let bytes = try Data(contentsOf: root.appendingPathComponent(path))
        // Fixtures may be binary; rules are about text.
        guard !bytes.contains(0), let text = String(bytes: bytes, encoding: .utf8) else { continue }
        files.append(ProjectFile(path: path, text: text))
      }
    }
    self.files = files.sorted { $0.path < $1.path }
  }

  /// The repository that holds this very file.
  static func ofThisFile(_ path: String = #filePath) throws -> Repository {
    let root = URL(fileURLWithPath: path)
      .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
    return try Repository(root: root)
  }

  /// What stands at the top, without what git and builds put there.
  static func topLevel(of root: URL) throws -> [String] {
    let passing = [".git", ".build", ".swiftpm", ".vscode", ".idea", ".DS_Store", "DerivedData"]
    return try FileManager.default.contentsOfDirectory(atPath: root.path)
      .filter { !passing.contains($0) && !$0.hasSuffix(".hindsight") }
      .sorted()
  }

  private static func paths(below folder: URL, named name: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: folder.path).compactMap { path in
      let parts = path.split(separator: "/")
      if parts.contains(".build") || parts.contains(".swiftpm") { return nil }
      let file = folder.appendingPathComponent(path)
      let values = try file.resourceValues(forKeys: [.isRegularFileKey])
      return values.isRegularFile == true ? "\(name)/\(path)" : nil
    }
  }
}
