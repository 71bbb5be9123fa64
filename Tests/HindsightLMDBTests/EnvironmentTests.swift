// Opening environments.

import Foundation
import HindsightLMDB
import Testing

@Suite struct EnvironmentTests {
  @Test func `a new environment has no tables`() throws {
    try withFile { path in
      let environment = try Environment.open(path)
      let table = try environment.table(named: "numbers")
      #expect(table == nil)
    }
  }
}

/// Calls a closure with the path of a file that isn't there yet, and removes it in the end.
func withFile<Result>(_ body: (String) throws -> Result) throws -> Result {
  let directory = FileManager.default.temporaryDirectory.appending(path: "hs-\(UUID().uuidString)")
  try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
  defer { try? FileManager.default.removeItem(at: directory) }
  return try body(directory.appending(path: "data.mdb").path)
}
