// Where LMDB puts a value, and the bytes behind it that nobody writes.

/// LMDB's arithmetic of values and pages (version 0.9; `mdb_env_open2`, `mdb_node_add`).
package enum PageLayout {
  static let headerSize = 16
  static let nodeHeaderSize = 8

  /// How many pages of its own a value takes; 0 where it lies in the leaf, beside others.
  package static func overflowPageCount(sizeBytes: Int, keySize: Int, pageSize: Int) -> Int {
    let nodeSizeMax = (((pageSize - headerSize) / 2) & ~1) - 2
    guard nodeHeaderSize + keySize + sizeBytes > nodeSizeMax else { return 0 }
    return (headerSize - 1 + sizeBytes) / pageSize + 1
  }
}

/// The bytes between a value and the next thing on its page.
enum PageSlack {
  /// Zeroes the rest of the value's last page, or the byte that makes its node's size even.
  ///
  /// LMDB reuses the memory of pages of earlier transactions as it is; without this, their bytes
  /// would get into the file.
  static func zero(
    after start: UnsafeMutableRawPointer, sizeBytes: Int, keySize: Int, pageSize: Int
  ) {
    let pageCount = PageLayout.overflowPageCount(
      sizeBytes: sizeBytes, keySize: keySize, pageSize: pageSize)
    let slack =
      pageCount > 0
      ? pageCount * pageSize - PageLayout.headerSize - sizeBytes
      : (PageLayout.nodeHeaderSize + keySize + sizeBytes) & 1
    (start + sizeBytes).initializeMemory(as: UInt8.self, repeating: 0, count: slack)
  }
}
