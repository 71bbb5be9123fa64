// A text that is edited at Unicode scalar positions.
// It always holds: exactly the scalars that were put in, never normalised, never a part of one.

/// A text that is cheap to edit anywhere and cheap to copy.
///
/// Positions and counts are Unicode scalars: neither bytes nor Swift's `Character`s, so that a
/// position means the same whatever combines with what is next to it.
///
/// The text is kept in chunks of up to 4 KiB, which copies share: an edit of a copy copies the
/// references to n chunks and the bytes of one of them. An edit of an unshared text is O(log n),
/// plus what is inserted or deleted; one that divides or joins chunks is O(n) in the chunks.
///
/// Encoded as a string.
public struct EditableText: Sendable {
  /// The parts of the text, in order; none is empty.
  private(set) var chunks: [TextChunk]
  private var index: TextIndex
  /// The number of Unicode scalars. O(1).
  public private(set) var scalarCount: Int
  /// The number of bytes in UTF-8. O(1).
  public private(set) var utf8Count: Int

  /// An empty text.
  public init() {
    chunks = []
    index = TextIndex()
    scalarCount = 0
    utf8Count = 0
  }

  /// The text of a string. O(n).
  public init(_ string: String) {
    var string = string
    chunks = string.withUTF8 { TextChunk.chunks(of: $0) }
    index = TextIndex(chunks)
    scalarCount = chunks.reduce(0) { $0 + $1.scalarCount }
    utf8Count = chunks.reduce(0) { $0 + $1.bytes.count }
  }

  /// Whether there is no scalar.
  public var isEmpty: Bool { scalarCount == 0 }

  /// The whole text. O(n).
  public var string: String {
    String(unsafeUninitializedCapacity: utf8Count) { buffer in
      var end = 0
      for chunk in chunks {
        let rest = UnsafeMutableBufferPointer(rebasing: buffer[end...])
        end += rest.initialize(fromContentsOf: chunk.bytes)
      }
      return end
    }
  }

  /// Replaces a number of scalars from a position on by a string.
  ///
  /// - Parameters:
  ///   - position: the first scalar to delete, and where to insert, in scalars.
  ///   - count: how many scalars to delete.
  ///   - inserted: what to put there.
  /// - Throws: ``TextRangeError`` where the text has no such scalars; then nothing has changed.
  public mutating func replace(
    position: Int, count: Int, with inserted: String
  ) throws(TextRangeError) {
    guard position >= 0, count >= 0, position <= scalarCount, count <= scalarCount - position else {
      throw TextRangeError(position: position, count: count, scalarCount: scalarCount)
    }
    var inserted = inserted
    inserted.withUTF8 { replace(position, count, with: $0) }
  }

  private mutating func replace(
    _ position: Int, _ count: Int, with inserted: UnsafeBufferPointer<UInt8>
  ) {
    guard count > 0 || !inserted.isEmpty else { return }
    // What is inserted goes to the end of a chunk, as the next insertion probably does; what is
    // deleted is looked for where it is.
    let first = index.find(position, atEndOfFirst: count == 0 && position > 0)
    let last = count == 0 ? first : index.find(position + count, atEndOfFirst: true)
    let insertedScalars = TextScalars.count(inserted)
    scalarCount += insertedScalars - count
    guard !chunks.isEmpty else {
      utf8Count += inserted.count
      return exchange(0..<0, for: TextChunk.chunks(of: inserted))
    }
    let start = chunks[first.chunk].byteOffset(ofScalar: first.position)
    let end = chunks[last.chunk].byteOffset(ofScalar: last.position)
    if first.chunk == last.chunk {
      let size = chunks[first.chunk].bytes.count + inserted.count - (end - start)
      if size > 0 && size <= TextChunk.sizeLimitBytes {
        utf8Count += inserted.count - (end - start)
        chunks[first.chunk].replace(
          start..<end, removedScalars: count, with: inserted, insertedScalars: insertedScalars)
        index.add(insertedScalars - count, toChunk: first.chunk)
        if count > 0 { joinShortChunks(first.chunk..<first.chunk + 1) }
        return
      }
    }
    let old = chunks[first.chunk...last.chunk].reduce(0) { $0 + $1.bytes.count }
    let bytes =
      chunks[first.chunk].bytes[..<start] + inserted + chunks[last.chunk].bytes[end...]
    utf8Count += bytes.count - old
    let new = bytes.withUnsafeBufferPointer { TextChunk.chunks(of: $0) }
    exchange(first.chunk..<last.chunk + 1, for: new)
  }

  /// Puts chunks in the place of others. O(n) in all chunks.
  private mutating func exchange(_ range: Range<Int>, for new: [TextChunk]) {
    chunks.replaceSubrange(range, with: new)
    index = TextIndex(chunks)
    joinShortChunks(range.lowerBound..<range.lowerBound + new.count)
  }

  /// Joins chunks of a range with each other and with their neighbours where one is short.
  private mutating func joinShortChunks(_ range: Range<Int>) {
    var left = max(0, range.lowerBound - 1)
    var end = min(range.upperBound, chunks.count - 1)
    var hasJoined = false
    while left < end {
      guard Self.shouldJoin(chunks[left], chunks[left + 1]) else {
        left += 1
        continue
      }
      let right = chunks.remove(at: left + 1)
      chunks[left].append(right)
      end -= 1
      left = max(0, left - 1)
      hasJoined = true
    }
    if hasJoined { index = TextIndex(chunks) }
  }

  private static func shouldJoin(_ left: TextChunk, _ right: TextChunk) -> Bool {
    min(left.bytes.count, right.bytes.count) < TextChunk.shortSizeBytes
      && left.bytes.count + right.bytes.count <= TextChunk.fillLimitBytes
  }

  /// How many chunks there are, and how many of them share their bytes with one of another text.
  /// For tests.
  package func sharedChunks(with other: EditableText) -> (count: Int, shared: Int) {
    let addresses = Set(other.chunks.map { $0.bytes.withUnsafeBytes { $0.baseAddress } })
    let shared = chunks.count { addresses.contains($0.bytes.withUnsafeBytes { $0.baseAddress }) }
    return (chunks.count, shared)
  }

  /// What doesn't hold of the parts of this text, or nil. For tests.
  package var brokenInvariant: String? {
    var scalars = 0
    var size = 0
    for (number, chunk) in chunks.enumerated() {
      guard index.sum(before: number) == scalars else { return "index of chunk \(number)" }
      let string = String(validating: chunk.bytes, as: UTF8.self)
      guard let string else { return "UTF-8 of chunk \(number)" }
      guard chunk.scalarCount == string.unicodeScalars.count else { return "count of \(number)" }
      guard (1...TextChunk.sizeLimitBytes).contains(chunk.bytes.count) else {
        return "size of chunk \(number)"
      }
      if number > 0, Self.shouldJoin(chunks[number - 1], chunk) { return "short chunk \(number)" }
      scalars += chunk.scalarCount
      size += chunk.bytes.count
    }
    guard index.sum(before: chunks.count) == scalars else { return "index" }
    return scalars == scalarCount && size == utf8Count ? nil : "counts"
  }
}

extension EditableText: Equatable {
  /// Whether two texts have the same scalars, however they are divided. O(n), but less for chunks
  /// that are shared.
  public static func == (left: EditableText, right: EditableText) -> Bool {
    guard left.utf8Count == right.utf8Count, left.scalarCount == right.scalarCount else {
      return false
    }
    var (a, b) = (0, 0)
    var (aOffset, bOffset) = (0, 0)
    while a < left.chunks.count, b < right.chunks.count {
      let (x, y) = (left.chunks[a].bytes, right.chunks[b].bytes)
      let count = min(x.count - aOffset, y.count - bOffset)
      if aOffset == 0, bOffset == 0, count == x.count, count == y.count {
        guard x == y else { return false }
      } else {
        guard x[aOffset..<aOffset + count] == y[bOffset..<bOffset + count] else { return false }
      }
      (aOffset, bOffset) = (aOffset + count, bOffset + count)
      if aOffset == x.count { (a, aOffset) = (a + 1, 0) }
      if bOffset == y.count { (b, bOffset) = (b + 1, 0) }
    }
    return true
  }
}

extension EditableText: Codable {
  /// Reads a text as a plain string, which any `String` decodes as, too.
  public init(from decoder: any Decoder) throws {
    self.init(try decoder.singleValueContainer().decode(String.self))
  }

  /// Writes the text as a plain string.
  public func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(string)
  }
}

/// An edit of scalars that a text doesn't have.
public struct TextRangeError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The position asked for, in Unicode scalars.
  public let position: Int
  /// How many scalars were to be deleted.
  public let count: Int
  /// How many scalars the text has.
  public let scalarCount: Int

  /// An error for a position and count, in scalars, in a text of so many scalars.
  public init(position: Int, count: Int, scalarCount: Int) {
    self.position = position
    self.count = count
    self.scalarCount = scalarCount
  }

  /// Which scalars there aren't, and how many there are.
  public var description: String {
    "no \(count) scalars at position \(position): the text has \(scalarCount) scalars"
  }
}
