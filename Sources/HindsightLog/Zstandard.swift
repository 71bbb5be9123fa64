// Compresses chunks with Zstandard (RFC 8878); the only place that calls the library.

import SystemZstd

/// Whole chunks of bytes, compressed and back.
enum Zstandard {
  /// Fast, and about as small as the slower levels on states and events.
  private static let level: Int32 = 3

  /// The compressed bytes, or nil where they wouldn't be fewer.
  static func compressed(_ bytes: UnsafeRawBufferPointer) -> [UInt8]? {
    var isSmaller = false
    let result = [UInt8](unsafeUninitializedCapacity: ZSTD_compressBound(bytes.count)) {
      buffer, count in
      let size = ZSTD_compress(
        buffer.baseAddress, buffer.count, bytes.baseAddress, bytes.count, level)
      isSmaller = ZSTD_isError(size) == 0 && size < bytes.count
      count = isSmaller ? size : 0
    }
    return isSmaller ? result : nil
  }

  /// Decompresses into a buffer, which the content must fill exactly.
  ///
  /// - Returns: false where the bytes aren't that.
  static func decompress(
    _ bytes: UnsafeRawBufferPointer, into target: UnsafeMutableRawBufferPointer
  ) -> Bool {
    let size = ZSTD_decompress(target.baseAddress, target.count, bytes.baseAddress, bytes.count)
    return ZSTD_isError(size) == 0 && size == target.count
  }
}
