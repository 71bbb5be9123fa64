// Walks all trees of a data file and checks them against each other and against the file's size.
// It always holds: no page of the file, whatever it holds, can make the check crash or never end.

import SystemLMDB

/// What a check of a data file's pages found.
package struct TreeReport: Sendable {
  /// What is wrong, in words; empty in a sound file. At most ``problemCountMax``.
  package fileprivate(set) var problems: [String] = []
  /// Whether the file ends before pages that are in use.
  package fileprivate(set) var isTruncated = false
  /// Why the system couldn't read pages: those may be sound. Nil where it could.
  package fileprivate(set) var readError: LMDBError?
  /// The number of entries found in each table.
  package fileprivate(set) var entryCounts: [String: UInt64] = [:]
  /// Pages in use by trees and values; pages in the free list; all pages up to the last.
  package fileprivate(set) var usedPageCount: UInt64 = 0
  package fileprivate(set) var freePageCount: UInt64 = 0
  package fileprivate(set) var pageCount: UInt64 = 0

  package static let problemCountMax = 100
}

/// What is called for the entries of one table, in the order of their keys.
package struct EntryVisitor {
  let table: String
  let visit: (_ key: [UInt8], _ value: RawSpan) -> Void

  package init(_ table: String, _ visit: @escaping (_ key: [UInt8], _ value: RawSpan) -> Void) {
    self.table = table
    self.visit = visit
  }
}

/// How much of the trees is looked at.
package enum TreeExtent: Sendable {
  case everything
  /// The free list, and of each tree, the pages from the root to the first leaf and to the last.
  case edges
}

/// One check of the trees that one meta page describes.
struct TreeCheck {
  private let reader: PageReader
  private let filePageCount: UInt64
  private let meta: MetaPage
  private(set) var report = TreeReport()
  /// Pages that were come across, a bit each.
  private var seen: [UInt64]
  private let visitor: EntryVisitor?
  private let extent: TreeExtent
  /// How many pages the trees have by their own counts; nil where one of them is impossible.
  private var countedPageCount: UInt64? = 0

  init(
    _ reader: PageReader, _ meta: MetaPage, _ extent: TreeExtent, _ visitor: EntryVisitor?
  ) {
    self.reader = reader
    self.extent = extent
    self.visitor = visitor
    self.meta = meta
    filePageCount = reader.pageCount()
    seen = Array(repeating: 0, count: Int(filePageCount / 64 + 1))
    report.pageCount = meta.lastPage &+ 1
  }

  /// Checks all that the extent asks for.
  mutating func run() {
    check(tree: meta.freeList, name: nil, isFreeList: true)
    check(tree: meta.mainTable, name: nil, isFreeList: false)
    if let number = reader.refusal.number {
      report.readError = .system("reading pages", number)
    }
    guard report.problems.isEmpty else { return }
    // What trees count themselves is all that is known of them where they weren't walked.
    if extent == .everything {
      checkSum(report.usedPageCount)
      if countedPageCount != report.usedPageCount {
        note("the trees have another number of pages than they count")
      }
    } else if meta.mainTable.depth <= 1 {
      // All tables stand on one page, which was looked at.
      checkSum(countedPageCount)
    }
  }

  /// All pages are in use or free, but the two meta pages.
  private mutating func checkSum(_ used: UInt64?) {
    let (accounted, isOver) = (report.freePageCount + 2).addingReportingOverflow(used ?? .max)
    if isOver || accounted != report.pageCount {
      note("\(isOver ? .max : accounted) pages are in use or free, of \(report.pageCount)")
    }
  }

  /// Takes a tree's own count of its pages into account.
  private mutating func count(_ tree: TreeDescription) {
    guard let known = countedPageCount, let count = tree.pageCount else {
      countedPageCount = nil
      return
    }
    let (sum, isOver) = known.addingReportingOverflow(count)
    countedPageCount = isOver ? nil : sum
  }

  private mutating func note(_ problem: String) {
    if report.problems.count < TreeReport.problemCountMax { report.problems.append(problem) }
  }

  /// Takes a run of pages into account; false where they can't be read or were seen before.
  private mutating func take(_ first: UInt64, count: UInt64, isFree: Bool) -> Bool {
    let (end, overflow) = first.addingReportingOverflow(count)
    guard !overflow, first >= 2, end <= report.pageCount else {
      note("page \(first) is beyond the last page, \(meta.lastPage)")
      report.isTruncated = true
      return false
    }
    if isFree { report.freePageCount += count } else { report.usedPageCount += count }
    guard end <= filePageCount else {
      // A free page need not be in the file.
      if isFree { return true }
      note("the file ends before page \(end - 1), which is in use")
      report.isTruncated = true
      return false
    }
    for page in first..<end {
      let (word, bit) = (Int(page / 64), UInt64(1) << (page % 64))
      guard seen[word] & bit == 0 else {
        note("page \(page) is in use twice, or in use and free")
        return false
      }
      seen[word] |= bit
    }
    return true
  }

  private mutating func check(tree: TreeDescription, name: String?, isFreeList: Bool) {
    let title = isFreeList ? "the free list" : name.map { "table \($0)" } ?? "the main table"
    var walk = TreeWalk(name: name, title: title, isFreeList: isFreeList)
    count(tree)
    guard tree.hasFlags(ofFreeList: isFreeList) else {
      return note("\(title) has unknown flags, \(tree.flags)")
    }
    if tree.root != TreeDescription.noRoot {
      guard tree.depth >= 1, tree.depth <= TreeDescription.depthMax else {
        return note("\(title) has an impossible depth, \(tree.depth)")
      }
      visit(tree.root, level: 1, depth: tree.depth, &walk)
    }
    if extent == .everything || isFreeList, walk.entryCount != tree.entryCount {
      note("\(title) should have \(tree.entryCount) entries and has \(walk.entryCount)")
    }
    if let name { report.entryCounts[name] = walk.entryCount }
  }

  private mutating func visit(_ number: UInt64, level: Int, depth: Int, _ walk: inout TreeWalk) {
    guard take(number, count: 1, isFree: false) else { return }
    let page: TreePage
    do throws(PageError) {
      guard let bytes = reader.page(number) else {
        throw PageError("page \(number) can't be read")
      }
      page = try TreePage(bytes, number: number)
    } catch {
      return note("\(walk.title): \(error.message)")
    }
    guard page.isLeaf == (level == depth), !page.nodes.isEmpty else {
      return note("\(walk.title): page \(number) doesn't belong at its depth, or is empty")
    }
    for (position, node) in page.nodes.enumerated() {
      if page.isLeaf {
        visit(node, page, number, &walk)
      } else if walk.isFreeList || extent == .everything || position == 0
        || position == page.nodes.count - 1
      {
        // The first key of a branch page counts as below all others, and is left empty.
        if position > 0 { walk.lowerBound = Array(page.bytes[node.key]) }
        visit(node.page, level: level + 1, depth: depth, &walk)
      }
    }
  }

  private mutating func visit(
    _ node: TreePage.Node, _ page: TreePage, _ number: UInt64, _ walk: inout TreeWalk
  ) {
    if !walk.takes(page.bytes[node.key]) {
      note("\(walk.title): the keys on page \(number) aren't in order")
    }
    let isWanted = walk.isFreeList || walk.name != nil && walk.name == visitor?.table
    var value: [UInt8]?
    switch node.flags {
    case 0, TreePage.isTree: value = Array(page.bytes[node.value])
    case TreePage.hasPages: value = overflowValue(node, walk, reading: isWanted)
    default: note("\(walk.title): page \(number) has a node of an unknown kind (\(node.flags))")
    }
    if isWanted, !walk.isFreeList, let value {
      visitor?.visit(Array(page.bytes[node.key]), value.span.bytes)
    }
    if node.flags == TreePage.isTree {
      let name = String(decoding: page.bytes[node.key], as: UTF8.self)
      guard walk.isMainTable, let value, value.count == TreeDescription.size else {
        return note("\(walk.title): page \(number) holds a tree where none can be")
      }
      check(
        tree: value.withUnsafeBytes { TreeDescription($0) }, name: name, isFreeList: false)
    }
    if walk.isFreeList, let value { checkFreePages(value) }
  }

  /// Takes a value's own pages into account, and returns its bytes if they are wanted.
  private mutating func overflowValue(
    _ node: TreePage.Node, _ walk: TreeWalk, reading isWanted: Bool
  ) -> [UInt8]? {
    let count = (PageLayout.headerSize - 1 + node.valueSize) / reader.pageSize + 1
    guard take(node.page, count: UInt64(count), isFree: false) else { return nil }
    let size = PageLayout.headerSize + (isWanted ? node.valueSize : 0)
    guard let bytes = reader.bytes(of: node.page, count: size) else {
      note("page \(node.page) can't be read")
      return nil
    }
    let header = bytes.withUnsafeBytes { bytes in
      (
        number: bytes.loadUnaligned(as: UInt64.self),
        flags: bytes.loadUnaligned(fromByteOffset: 10, as: UInt16.self),
        count: bytes.loadUnaligned(fromByteOffset: 12, as: UInt32.self)
      )
    }
    guard header.number == node.page, header.flags == 4, header.count == count else {
      note("\(walk.title): page \(node.page) isn't the first of \(count) pages of a value")
      return nil
    }
    return isWanted ? Array(bytes[PageLayout.headerSize...]) : nil
  }

  /// A value of the free list: a count and so many page numbers.
  private mutating func checkFreePages(_ value: [UInt8]) {
    let words = value.withUnsafeBytes { bytes in
      stride(from: 0, to: bytes.count & ~7, by: 8).map {
        bytes.loadUnaligned(fromByteOffset: $0, as: UInt64.self)
      }
    }
    guard let count = words.first, count <= words.count - 1 else {
      return note("the free list has an entry that is shorter than its count")
    }
    for page in words.dropFirst().prefix(Int(count)) {
      _ = take(page, count: 1, isFree: true)
    }
  }
}

/// Where the walk of one tree is.
private struct TreeWalk {
  let name: String?
  let title: String
  let isFreeList: Bool
  var entryCount: UInt64 = 0
  /// What no further key may be below.
  var lowerBound: [UInt8] = []
  private var lastKey: [UInt8]?

  init(name: String?, title: String, isFreeList: Bool) {
    self.name = name
    self.title = title
    self.isFreeList = isFreeList
  }

  var isMainTable: Bool { name == nil && !isFreeList }

  /// Counts an entry; whether its key is above all before it.
  mutating func takes(_ key: ArraySlice<UInt8>) -> Bool {
    entryCount += 1
    // The free list's keys are numbers in the machine's own order.
    func comparable(_ key: some Sequence<UInt8>) -> [UInt8] {
      isFreeList && _isLittleEndian ? Array(key).reversed() : Array(key)
    }
    let key = comparable(key)
    defer { lastKey = key }
    guard !key.lexicographicallyPrecedes(comparable(lowerBound)) else { return false }
    guard let lastKey else { return true }
    return lastKey.lexicographicallyPrecedes(key)
  }
}

private let _isLittleEndian = UInt16(1).littleEndian == 1
