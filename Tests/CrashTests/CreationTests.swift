// Processes that come to a store at the same time, when it isn't there yet.

import CrashHarness
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

  @Test func `a store whose making was cut off is made by the next process`() async throws {
    var generator = SeededGenerator.forTest("kills while a store is made")
    for round in 0..<25 {
      let directory = try TestDirectory()
      let path = directory.path + "/new.hindsight"
      let delay = Duration.microseconds(generator.below(12_000))
      let problems = try await onThread {
        var task = ChildTask(.mixed, path: path)
        task.taskCount = 4
        task.snapshotEvery = 2
        let child = try ChildProcess(task)
        var lines = try [child.next()].compactMap(\.self)
        spin(delay)
        child.kill()
        lines += try child.remaining()
        var oracle = StoreOracle(path: path)
        oracle.add(lines)
        task.run = 1
        task.stepCount = 1
        oracle.add(try ChildProcess(task).remaining())
        let (head, problems) = try oracle.check()
        return problems + (head >= 4 ? [] : ["it ends at \(head)"])
      }
      #expect(problems.isEmpty, "round \(round), after \(delay): \(problems.prefix(5))")
    }
  }
}
