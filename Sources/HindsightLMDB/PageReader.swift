// Reads a data file page by page, with `pread` and not through the map: a page that isn't there is
// an answer here, where in the map it is a signal that ends the process.
// It always holds: nothing read from the file is trusted to be in bounds.
//
//   page    8 page number, 2 padding, 2 flags, 2 end of the node pointers, 2 start of the nodes
//           (overflow: 4 number of pages), then 2 a node pointer
//   node    2 + 2 size of the value, low and high (branch: low and middle of the child's number),
//           2 flags (branch: high part of the number), 2 size of the key, key, value

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A tree's description, as a meta page or the main table's leaf holds it (48 bytes).
struct TreeDescription: Equatable {
  static let size = 48
  static let noRoot = UInt64.max
  /// No tree is deeper, of all that fit into a file.
  static let depthMax = 32

  let padding: UInt32
  let flags: UInt16
  let depth: Int
  let branchPageCount: UInt64
  let leafPageCount: UInt64
  let overflowPageCount: UInt64
  let entryCount: UInt64
  let root: UInt64

  init(_ bytes: UnsafeRawBufferPointer) {
    padding = bytes.loadUnaligned(as: UInt32.self)
    flags = bytes.loadUnaligned(fromByteOffset: 4, as: UInt16.self)
    depth = Int(bytes.loadUnaligned(fromByteOffset: 6, as: UInt16.self))
    branchPageCount = bytes.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
    leafPageCount = bytes.loadUnaligned(fromByteOffset: 16, as: UInt64.self)
    overflowPageCount = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    entryCount = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    root = bytes.loadUnaligned(fromByteOffset: 40, as: UInt64.self)
  }

  /// Whether the flags are those of the free list (whose keys are numbers), or of a table.
  ///
  /// The free list's hold some of the environment's, too: that the path is that of the file.
  func hasFlags(ofFreeList isFreeList: Bool) -> Bool {
    isFreeList ? flags & ~0x4000 == 8 : flags == 0 && padding == 0
  }

  /// How many pages the tree and its values have, by its own count; nil where that is impossible.
  var pageCount: UInt64? {
    var sum: UInt64 = 0
    for count in [branchPageCount, leafPageCount, overflowPageCount] {
      let (result, isOver) = sum.addingReportingOverflow(count)
      if isOver { return nil }
      sum = result
    }
    return sum
  }
}

/// Access to a data file's pages.
struct PageReader {
  let descriptor: Int32
  let pageSize: Int
  /// The newest refusal of the system to read: that says nothing of what is in the file.
  let refusal = ReadRefusal()

  /// The number of whole pages that the file has.
  func pageCount() -> UInt64 {
    var information = stat()
    guard fstat(descriptor, &information) == 0 else { return 0 }
    return UInt64(information.st_size) / UInt64(pageSize)
  }

  /// A page's bytes, or nil where the file ends before their end or can't be read.
  func page(_ number: UInt64) -> [UInt8]? { bytes(of: number, count: pageSize) }

  /// The first bytes of a page.
  func bytes(of number: UInt64, count: Int) -> [UInt8]? {
    let (offset, overflow) = number.multipliedReportingOverflow(by: UInt64(pageSize))
    guard !overflow, let offset = off_t(exactly: offset) else { return nil }
    let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initializedCount in
      while initializedCount < count, let base = buffer.baseAddress {
        let result = pread(
          descriptor, base + initializedCount, count - initializedCount,
          offset + off_t(initializedCount))
        if result < 0, errno == EINTR { continue }
        if result < 0 { refusal.number = errno }
        guard result > 0 else { break }
        initializedCount += result
      }
    }
    return bytes.count == count ? bytes : nil
  }
}

/// Why pages couldn't be read, as an `errno`; nil where the system gave all that there is.
final class ReadRefusal {
  var number: Int32?
}

/// A branch or leaf page, whose nodes were found to lie inside of it.
struct TreePage {
  struct Node {
    let key: Range<Int>
    /// The value in a leaf, where it isn't on pages of its own.
    let value: Range<Int>
    /// The child's page, or the value's first page.
    let page: UInt64
    let flags: UInt16
    let valueSize: Int
  }

  /// Flags of nodes in leaves.
  static let hasPages: UInt16 = 1
  static let isTree: UInt16 = 2

  let bytes: [UInt8]
  let isLeaf: Bool
  let nodes: [Node]

  /// Reads a page, or says in what it isn't one.
  init(_ bytes: [UInt8], number: UInt64) throws(PageError) {
    let read = bytes.withUnsafeBytes { bytes in
      Result { () throws(PageError) in try Self.read(bytes, number: number) }
    }
    (isLeaf, nodes) = try read.get()
    self.bytes = bytes
  }

  private static func read(
    _ bytes: UnsafeRawBufferPointer, number: UInt64
  ) throws(PageError) -> (isLeaf: Bool, nodes: [Node]) {
    guard bytes.loadUnaligned(as: UInt64.self) == number else {
      throw PageError("page \(number) has another page's number")
    }
    let flags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    guard flags == 1 || flags == 2 else {
      throw PageError("page \(number) is neither a branch nor a leaf (flags \(flags))")
    }
    let lower = Int(bytes.loadUnaligned(fromByteOffset: 12, as: UInt16.self))
    let upper = Int(bytes.loadUnaligned(fromByteOffset: 14, as: UInt16.self))
    guard lower >= PageLayout.headerSize, lower <= upper, upper <= bytes.count, lower & 1 == 0
    else { throw PageError("page \(number) has impossible bounds") }
    var nodes: [Node] = []
    nodes.reserveCapacity((lower - PageLayout.headerSize) / 2)
    for offset in stride(from: PageLayout.headerSize, to: lower, by: 2) {
      let start = Int(bytes.loadUnaligned(fromByteOffset: offset, as: UInt16.self))
      guard let node = Self.node(bytes, at: start, isLeaf: flags == 2), start >= upper else {
        throw PageError("page \(number) has a node that doesn't lie on it")
      }
      nodes.append(node)
    }
    return (flags == 2, nodes)
  }

  private static func node(
    _ bytes: UnsafeRawBufferPointer, at start: Int, isLeaf: Bool
  ) -> Node? {
    guard start + PageLayout.nodeHeaderSize <= bytes.count else { return nil }
    let low = UInt64(bytes.loadUnaligned(fromByteOffset: start, as: UInt16.self))
    let high = UInt64(bytes.loadUnaligned(fromByteOffset: start + 2, as: UInt16.self))
    let flags = bytes.loadUnaligned(fromByteOffset: start + 4, as: UInt16.self)
    let keySize = Int(bytes.loadUnaligned(fromByteOffset: start + 6, as: UInt16.self))
    let keyStart = start + PageLayout.nodeHeaderSize
    let valueStart = keyStart + keySize
    guard valueStart <= bytes.count else { return nil }
    let number = low | high << 16
    guard isLeaf else {
      return Node(
        key: keyStart..<valueStart, value: valueStart..<valueStart,
        page: number | UInt64(flags) << 32, flags: 0, valueSize: 0)
    }
    let inlineSize = flags & hasPages != 0 ? 8 : Int(number)
    guard valueStart + inlineSize <= bytes.count else { return nil }
    let page =
      flags & hasPages != 0 ? bytes.loadUnaligned(fromByteOffset: valueStart, as: UInt64.self) : 0
    return Node(
      key: keyStart..<valueStart, value: valueStart..<(valueStart + inlineSize), page: page,
      flags: flags, valueSize: Int(number))
  }
}

/// What is wrong with a page, in words.
struct PageError: Error {
  let message: String
  init(_ message: String) { self.message = message }
}
