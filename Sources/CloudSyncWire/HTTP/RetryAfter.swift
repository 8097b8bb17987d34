package import CloudSyncCore

/// The header `Retry-After`: seconds, or a date.
package enum RetryAfter {
  private static let months = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
  ]

  /// The wait in nanoseconds; nil if the text is neither.
  package static func nanoseconds(_ text: String, now: Timestamp) -> Int64? {
    if let seconds = WireDurationText.nanoseconds(text) { return seconds }
    guard let time = date(text) else { return nil }
    return max(0, now.distance(to: time))
  }

  /// Reads a date as HTTP writes it: `Sun, 06 Nov 1994 08:49:37 GMT`.
  private static func date(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ").map(String.init)
    guard parts.count == 6, parts[5] == "GMT", let day = Int64(parts[1]),
      let month = months.firstIndex(of: parts[2]), let year = Int64(parts[3])
    else { return nil }
    let time = parts[4].split(separator: ":").compactMap { Int64($0) }
    guard time.count == 3, (1...31).contains(day), (1970...2261).contains(year),
      (0..<24).contains(time[0]), (0..<60).contains(time[1]), (0...60).contains(time[2])
    else { return nil }
    let days = days(year: year, month: Int64(month) + 1, day: day)
    let seconds = days * 86_400 + time[0] * 3_600 + time[1] * 60 + time[2]
    return Timestamp(nanoseconds: seconds * 1_000_000_000)
  }

  /// The days from the beginning of 1970 to a date of the Gregorian calendar.
  private static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Counted in years that begin in March, so that the day of a leap year is their last.
    let shifted = month <= 2 ? year - 1 : year
    let era = shifted / 400
    let yearOfEra = shifted - era * 400
    let monthOfYear = (month + 9) % 12
    let dayOfYear = (153 * monthOfYear + 2) / 5 + day - 1
    let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
    return era * 146_097 + dayOfEra - 719_468
  }
}
