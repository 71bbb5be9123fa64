// The log's digest, as the tests use it to make records that are wrong in all but their digest.

import HindsightCore
import HindsightLog

/// Bytes with the digest of all of them behind them.
func withDigest(_ bytes: some Sequence<UInt8>) -> [UInt8] {
  let bytes = Array(bytes)
  let digest = bytes.withUnsafeBytes { LMDBLog.digest(of: $0) }
  return bytes + withUnsafeBytes(of: digest.littleEndian) { Array($0) }
}
