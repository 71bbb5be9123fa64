// The digest of records, genesis and states: XXH3, 64 bits, seed 0. It finds corruption, and is no
// protection against an attacker.

import SystemXXHash

/// The log's digest function.
enum Digest {
  static func of(_ bytes: UnsafeRawBufferPointer) -> UInt64 {
    XXH3_64bits(bytes.baseAddress, bytes.count)
  }

  static func of(_ bytes: RawSpan) -> UInt64 {
    bytes.withUnsafeBytes { of($0) }
  }
}
