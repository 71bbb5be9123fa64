// A moment as the log records it, and its form in text (RFC 3339).

#if canImport(Darwin)
  import Darwin
#elseif canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

/// A moment: whole microseconds since 1970-01-01T00:00:00Z, without leap seconds.
public struct Timestamp: RawRepresentable, Sendable, Hashable, Comparable, Codable {
  /// Microseconds since 1970 (UTC); negative before it.
  public var rawValue: Int64

  /// The moment that many microseconds after the beginning of 1970 (UTC).
  @inlinable
  public init(rawValue: Int64) { self.rawValue = rawValue }

  /// The moment that many microseconds after the beginning of 1970 (UTC).
  @inlinable
  public init(microsecondsSince1970: Int64) { rawValue = microsecondsSince1970 }

  @inlinable
  public static func < (left: Timestamp, right: Timestamp) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension Timestamp {
  /// The system clock's time.
  public static var now: Timestamp {
    var time = timespec()
    clock_gettime(CLOCK_REALTIME, &time)
    return Timestamp(rawValue: Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000)
  }
}

extension Timestamp: CustomStringConvertible {
  /// The moment in RFC 3339 form, in UTC: with milliseconds, or microseconds where it has them.
  ///
  /// A year outside of 0 to 9999 has a sign and six digits (ISO 8601's expanded form), which
  /// ``init(_:)`` reads, too.
  public var description: String {
    let (seconds, microseconds) = rawValue.flooringQuotientAndRemainder(dividingBy: 1_000_000)
    let (days, secondOfDay) = seconds.flooringQuotientAndRemainder(dividingBy: 86_400)
    let (year, month, day) = CivilDate.date(daysSince1970: days)
    let minute = secondOfDay / 60
    let yearText =
      (0...9999).contains(year)
      ? padded(year, 4) : (year < 0 ? "-" : "+") + padded(abs(year), 6)
    let date = "\(yearText)-\(padded(month, 2))-\(padded(day, 2))"
    let time = "\(padded(minute / 60, 2)):\(padded(minute % 60, 2)):\(padded(secondOfDay % 60, 2))"
    let fraction =
      microseconds % 1000 == 0 ? padded(microseconds / 1000, 3) : padded(microseconds, 6)
    return "\(date)T\(time).\(fraction)Z"
  }

  /// The moment that an RFC 3339 text names (section 5.6), or nil where it isn't one, isn't within
  /// the range of ``Timestamp``, or is finer than a microsecond.
  ///
  /// Seconds of 60 (leap seconds) aren't accepted, as a moment couldn't be given back as it was.
  public init?(_ text: String) {
    var parser = TimestampParser(bytes: Array(text.utf8))
    guard let value = parser.parse() else { return nil }
    rawValue = value
  }

  private func padded(_ number: Int64, _ width: Int) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }
}

extension Int64 {
  /// Quotient rounded towards negative infinity, and the remainder that is never negative.
  fileprivate func flooringQuotientAndRemainder(dividingBy divisor: Int64) -> (Int64, Int64) {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}

/// The proleptic Gregorian calendar, counted in days.
private enum CivilDate {
  /// Days in the 400 years after which the calendar repeats itself.
  static let daysPerCycle: Int64 = 146_097
  /// Days from the first of March of the year 0 to the first of January 1970.
  static let daysToEpoch: Int64 = 719_468

  /// Year, month and day of a day; the year starts in March, so that a leap day ends it.
  static func date(daysSince1970: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let (cycle, dayOfCycle) =
      (daysSince1970 + daysToEpoch).flooringQuotientAndRemainder(dividingBy: daysPerCycle)
    let leapDays = dayOfCycle / 1_460 - dayOfCycle / 36_524 + dayOfCycle / (daysPerCycle - 1)
    let yearOfCycle = (dayOfCycle - leapDays) / 365
    let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
    let monthFromMarch = (5 * dayOfYear + 2) / 153
    let day = dayOfYear - (153 * monthFromMarch + 2) / 5 + 1
    let month = monthFromMarch < 10 ? monthFromMarch + 3 : monthFromMarch - 9
    return (cycle * 400 + yearOfCycle + (month <= 2 ? 1 : 0), month, day)
  }

  static func daysSince1970(year: Int64, month: Int64, day: Int64) -> Int64 {
    let shiftedYear = month <= 2 ? year - 1 : year
    let (cycle, yearOfCycle) = shiftedYear.flooringQuotientAndRemainder(dividingBy: 400)
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let dayOfYear = (153 * monthFromMarch + 2) / 5 + day - 1
    let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
    return cycle * daysPerCycle + dayOfCycle - daysToEpoch
  }

  static func days(inMonth month: Int64, year: Int64) -> Int64 {
    switch month {
    case 4, 6, 9, 11: 30
    case 2: year % 4 == 0 && (year % 100 != 0 || year % 400 == 0) ? 29 : 28
    default: 31
    }
  }
}

/// Reads one RFC 3339 date-time; every part must be there and nothing may follow.
private struct TimestampParser {
  let bytes: [UInt8]
  var position = 0

  init(bytes: [UInt8]) { self.bytes = bytes }

  mutating func parse() -> Int64? {
    let isNegativeYear = take(UInt8(ascii: "-"))
    let isExpanded = isNegativeYear || take(UInt8(ascii: "+"))
    guard let year = number(digits: isExpanded ? 6 : 4), take(UInt8(ascii: "-")),
      let month = number(digits: 2), (1...12).contains(month), take(UInt8(ascii: "-")),
      let day = number(digits: 2)
    else { return nil }
    let signedYear = isNegativeYear ? -year : year
    guard day >= 1, day <= CivilDate.days(inMonth: month, year: signedYear),
      take(UInt8(ascii: "T")) || take(UInt8(ascii: "t")) || take(UInt8(ascii: " ")),
      let hour = number(digits: 2), hour < 24, take(UInt8(ascii: ":")),
      let minute = number(digits: 2), minute < 60, take(UInt8(ascii: ":")),
      let second = number(digits: 2), second < 60,
      let microseconds = fraction(), let offsetMinutes = offset(), position == bytes.count
    else { return nil }
    let days = CivilDate.daysSince1970(year: signedYear, month: month, day: day)
    let seconds = days * 86_400 + (hour * 60 + minute - offsetMinutes) * 60 + second
    // Both parts have one sign, so that neither overflows where the sum doesn't.
    let borrow: Int64 = seconds < 0 && microseconds > 0 ? 1 : 0
    let (scaled, overflow) = (seconds + borrow).multipliedReportingOverflow(by: 1_000_000)
    let (sum, overflowOfSum) = scaled.addingReportingOverflow(microseconds - borrow * 1_000_000)
    return overflow || overflowOfSum ? nil : sum
  }

  private mutating func take(_ byte: UInt8) -> Bool {
    guard position < bytes.count, bytes[position] == byte else { return false }
    position += 1
    return true
  }

  private mutating func digit() -> Int64? {
    guard position < bytes.count, (0x30...0x39).contains(bytes[position]) else { return nil }
    position += 1
    return Int64(bytes[position - 1] - 0x30)
  }

  private mutating func number(digits: Int) -> Int64? {
    var value: Int64 = 0
    for _ in 0..<digits {
      guard let next = digit() else { return nil }
      value = value * 10 + next
    }
    return value
  }

  /// Microseconds of the fraction; zero where there is none, nil where it is finer than that.
  private mutating func fraction() -> Int64? {
    guard take(UInt8(ascii: ".")) else { return 0 }
    guard var value = digit() else { return nil }
    var digits = 1
    while let next = digit() {
      digits += 1
      if digits <= 6 { value = value * 10 + next } else if next != 0 { return nil }
    }
    while digits < 6 {
      value *= 10
      digits += 1
    }
    return value
  }

  /// The zone's offset from UTC in minutes.
  private mutating func offset() -> Int64? {
    if take(UInt8(ascii: "Z")) || take(UInt8(ascii: "z")) { return 0 }
    let sign: Int64 = take(UInt8(ascii: "-")) ? -1 : 1
    guard sign == -1 || take(UInt8(ascii: "+")), let hours = number(digits: 2), hours < 24,
      take(UInt8(ascii: ":")), let minutes = number(digits: 2), minutes < 60
    else { return nil }
    return sign * (hours * 60 + minutes)
  }
}
