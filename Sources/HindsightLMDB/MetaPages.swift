// LMDB's two meta pages, read from the file: is it one of LMDB's, are they as LMDB leaves them, and
// what do its trees start from.
// It always holds: LMDB itself opens no file whose meta pages contradict each other. It takes the
// one with the larger transaction number on trust, and so would go back to an older state.
//
//   page header (16 bytes)   8 page number, 2 padding, 2 flags, 4 bounds
//   meta                     4 magic, 4 version, 8 address, 8 map size,
//                            2 × 48 free list and main table, 8 last page, 8 transaction

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// What a meta page says.
struct MetaPage: Equatable {
  static let size = 152
  static let magic: UInt32 = 0xbeef_c0de
  static let magicOffset = 16
  static let version: UInt32 = 1
  private static let pageFlag: UInt16 = 8

  let number: UInt64
  let flags: UInt16
  let magic: UInt32
  let version: UInt32
  let address: UInt64
  let mapSize: UInt64
  let freeList: TreeDescription
  let mainTable: TreeDescription
  let lastPage: UInt64
  let transaction: UInt64

  init(_ bytes: UnsafeRawBufferPointer) {
    func tree(at offset: Int) -> TreeDescription {
      TreeDescription(
        UnsafeRawBufferPointer(rebasing: bytes[offset..<(offset + TreeDescription.size)]))
    }
    number = bytes.loadUnaligned(as: UInt64.self)
    flags = bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self)
    magic = bytes.loadUnaligned(fromByteOffset: Self.magicOffset, as: UInt32.self)
    version = bytes.loadUnaligned(fromByteOffset: 20, as: UInt32.self)
    address = bytes.loadUnaligned(fromByteOffset: 24, as: UInt64.self)
    mapSize = bytes.loadUnaligned(fromByteOffset: 32, as: UInt64.self)
    freeList = tree(at: 40)
    mainTable = tree(at: 88)
    lastPage = bytes.loadUnaligned(fromByteOffset: 136, as: UInt64.self)
    transaction = bytes.loadUnaligned(fromByteOffset: 144, as: UInt64.self)
  }

  /// The size of the file's pages, which LMDB keeps in a place that the free list has no use for.
  var pageSize: UInt32 { freeList.padding }

  /// What is wrong with it as the page of a number, in words; nil in a sound file.
  func problem(asPage expected: UInt64) -> String? {
    let isPage =
      number == expected && flags == Self.pageFlag && magic == Self.magic
      && version == Self.version
    guard isPage else { return "meta page \(expected) isn't one" }
    guard pageSize.nonzeroBitCount == 1, (256...0x1_0000).contains(pageSize) else {
      return "meta page \(expected) has an impossible page size, \(pageSize)"
    }
    guard address == 0, freeList.hasFlags(ofFreeList: true), mainTable.hasFlags(ofFreeList: false)
    else { return "meta page \(expected) has unknown flags" }
    // LMDB makes the map at least as large as the pages in use, whatever it was asked for.
    guard lastPage >= 1, lastPage < min(mapSize, UInt64(Int.max)) / UInt64(pageSize) else {
      return "meta page \(expected) has an impossible last page, \(lastPage)"
    }
    return nil
  }
}

extension PageReader {
  /// A meta page (0 or 1), or nil where it isn't one.
  func meta(_ number: UInt64) -> MetaPage? {
    guard let page = bytes(of: number, count: MetaPage.size)?.withUnsafeBytes({ MetaPage($0) }),
      page.magic == MetaPage.magic, page.version == MetaPage.version
    else { return nil }
    return page
  }
}

extension PageReader {
  /// What is wrong with the transaction number of the newest meta page, in words.
  ///
  /// Numbers that follow each other can be wrong all the same: one changed bit makes 17 to 19, and
  /// the older page the newer one. But each transaction that isn't a file's first frees pages, and
  /// keeps their numbers under its own, the largest in its free list. Nothing is known so of the
  /// older page: where a commit's meta page can't be written, LMDB writes back the number that was
  /// there before, and leaves the new trees. So a newest page whose number was lowered by two
  /// looks like a commit that failed, and isn't found here.
  ///
  /// A free list that can't be read is left to ``TreeCheck``, which says more of it.
  fileprivate func problem(withNumberOf meta: MetaPage) -> String? {
    let found: UInt64
    switch largestFreeListKey(meta.freeList) {
    case .unreadable: return nil
    // A file's first transaction finds no pages that it could free.
    case .none: found = meta.transaction > 1 ? 0 : meta.transaction
    case .key(let key): found = key
    }
    guard found != meta.transaction else { return nil }
    return "meta page \(meta.number) says that it is of transaction \(meta.transaction), and its "
      + "free list that it is of \(found)"
  }

  private enum FreeListEnd {
    case none, unreadable
    case key(UInt64)
  }

  private func largestFreeListKey(_ tree: TreeDescription) -> FreeListEnd {
    var number = tree.root
    guard number != TreeDescription.noRoot else { return .none }
    guard (1...TreeDescription.depthMax).contains(tree.depth) else { return .unreadable }
    for level in 1...tree.depth {
      guard let bytes = page(number), let page = try? TreePage(bytes, number: number),
        page.isLeaf == (level == tree.depth), let last = page.nodes.last
      else { return .unreadable }
      guard page.isLeaf else {
        number = last.page
        continue
      }
      guard last.key.count == 8 else { return .unreadable }
      return .key(bytes[last.key].withUnsafeBytes { $0.loadUnaligned(as: UInt64.self) })
    }
    return .unreadable
  }
}

/// The meta pages of a data file.
enum MetaPages {
  /// Throws unless a file begins as LMDB's do, before LMDB makes a lock file beside it.
  ///
  /// - Parameter mayBeEmpty: whether a missing or empty file, which LMDB would initialize, passes.
  static func refuseForeignFile(_ path: String, mayBeEmpty: Bool) throws(LMDBError) {
    var information = stat()
    guard stat(path, &information) == 0 else {
      if errno == ENOENT, mayBeEmpty { return }
      throw LMDBError.system("opening \(path)")
    }
    guard information.st_mode & S_IFMT == S_IFREG else {
      throw LMDBError(.invalid, "opening \(path)", message: "it isn't a file")
    }
    if information.st_size == 0, mayBeEmpty { return }
    // LMDB locks the other file: this one can be opened and closed.
    let descriptor = Descriptors.open(path, O_RDONLY)
    guard descriptor >= 0 else { throw LMDBError.system("opening \(path)") }
    defer { close(descriptor) }
    let reader = PageReader(descriptor: descriptor, pageSize: 0)
    let bytes = reader.bytes(of: 0, count: MetaPage.magicOffset + 8)
    if let number = reader.refusal.number { throw LMDBError.system("reading \(path)", number) }
    let words = bytes?.withUnsafeBytes { bytes in
      (
        magic: bytes.loadUnaligned(fromByteOffset: MetaPage.magicOffset, as: UInt32.self),
        version: bytes.loadUnaligned(fromByteOffset: MetaPage.magicOffset + 4, as: UInt32.self)
      )
    }
    guard let words, words.magic == MetaPage.magic else {
      let second = PageReader(descriptor: descriptor, pageSize: Int(getpagesize())).meta(1)
      guard second == nil else {
        throw LMDBError(.corrupted, "opening \(path)", message: "meta page 0 isn't one")
      }
      throw LMDBError(.invalid, "opening \(path)", message: "it isn't an LMDB file")
    }
    guard words.version == MetaPage.version else {
      throw LMDBError(
        .versionMismatch, "opening \(path)",
        message: "it has version \(words.version) of LMDB's format, not \(MetaPage.version)")
    }
    if let problem = try problem(descriptor, path) {
      throw LMDBError(.corrupted, "opening \(path)", message: problem)
    }
  }

  /// What is wrong with a file's meta pages, in words.
  ///
  /// Each commit writes the page that its number's last bit names, and with the number after that
  /// of the other page: whatever happened to a process, they are one apart. Both have number 0 in a
  /// new file.
  private static func problem(
    _ descriptor: Int32, _ path: String
  ) throws(LMDBError) -> String? {
    /// A meta page; an error where the system doesn't read it, which says nothing of what it holds.
    func meta(_ number: UInt64, _ pageSize: Int) throws(LMDBError) -> MetaPage? {
      let reader = PageReader(descriptor: descriptor, pageSize: pageSize)
      let page = reader.meta(number)
      if let number = reader.refusal.number { throw LMDBError.system("reading \(path)", number) }
      return page
    }
    var problem: String?
    // A live writer may have written a page between the reads.
    for _ in 0..<1_000 {
      guard let first = try meta(0, 0x1_0000), first.pageSize > 0 else {
        return "meta page 0 isn't one"
      }
      let pageSize = Int(first.pageSize)
      guard let second = try meta(1, pageSize) else { return "meta page 1 isn't one" }
      problem = Self.problem(of: first, second)
      if problem == nil {
        let reader = PageReader(descriptor: descriptor, pageSize: pageSize)
        let newest = first.transaction > second.transaction ? first : second
        problem = reader.problem(withNumberOf: newest)
        if let number = reader.refusal.number { throw LMDBError.system("reading \(path)", number) }
      }
      if problem == nil { break }
      if try meta(0, 0x1_0000) == first, try meta(1, pageSize) == second { break }
    }
    return problem
  }

  /// What is wrong with two meta pages by themselves.
  private static func problem(of first: MetaPage, _ second: MetaPage) -> String? {
    if let problem = first.problem(asPage: 0) ?? second.problem(asPage: 1) { return problem }
    guard first.pageSize == second.pageSize else {
      return "the meta pages have different page sizes"
    }
    guard isPair(first.transaction, second.transaction) else {
      return "the meta pages are of the transactions \(first.transaction) and "
        + "\(second.transaction), which don't follow each other"
    }
    return nil
  }

  private static func isPair(_ first: UInt64, _ second: UInt64) -> Bool {
    if first == 0, second == 0 { return true }
    guard first & 1 == 0, second & 1 == 1 else { return false }
    return first == second &+ 1 || second == first &+ 1
  }
}
