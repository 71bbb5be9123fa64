// Tables (LMDB's named databases) and the keys that they are looked up by.
// It always holds: a handle whose transaction was aborted is never handed to LMDB.

import Synchronization

/// A table of an environment, as ``Environment/table(named:)`` or a transaction opened it.
///
/// Valid as long as the environment, unless the transaction that created the table was aborted:
/// then every use throws ``LMDBError/Code/badTable``.
package final class Table: Sendable {
  package let name: String
  /// LMDB's handle. A number that LMDB may give to another table once this one is invalid.
  let identifier: UInt32
  private let valid = Atomic<Bool>(true)

  init(name: String, identifier: UInt32) {
    self.name = name
    self.identifier = identifier
  }

  var isValid: Bool { valid.load(ordering: .acquiring) }

  func invalidate() { valid.store(false, ordering: .releasing) }
}

/// A key of a table: a number, stored big-endian so that keys sort as numbers, or any bytes.
package enum TableKey: Sendable {
  case number(UInt64)
  case bytes([UInt8])

  /// Calls a closure with the key's bytes.
  func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
    switch self {
    case .number(let number): withUnsafeBytes(of: number.bigEndian, body)
    case .bytes(let bytes): bytes.withUnsafeBytes(body)
    }
  }
}

/// A key and its value in the map, valid while the transaction is that they were read in.
package struct TableEntry: ~Escapable {
  package let key: RawSpan
  package let value: RawSpan

  @_lifetime(copy key, copy value)
  init(key: RawSpan, value: RawSpan) {
    self.key = key
    self.value = value
  }

  /// The key as a number, or nil where it doesn't have a number's size.
  package var number: UInt64? {
    guard key.byteCount == MemoryLayout<UInt64>.size else { return nil }
    return UInt64(bigEndian: key.unsafeLoadUnaligned(as: UInt64.self))
  }
}
