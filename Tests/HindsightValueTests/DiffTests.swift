// Differences name each change, and the patches made of them give the other value, always.

import Foundation
import HindsightValue
import Testing

@Suite struct DiffTests {
  private func changes(_ old: String, _ new: String) throws -> [String] {
    Value.difference(from: try Value(json: old), to: try Value(json: new)).map {
      "\($0.pointer) \($0.old?.json ?? "-") \($0.new?.json ?? "-")"
    }
  }

  @Test func `a difference names places with old and new`() throws {
    #expect(try changes("{\"a\":1,\"b\":[1,2]}", "{\"a\":1,\"b\":[1,2]}") == [])
    #expect(try changes("1", "1.0") == [" 1 1.0"])
    #expect(
      try changes("{\"a\":1,\"b\":{\"c\":2},\"d\":3}", "{\"b\":{\"c\":4},\"d\":3,\"e\":null}")
        == ["/a 1 -", "/b/c 2 4", "/e - null"])
    #expect(try changes("[1,2,3,4]", "[1,9,4]") == ["/1 2 9", "/2 3 -"])
    #expect(try changes("[1,2,3,4,5]", "[1,5]") == ["/3 4 -", "/2 3 -", "/1 2 -"])
    #expect(try changes("[1,2]", "[0,1,2,3]") == ["/0 - 0", "/3 - 3"])
    #expect(try changes("[1,2]", "[3,4]") == [" [1,2] [3,4]"])
    #expect(try changes("{\"a~\":[{\"b/\":1}]}", "{\"a~\":[{\"b/\":2}]}") == ["/a~0/0/b~1 1 2"])
    #expect(try changes("{\"a\":\"e\u{301}\"}", "{\"a\":\"\u{e9}\"}").count == 1)
  }

  @Test func `a map with other keys than text is compared key by key`() throws {
    let old = "{\"$map\":[[1,\"a\"],[2,{\"x\":1}],[3,3]]}"
    #expect(
      try changes(old, "{\"$map\":[[2,{\"x\":2}],[3,3],[-5,0]]}")
        == ["/2/x 1 2", "/-5 - 0", "/1 \"a\" -"])
    #expect(try changes(old, "{}").count == 3)
    #expect(try changes("{}", old).count == 1)
    #expect(try changes(old, "{\"$map\":[[1,\"a\"],[\"1\",\"b\"]]}").count == 1)
  }

  @Test func `a patch between two values makes one of the other`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<20_000 {
      let old = Value.random(depth: 4, &generator)
      var new = generator.chance(50) ? old : Value.random(depth: 4, &generator)
      for _ in 0..<Int.random(in: 0...4, using: &generator) {
        guard let (pointer, _) = new.randomPlace(&generator) else { continue }
        let value = Value.random(depth: 2, &generator)
        if generator.chance(50) { _ = try? new.remove(at: pointer) }
        _ = try? new.add(value, at: pointer)
      }
      let patch = JSONPatch(from: old, to: new)
      var value = old
      try value.apply(patch)
      guard value == new else {
        Issue.record("\(patch.value.json) made \(value.json) of \(old.json), not \(new.json)")
        return
      }
      #expect((old == new) == patch.operations.isEmpty)
      #expect(try JSONPatch(try Value(json: patch.value.json)) == patch)
    }
  }

  @Test func `a patch between similar arrays has no more operations than it must`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<60 {
      let kinds = generator.chance(50) ? 1_000_000 : 20
      let old = (0..<2_000).map { _ in
        Value.unsigned(UInt64.random(in: 0..<UInt64(kinds), using: &generator))
      }
      var new = old
      // To keep the most elements, an exchanged one may be removed here and inserted there.
      var most = 0
      for _ in 0..<Int.random(in: 1...40, using: &generator) {
        let index = Int.random(in: new.indices, using: &generator)
        switch Int.random(in: 0..<3, using: &generator) {
        case 0: new.remove(at: index)
        case 1: new.insert(.null, at: index)
        default:
          new[index] = .bool(true)
          most += 1
        }
        most += 1
      }
      let patch = JSONPatch(from: .array(old), to: .array(new))
      #expect(patch.operations.count <= most)
      var value = Value.array(old)
      try value.apply(patch)
      #expect(value == .array(new))
    }
  }

  @Test func `short arrays keep as many elements as can be kept`() throws {
    var generator = SeededGenerator.forTest()
    for _ in 0..<3_000 {
      let length = 0...12
      let old = (0..<Int.random(in: length, using: &generator)).map { _ in
        Int.random(in: 0..<4, using: &generator)
      }
      let new = (0..<Int.random(in: length, using: &generator)).map { _ in
        Int.random(in: 0..<4, using: &generator)
      }
      let kept = longestCommonLength(old, new)
      let changes = Value.difference(
        from: .array(old.map { .integer(Int64($0)) }), to: .array(new.map { .integer(Int64($0)) }))
      if changes.first?.pointer == .root {
        #expect(kept == 0)
      } else {
        let removed = changes.count { $0.old != nil }
        #expect(old.count - removed == kept)
      }
    }
  }

  private func longestCommonLength(_ old: [Int], _ new: [Int]) -> Int {
    var row = [Int](repeating: 0, count: new.count + 1)
    for x in old {
      var diagonal = 0
      for (index, y) in new.enumerated() {
        let above = row[index + 1]
        row[index + 1] = x == y ? diagonal + 1 : max(above, row[index])
        diagonal = above
      }
    }
    return row[new.count]
  }

  @Test func `a large block that moves is found beyond the limit of edits`() throws {
    let old = (0..<20_000).map { Value.unsigned($0) }
    let new = Array(old[5_000...] + old[..<5_000])
    let patch = JSONPatch(from: .array(old), to: .array(new))
    #expect(patch.operations.count == 10_000)
    var value = Value.array(old)
    try value.apply(patch)
    #expect(value == .array(new))
  }

  @Test(.timeLimit(.minutes(10)), arguments: [2, 100, 1_000_000_000])
  func `two unrelated arrays of 100,000 elements are compared within bounds`(kinds: UInt64) throws {
    var generator = SeededGenerator.forTest()
    let arrays = (0..<2).map { _ in
      (0..<100_000).map { _ in Value.unsigned(UInt64.random(in: 0..<kinds, using: &generator)) }
    }
    // This thread's own time: what else the machine does isn't the comparison's cost.
    let start = threadSeconds()
    let patch = JSONPatch(from: .array(arrays[0]), to: .array(arrays[1]))
    #expect(patch.operations.count <= 200_000)
    var value = Value.array(arrays[0])
    try value.apply(patch)
    #expect(value == .array(arrays[1]))
    #expect(threadSeconds() - start < 20)
  }

  @Test func `deep values are compared and patched on a small stack`() async throws {
    let depth = Value.jsonDepthLimit
    func text(_ leaf: String) -> String {
      String(repeating: "{\"a\":[", count: depth / 2) + leaf
        + String(repeating: "]}", count: depth / 2)
    }
    let (old, new) = (text("1"), text("2"))
    let count = await onSmallStack(sizeBytes: comparingStackSizeBytes) {
      guard let a = try? Value(json: old), let b = try? Value(json: new) else { return -1 }
      let patch = JSONPatch(from: a, to: b)
      var value = a
      guard (try? value.apply(patch)) != nil, value.json == new else { return -2 }
      return patch.operations.count
    }
    #expect(count == 1)
  }
}

/// What comparing and hashing values of 512 levels takes, which recurse: much more without
/// optimisation.
#if DEBUG
  private let comparingStackSizeBytes = 4 << 20
#else
  private let comparingStackSizeBytes = 512 << 10
#endif

/// How long the calling thread has been computing, in seconds.
private func threadSeconds() -> Double {
  var time = timespec()
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
