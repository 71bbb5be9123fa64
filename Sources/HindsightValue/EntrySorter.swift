// Puts the entries of a map, or the items of a set, into the order of RFC 8949, section 4.2.1.

/// Sorts stretches of a buffer by the items at their beginnings.
struct EntrySorter: ~Copyable {
  private struct Record {
    var prefix: UInt64
    var second: UInt64
    var offset: Int
    var length: Int
  }

  private var records: UnsafeMutableBufferPointer<Record>
  private var scratch: UnsafeMutableRawBufferPointer

  init() {
    records = .allocate(capacity: 64)
    scratch = .allocate(byteCount: 1 << 10, alignment: 8)
  }

  deinit {
    records.deallocate()
    scratch.deallocate()
  }

  /// Sorts the stretches that begin at the entries and reach to the next, or to the end; says
  /// whether two begin with the same item.
  mutating func sort(
    _ entries: UnsafePointer<EncoderEntry>, _ count: Int, in base: UnsafeMutableRawPointer,
    end: Int
  ) -> Bool {
    let start = entries[0].offset
    reserve(count, end - start)
    let source = UnsafeRawPointer(base)
    for index in 0..<count {
      let offset = entries[index].offset
      let next = index + 1 < count ? entries[index + 1].offset : end
      records[index] = Record(
        prefix: entries[index].prefix, second: 0, offset: offset, length: next - offset)
    }
    let hasTwins: Bool
    if count <= 16 {
      hasTwins = Self.insertionSort(records.baseAddress.unsafelyUnwrapped, count, source)
    } else {
      hasTwins = sortMany(count, source)
    }
    guard let target = scratch.baseAddress else { return hasTwins }
    var position = 0
    for index in 0..<count {
      let record = records[index]
      copySmall(target + position, source + record.offset, record.length)
      position += record.length
    }
    (base + start).copyMemory(from: target, byteCount: position)
    return hasTwins
  }

  private mutating func reserve(_ count: Int, _ sizeBytes: Int) {
    if count > records.count {
      records.deallocate()
      records = .allocate(capacity: count * 2)
    }
    if sizeBytes > scratch.count {
      scratch.deallocate()
      scratch = .allocate(byteCount: sizeBytes * 2, alignment: 8)
    }
  }

  private static func insertionSort(
    _ records: UnsafeMutablePointer<Record>, _ count: Int, _ source: UnsafeRawPointer
  ) -> Bool {
    var hasTwins = false
    for index in 1..<count {
      let record = records[index]
      var place = index
      while place > 0 {
        let order = compare(record, records[place - 1], source)
        if order == 0 { hasTwins = true }
        guard order < 0 else { break }
        records[place] = records[place - 1]
        place -= 1
      }
      records[place] = record
    }
    return hasTwins
  }

  private mutating func sortMany(_ count: Int, _ source: UnsafeRawPointer) -> Bool {
    for index in 0..<count {
      // The next eight bytes too, where they are inside the stretch: most keys differ there.
      let record = records[index]
      guard record.length >= 16 else { continue }
      let word = (source + record.offset + 8).loadUnaligned(as: UInt64.self)
      records[index].second = UInt64(bigEndian: word)
    }
    var used = UnsafeMutableBufferPointer(rebasing: records[..<count])
    used.sort { left, right in
      if left.prefix != right.prefix { return left.prefix < right.prefix }
      // Items are prefix-free: where keys differ, they do so before either of them ends.
      let isLong = left.length >= 16 && right.length >= 16
      if isLong, left.second != right.second { return left.second < right.second }
      return Self.compare(left, right, source) < 0
    }
    for index in 1..<count where records[index].prefix == records[index - 1].prefix {
      if Self.compare(records[index], records[index - 1], source) == 0 { return true }
    }
    return false
  }

  /// Compares the items at the beginnings of two stretches by their bytes.
  private static func compare(
    _ left: Record, _ right: Record, _ source: UnsafeRawPointer
  ) -> Int {
    if left.prefix != right.prefix { return left.prefix < right.prefix ? -1 : 1 }
    let a = size(ofItemAt: source + left.offset, left.length)
    let b = size(ofItemAt: source + right.offset, right.length)
    for index in 0..<min(a, b) {
      let x = source.load(fromByteOffset: left.offset + index, as: UInt8.self)
      let y = source.load(fromByteOffset: right.offset + index, as: UInt8.self)
      if x != y { return x < y ? -1 : 1 }
    }
    return a - b
  }

  /// The size of the item, which our own encoder wrote: it is well-formed.
  private static func size(ofItemAt item: UnsafeRawPointer, _ room: Int) -> Int {
    let end = try? CBORSkip.end(ofItemAt: item, item + room, item)
    return (end ?? item + room) - item
  }
}
