// Processes that come to a store at the same time, when it isn't there yet.

import CrashLedger
import Testing

@Suite struct CreationTests {
  @Test func `processes that make one store at the same time all use it`() async throws {
    for round in 0..<6 {
      let directory = try TestDirectory()
      let path = directory.path + "/new.hindsight"
      let (head, problems) = try await onThread {
        let children = try (0..<6).map { number in
          var task = ChildTask(.mixed, path: path)
          task.run = number
          task.taskCount = 2
          task.stepCount = 3
          task.snapshotEvery = 5
          return try ChildProcess(task)
        }
        var oracle = StoreOracle(path: path)
        for child in children { oracle.add(try child.remaining()) }
        var (head, problems) = try oracle.check()
        if oracle.acknowledged.count != Int(head) { problems.append("not all was acknowledged") }
        return (head, problems)
      }
      #expect(head >= 6 * 2 * 3)
      #expect(problems.isEmpty, "round \(round): \(problems.prefix(5))")
    }
  }
}
