package import CloudSyncCore

/// Dates as Apple's service wants them signed: `2026-11-25T03:26:46Z`.
package enum WireDate {
  /// The date of a time, to the second.
  package static func text(_ time: Timestamp) -> String {
    let seconds = time.rounded(toMultipleOf: 1_000_000_000).nanoseconds / 1_000_000_000
    let days = (seconds >= 0 ? seconds : seconds - 86_399) / 86_400
    let rest = seconds - days * 86_400
    let (year, month, day) = date(days: days)
    let time = [rest / 3_600, rest / 60 % 60, rest % 60].map { padded($0, to: 2) }
    return "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(day, to: 2))T"
      + "\(time[0]):\(time[1]):\(time[2])Z"
  }

  private static func padded(_ number: Int64, to count: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
  }

  /// The date of the Gregorian calendar that is so many days after the beginning of 1970.
  private static func date(days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Counted in eras of 400 years that begin in March, so that the day of a leap year is their last.
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1_460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let monthOfYear = (5 * dayOfYear + 2) / 153
    let month = monthOfYear < 10 ? monthOfYear + 3 : monthOfYear - 9
    let year = era * 400 + yearOfEra + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * monthOfYear + 2) / 5 + 1)
  }
}
