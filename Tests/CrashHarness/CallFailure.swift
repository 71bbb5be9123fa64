// Which system calls of a process are to fail, and how: what the preloaded library is told.

import Foundation

/// Failures of one kind of system call on a store's files.
package struct CallFailure: Sendable, CustomStringConvertible {
  /// The kinds of call, as the library knows them.
  package enum Kind: String, CaseIterable, Sendable {
    case open, read, write, sync, truncate, allocate, map, lock, seek
    /// Making a directory and removing a file.
    case name
    /// Memory that the database library asks for.
    case memory
  }

  /// What becomes of a call.
  package enum Effect: Sendable, Equatable, CustomStringConvertible {
    /// It fails with an `errno`.
    case number(Int32)
    /// It takes half of the bytes.
    case short
    /// It is done, and fails with EIO all the same.
    case late

    package var description: String {
      switch self {
      case .number(EIO): "EIO"
      case .number(ENOSPC): "ENOSPC"
      case .number(EINTR): "EINTR"
      case .number(ENOMEM): "ENOMEM"
      case .number(let number): "errno \(number)"
      case .short: "short"
      case .late: "late EIO"
      }
    }

    var word: String {
      switch self {
      case .number(let number): "\(number)"
      case .short: "short"
      case .late: "late"
      }
    }
  }

  /// How many calls fail.
  package enum Extent: Int, Sendable {
    case once = 1
    /// A page that can't be written, and what should be written back in its place.
    case twice = 2
    /// As an interrupted call is tried again without end, interruptions have one.
    case sometimes = 20
    case always = 1_000_000_000
  }

  package var kind: Kind
  /// Which call of its kind is the first to fail: 1, 2, …
  package var number: Int
  package var effect: Effect
  package var extent: Extent
  /// A part of the paths of the files that are meant; nil for all.
  package var file: String?

  package init(
    _ kind: Kind, number: Int, _ effect: Effect, _ extent: Extent, file: String? = nil
  ) {
    self.kind = kind
    self.number = number
    self.effect = effect
    self.extent = extent
    self.file = file
  }

  package var description: String {
    let place = file.map { " of \($0)" } ?? ""
    return "\(kind) \(number)\(place): \(effect), \(extent)"
  }

  /// All that a kind of call is made to do.
  package static func effects(of kind: Kind) -> [(Effect, Extent)] {
    let numbers: [Int32] =
      switch kind {
      case .open: [EIO, ENOSPC, EMFILE]
      case .read, .seek: [EIO]
      case .write, .truncate, .name: [EIO, ENOSPC]
      case .sync: [EIO, ENOSPC]
      case .allocate: [EIO, ENOSPC, EOPNOTSUPP]
      case .map: [ENOMEM, EAGAIN, EIO]
      case .lock: [EIO, ENOLCK]
      case .memory: [ENOMEM]
      }
    var effects: [(Effect, Extent)] = numbers.flatMap {
      [(.number($0), .once), (.number($0), .always)]
    }
    if ![.map, .name, .memory].contains(kind) {
      effects += [(.number(EINTR), .once), (.number(EINTR), .sometimes)]
    }
    if [.read, .write].contains(kind) { effects += [(.short, .once), (.short, .always)] }
    if [.write, .sync].contains(kind) { effects += [(.late, .once), (.late, .always)] }
    if [.write, .sync].contains(kind) { effects.append((.number(EIO), .twice)) }
    return effects
  }

  /// The variable that tells the library.
  var variable: String { "\(kind):\(number):\(extent.rawValue):\(effect.word)" }
}
