// A piece of an editable text, and the index that finds pieces by scalar position.
// It always holds: a piece is whole Unicode scalars in valid UTF-8, and knows how many.

/// A few kilobytes of a text. Copies share their bytes until one of them changes.
struct TextChunk: Sendable, Equatable {
  /// No chunk is longer; a longer one is divided.
  static let sizeLimitBytes = 4096
  /// What dividing fills a chunk with at most, so that it has room.
  static let fillLimitBytes = 3072
  /// A shorter chunk is joined with a neighbour if both fit in a filled one.
  static let shortSizeBytes = 1024

  private(set) var bytes: [UInt8]
  private(set) var scalarCount: Int

  init(_ bytes: some Collection<UInt8>) {
    self.bytes = Array(bytes)
    scalarCount = self.bytes.withUnsafeBufferPointer { TextScalars.count($0) }
  }

  /// The offset of a scalar, or of the end. O(1) in ASCII, else O(n) in the chunk.
  func byteOffset(ofScalar position: Int) -> Int {
    if bytes.count == scalarCount { return position }
    if position == scalarCount { return bytes.count }
    return bytes.withUnsafeBufferPointer { TextScalars.offset(of: position, in: $0) }
  }

  /// Replaces bytes between two scalars. O(n) in the chunk.
  mutating func replace(
    _ range: Range<Int>, removedScalars: Int, with inserted: UnsafeBufferPointer<UInt8>,
    insertedScalars: Int
  ) {
    bytes.replaceSubrange(range, with: inserted)
    scalarCount += insertedScalars - removedScalars
  }

  /// Appends the bytes of another chunk.
  mutating func append(_ other: TextChunk) {
    bytes += other.bytes
    scalarCount += other.scalarCount
  }

  /// The chunks of a text of any length: about equally long, none above the fill limit, but one
  /// alone may be as long as a chunk can be.
  static func chunks(of text: UnsafeBufferPointer<UInt8>) -> [TextChunk] {
    guard !text.isEmpty else { return [] }
    guard text.count > sizeLimitBytes else { return [TextChunk(text)] }
    let count = (text.count + fillLimitBytes - 1) / fillLimitBytes
    var chunks: [TextChunk] = []
    chunks.reserveCapacity(count)
    var start = 0
    for number in 1...count {
      var end = text.count / count * number + text.count % count * number / count
      while end < text.count, TextScalars.isContinuation(text[end]) { end -= 1 }
      chunks.append(TextChunk(UnsafeBufferPointer(rebasing: text[start..<end])))
      start = end
    }
    return chunks
  }
}

/// Counting of Unicode scalars in valid UTF-8, eight bytes at a time.
enum TextScalars {
  @inline(__always)
  static func isContinuation(_ byte: UInt8) -> Bool { byte & 0xc0 == 0x80 }

  /// How many of eight bytes begin a scalar.
  @inline(__always)
  private static func starts(_ bytes: UnsafeRawPointer) -> Int {
    let word = bytes.loadUnaligned(as: UInt64.self)
    return 8 - ((word >> 7) & ~(word >> 6) & 0x0101_0101_0101_0101).nonzeroBitCount
  }

  /// The number of scalars. O(n).
  static func count(_ text: UnsafeBufferPointer<UInt8>) -> Int {
    guard let base = UnsafeRawPointer(text.baseAddress) else { return 0 }
    var count = 0
    var offset = 0
    while offset + 8 <= text.count {
      count += starts(base + offset)
      offset += 8
    }
    for byte in text[offset...] where !isContinuation(byte) { count += 1 }
    return count
  }

  /// The offset of a scalar, or of the end. O(n).
  static func offset(of position: Int, in text: UnsafeBufferPointer<UInt8>) -> Int {
    guard let base = UnsafeRawPointer(text.baseAddress) else { return 0 }
    var remaining = position
    var offset = 0
    while offset + 8 <= text.count {
      let starts = starts(base + offset)
      guard starts <= remaining else { break }
      remaining -= starts
      offset += 8
    }
    while offset < text.count {
      if !isContinuation(text[offset]) {
        if remaining == 0 { break }
        remaining -= 1
      }
      offset += 1
    }
    return offset
  }
}

/// The scalar counts of chunks as a Fenwick tree: sums up to a chunk, and the chunk of a sum, are
/// found in O(log n), and one chunk's count changes in O(log n).
struct TextIndex: Sendable {
  /// Element i, from 1, is the sum of the counts of the `i & -i` chunks that end with chunk i - 1.
  private var sums: [Int] = [0]

  init() {}

  /// O(n).
  init(_ chunks: [TextChunk]) {
    sums = [Int](repeating: 0, count: chunks.count + 1)
    for index in 1..<sums.count {
      sums[index] += chunks[index - 1].scalarCount
      let parent = index + (index & -index)
      if parent < sums.count { sums[parent] += sums[index] }
    }
  }

  mutating func add(_ difference: Int, toChunk chunk: Int) {
    var index = chunk + 1
    while index < sums.count {
      sums[index] += difference
      index += index & -index
    }
  }

  /// The chunk of a scalar position, and the position in it. A position between two chunks belongs
  /// to the end of the first, or the beginning of the second.
  func find(_ position: Int, atEndOfFirst: Bool) -> (chunk: Int, position: Int) {
    var index = 0
    // One less than asked for, so that a sum that is just reached doesn't count as passed.
    var remaining = atEndOfFirst ? position - 1 : position
    var step = 1 << (Int.bitWidth - 1 - max(1, sums.count - 1).leadingZeroBitCount)
    while step > 0 {
      let next = index + step
      if next < sums.count, sums[next] <= remaining {
        index = next
        remaining -= sums[next]
      }
      step >>= 1
    }
    return (index, atEndOfFirst ? remaining + 1 : remaining)
  }

  /// The number of scalars before a chunk, for checking.
  func sum(before chunk: Int) -> Int {
    var index = chunk
    var sum = 0
    while index > 0 {
      sum += sums[index]
      index -= index & -index
    }
    return sum
  }
}
