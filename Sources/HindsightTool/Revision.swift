// How a person names an index, as git names commits: `42`, `HEAD`, `HEAD~3`, `@{TIME}`, `40..42`.
// It always holds: reading a revision needs no store; finding its index needs one, and is checked.

package import HindsightCore

/// The name of an index.
package struct Revision: Sendable, Hashable {
  /// What it counts from.
  package enum Base: Sendable, Hashable {
    case index(EventIndex)
    case head
    /// The last index whose events had all happened by then.
    case time(Timestamp)
  }

  package var base: Base
  /// How many indexes before the base.
  package var back: UInt64

  package init(_ base: Base, back: UInt64 = 0) {
    self.base = base
    self.back = back
  }

  package static let head = Revision(.head)

  /// The revision that a text names: a number, `HEAD`, `@`, or `@{TIME}` with a time by RFC 3339,
  /// then any number of `~` or `~N`.
  ///
  /// - Throws: a ``ValidationError`` that says what it should be.
  package init(parsing text: String) throws {
    var rest = text[...]
    base = try Self.takeBase(&rest, of: text)
    back = 0
    while let mark = rest.popFirst() {
      guard mark == "~" else { throw Self.malformed(text) }
      let digits = rest.prefix(while: \.isDecimalDigit)
      rest = rest.dropFirst(digits.count)
      guard let steps = digits.isEmpty ? 1 : UInt64(digits) else { throw Self.tooLarge(text) }
      let (sum, overflows) = back.addingReportingOverflow(steps)
      guard !overflows else { throw Self.tooLarge(text) }
      back = sum
    }
  }

  private static func takeBase(_ rest: inout Substring, of text: String) throws -> Base {
    let digits = rest.prefix(while: \.isDecimalDigit)
    if !digits.isEmpty {
      rest = rest.dropFirst(digits.count)
      guard let index = UInt64(digits) else { throw tooLarge(text) }
      return .index(index)
    }
    if rest.hasPrefix("@{") {
      guard let end = rest.firstIndex(of: "}") else {
        throw ValidationError("\(quoted(text)) lacks its closing brace")
      }
      let time = rest[rest.index(rest.startIndex, offsetBy: 2)..<end]
      rest = rest[rest.index(after: end)...]
      guard let timestamp = Timestamp(String(time)) else {
        throw ValidationError(
          "\(quoted(String(time))) is no time such as 2026-11-30T12:00:00Z")
      }
      return .time(timestamp)
    }
    for name in ["HEAD", "@"] where rest.hasPrefix(name) {
      rest = rest.dropFirst(name.count)
      return .head
    }
    throw malformed(text)
  }

  private static func malformed(_ text: String) -> ValidationError {
    ValidationError("\(quoted(text)) is no index: write 42, HEAD, HEAD~3 or @{TIME}")
  }

  private static func tooLarge(_ text: String) -> ValidationError {
    ValidationError("\(quoted(text)) has a number that is too large")
  }
}

extension Character {
  fileprivate var isDecimalDigit: Bool { ("0"..."9").contains(self) }
}

extension Revision: CustomStringConvertible {
  package var description: String {
    let name =
      switch base {
      case .index(let index): "\(index)"
      case .head: "HEAD"
      case .time(let time): "@{\(time)}"
      }
    return back == 0 ? name : "\(name)~\(back)"
  }
}

extension Revision {
  /// The index in a log with that head.
  ///
  /// - Parameter indexAtTime: finds the last index up to a time; called for `@{TIME}` only.
  /// - Throws: a ``HindsightError`` (``HindsightError/Code/indexBeyondHead``) where the log doesn't
  ///   reach it, a ``ToolError`` (``ExitStatus/noInput``) where it is before the beginning, and
  ///   what `indexAtTime` throws.
  package func resolve(
    head: EventIndex, indexAtTime: (Timestamp) throws -> EventIndex
  ) throws -> EventIndex {
    let from =
      switch base {
      case .index(let index): index
      case .head: head
      case .time(let time): try indexAtTime(time)
      }
    guard back <= from else {
      throw ToolError(
        .noInput, "\(self) is before the beginning: \(from) events are all there is up to there")
    }
    guard from - back <= head else {
      throw HindsightError(
        .indexBeyondHead, "index \(from - back) is beyond the head, which is \(head)",
        index: from - back)
    }
    return from - back
  }
}

/// Two revisions, as in `40..42`: what came after the first, up to and with the second.
package struct RevisionRange: Sendable, Hashable, CustomStringConvertible {
  package var after: Revision
  package var through: Revision

  package init(after: Revision, through: Revision) {
    self.after = after
    self.through = through
  }

  /// Everything.
  package static let all = RevisionRange(after: Revision(.index(0)), through: .head)

  /// `A..B`; `A..` goes on to the head, `..B` starts at the beginning; and `B` alone is `..B`.
  ///
  /// - Throws: a ``ValidationError`` that says what it should be.
  package init(parsing text: String) throws {
    guard let dots = Self.separator(in: text) else {
      self.init(after: Revision(.index(0)), through: try Revision(parsing: text))
      return
    }
    let (before, behind) = (text[..<dots.lowerBound], text[dots.upperBound...])
    guard !before.isEmpty || !behind.isEmpty, !behind.hasPrefix(".") else {
      throw ValidationError("\(quoted(text)) is no range: write 40..42, HEAD~10.. or ..42")
    }
    self.init(
      after: before.isEmpty ? Revision(.index(0)) : try Revision(parsing: String(before)),
      through: behind.isEmpty ? .head : try Revision(parsing: String(behind)))
  }

  package var description: String { "\(after)..\(through)" }

  /// The two dots, outside of braces.
  private static func separator(in text: String) -> Range<String.Index>? {
    var isInBraces = false
    for index in text.indices {
      if text[index] == "{" { isInBraces = true }
      if text[index] == "}" { isInBraces = false }
      let next = text.index(after: index)
      if !isInBraces, text[index] == ".", next < text.endIndex, text[next] == "." {
        return index..<text.index(after: next)
      }
    }
    return nil
  }
}
