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

  /// Whether sorting something large has left buffers that aren't worth keeping.
  var isLarge: Bool { scratch.count > 1 << 20 || records.count > 1 << 15 }

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
    let source = UnsafeRawPointer(base)
    if count == 2 { return sortTwo(entries[0], entries[1], in: base, end: end) }
    reserve(count, end - start)
    let records = records.baseAddress.unsafelyUnwrapped
    var hasTwins = false
    if count <= 24 {
      hasTwins = Self.insertionSort(entries, records, count, source, end)
    } else {
      hasTwins = sortMany(entries, count, source, end)
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

  /// Puts two stretches in order: only the first is moved aside.
  private mutating func sortTwo(
    _ first: EncoderEntry, _ second: EncoderEntry, in base: UnsafeMutableRawPointer, end: Int
  ) -> Bool {
    let (a, b) = (second.offset - first.offset, end - second.offset)
    var order = first.prefix < second.prefix ? -1 : 1
    if first.prefix == second.prefix {
      order = Self.compare(
        Record(prefix: first.prefix, second: 0, offset: first.offset, length: a),
        Record(prefix: second.prefix, second: 0, offset: second.offset, length: b),
        UnsafeRawPointer(base))
    }
    guard order > 0 else { return order == 0 }
    reserve(0, a)
    guard let aside = scratch.baseAddress else { return false }
    copySmall(aside, base + first.offset, a)
    (base + first.offset).copyMemory(from: base + second.offset, byteCount: b)
    copySmall(base + first.offset + b, aside, a)
    return false
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

  /// Each entry takes its place among those before it, which is close to where it is.
  @inline(__always)
  private static func insertionSort(
    _ entries: UnsafePointer<EncoderEntry>, _ records: UnsafeMutablePointer<Record>, _ count: Int,
    _ source: UnsafeRawPointer, _ end: Int
  ) -> Bool {
    var hasTwins = false
    var next = end
    var index = count &- 1
    // From the last to the first: the end of a stretch is the beginning of the one behind it.
    while index >= 0 {
      let entry = entries[index]
      let record = Record(
        prefix: entry.prefix, second: 0, offset: entry.offset, length: next &- entry.offset)
      next = entry.offset
      var place = index
      while place < count &- 1 {
        let other = records[place &+ 1]
        if _fastPath(record.prefix != other.prefix) {
          if record.prefix < other.prefix { break }
        } else {
          let order = compare(record, other, source)
          if order == 0 { hasTwins = true }
          if order <= 0 { break }
        }
        records[place] = other
        place &+= 1
      }
      records[place] = record
      index &-= 1
    }
    return hasTwins
  }

  private mutating func sortMany(
    _ entries: UnsafePointer<EncoderEntry>, _ count: Int, _ source: UnsafeRawPointer, _ end: Int
  ) -> Bool {
    for index in 0..<count {
      let offset = entries[index].offset
      let next = index + 1 < count ? entries[index + 1].offset : end
      var record = Record(
        prefix: entries[index].prefix, second: 0, offset: offset, length: next - offset)
      if record.length >= 16 {
        // The next eight bytes too, where they are inside the stretch: most keys differ there.
        let word = (source + offset + 8).loadUnaligned(as: UInt64.self)
        record.second = UInt64(bigEndian: word)
      }
      records[index] = record
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
