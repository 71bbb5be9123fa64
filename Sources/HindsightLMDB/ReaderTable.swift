// Who reads an environment, by its lock file.

import SystemLMDB

/// A reader slot that is in use.
package struct ReaderSlot: Sendable, Hashable {
  /// The process that has it; process ids of another container may collide with this one's.
  package let processID: Int32
  /// The transaction whose pages it keeps from being reused; nil where it reads nothing now.
  package let transactionID: UInt64?
}

extension Environment {
  /// The reader slots in use, of all processes.
  package func readers() throws(LMDBError) -> [ReaderSlot] {
    // The library has them as lines of text only: process, thread, transaction (or "-").
    let lines = ReaderLines()
    let result = mdb_reader_list(
      core.handle,
      { message, context in
        guard let message, let context else { return 0 }
        Unmanaged<ReaderLines>.fromOpaque(context).takeUnretainedValue()
          .text.append(String(cString: message))
        return 0
      }, Unmanaged.passUnretained(lines).toOpaque())
    if result < 0 { try LMDBError.check(result, "listing the readers of \(path)") }
    return lines.text.split(whereSeparator: \.isNewline).compactMap { line in
      let words = line.split(separator: " ")
      guard words.count == 3, let processID = Int32(words[0]) else { return nil }
      return ReaderSlot(processID: processID, transactionID: UInt64(words[2]))
    }
  }

  /// The number of the newest transaction.
  package var newestTransactionID: UInt64 { UInt64(core.information().lastTransaction) }
}

private final class ReaderLines {
  var text = ""
}
