public import CloudSyncCore

/// Times as people write and read them, in UTC, by arithmetic of its own: the same on every machine.
public enum TimeText {
  private static let perSecond: Int64 = 1_000_000_000
  private static let perDay: Int64 = 86_400 * perSecond

  // MARK: Writing

  /// A time by ISO 8601, as in `2026-11-21T12:30:05.250Z`.
  ///
  /// - Returns: Three, six or nine digits after the second, as many as the time needs.
  public static func date(_ time: Timestamp) -> String {
    let day = floorDivided(time.nanoseconds, by: perDay)
    let (year, month, date) = civil(day: day)
    let clock = clock(nanoseconds: time.nanoseconds &- day &* perDay)
    return "\(padded(year, to: 4))-\(padded(month, to: 2))-\(padded(date, to: 2))T\(clock)Z"
  }

  /// How long after another a time is in seconds, as in `+5.250s`; parts of a millisecond are cut off.
  public static func offset(of time: Timestamp, from start: Timestamp) -> String {
    let distance = start.distance(to: time)
    return (distance < 0 ? "-" : "+") + seconds(nanoseconds: distance.magnitude)
  }

  /// A length of time in the units that suit it: `850 ms`, `5.25 s`, `3 min 20 s`, `2 h 5 min`.
  public static func length(_ nanoseconds: Int64) -> String { Phrase.duration(nanoseconds) }

  private static func seconds(nanoseconds: UInt64) -> String {
    let milliseconds = nanoseconds / 1_000_000
    return "\(milliseconds / 1_000).\(padded(Int64(milliseconds % 1_000), to: 3))s"
  }

  private static func clock(nanoseconds: Int64) -> String {
    let seconds = nanoseconds / perSecond
    let (hours, minutes) = (seconds / 3_600, seconds / 60 % 60)
    return "\(padded(hours, to: 2)):\(padded(minutes, to: 2)):\(padded(seconds % 60, to: 2))"
      + fraction(nanoseconds: nanoseconds % perSecond)
  }

  /// A point and three, six or nine digits.
  private static func fraction(nanoseconds: Int64) -> String {
    if nanoseconds % 1_000_000 == 0 { return "." + padded(nanoseconds / 1_000_000, to: 3) }
    if nanoseconds % 1_000 == 0 { return "." + padded(nanoseconds / 1_000, to: 6) }
    return "." + padded(nanoseconds, to: 9)
  }

  private static func padded(_ number: Int64, to width: Int) -> String {
    let digits = "\(number)"
    return String(repeating: "0", count: max(0, width - digits.utf8.count)) + digits
  }

  private static func floorDivided(_ number: Int64, by divisor: Int64) -> Int64 {
    number / divisor - (number % divisor < 0 ? 1 : 0)
  }

  // MARK: Days

  /// The year, month and day of a day that is counted from the beginning of 1970.
  ///
  /// Years are counted from March, so that the leap day is the last of its year, in cycles of 400
  /// years, which have 146,097 days.
  private static func civil(day: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = day + 719_468
    let cycle = floorDivided(shifted, by: 146_097)
    let ofCycle = shifted - cycle * 146_097
    let year = (ofCycle - ofCycle / 1_460 + ofCycle / 36_524 - ofCycle / 146_096) / 365
    let ofYear = ofCycle - (365 * year + year / 4 - year / 100)
    let month = (5 * ofYear + 2) / 153
    let date = ofYear - (153 * month + 2) / 5 + 1
    return (
      cycle * 400 + year + (month >= 10 ? 1 : 0), month < 10 ? month + 3 : month - 9, date
    )
  }

  /// The days from the beginning of 1970 to a day; nil if the calendar does not have it.
  private static func day(year: Int64, month: Int64, date: Int64) -> Int64? {
    guard (1...12).contains(month), (1...31).contains(date) else { return nil }
    let shifted = month <= 2 ? year - 1 : year
    let cycle = floorDivided(shifted, by: 400)
    let ofCycle = shifted - cycle * 400
    let ofYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + date - 1
    let day = cycle * 146_097 + ofCycle * 365 + ofCycle / 4 - ofCycle / 100 + ofYear - 719_468
    // The thirtieth of February would be a day of March.
    return civil(day: day) == (year, month, date) ? day : nil
  }

  // MARK: Reading

  /// Reads a time: a date by ISO 8601, a time of day, or an offset such as `+5s` or `+1m30s`.
  ///
  /// All are in UTC; a date may lack its time of day. A time of day is the first one that is not
  /// before the start of the log.
  ///
  /// - Parameters:
  ///   - text: What somebody wrote.
  ///   - start: When the log begins.
  /// - Returns: The time; nil if the text is none of these.
  public static func time(_ text: String, start: Timestamp) -> Timestamp? {
    if text.hasPrefix("+") || text.hasPrefix("-") {
      guard let length = nanoseconds(text: text.dropFirst()) else { return nil }
      return text.hasPrefix("-") ? start - length : start + length
    }
    let body = text.hasSuffix("Z") || text.hasSuffix("z") ? text.dropLast() : text[...]
    let halves = body.split(omittingEmptySubsequences: false) { "Tt ".contains($0) }
    if halves.count == 1, body.contains(":") {
      guard let ofDay = timeOfDay(text: body) else { return nil }
      let day = floorDivided(start.nanoseconds, by: perDay)
      let time = moment(day: day, ofDay: ofDay)
      return time.map { $0 < start ? $0 + perDay : $0 }
    }
    guard (1...2).contains(halves.count) else { return nil }
    let parts = halves[0].split(separator: "-", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].utf8.count == 4, let year = whole(text: parts[0]),
      let month = whole(text: parts[1]), let date = whole(text: parts[2]),
      let day = day(year: year, month: month, date: date)
    else { return nil }
    guard halves.count == 2 else { return moment(day: day, ofDay: 0) }
    return timeOfDay(text: halves[1]).flatMap { moment(day: day, ofDay: $0) }
  }

  private static func moment(day: Int64, ofDay: Int64) -> Timestamp? {
    let (nanoseconds, overflow) = day.multipliedReportingOverflow(by: perDay)
    let (sum, overflow2) = nanoseconds.addingReportingOverflow(ofDay)
    return overflow || overflow2 ? nil : Timestamp(nanoseconds: sum)
  }

  private static func timeOfDay(text: Substring) -> Int64? {
    let parts = text.split(separator: ":", omittingEmptySubsequences: false)
    guard (2...3).contains(parts.count), let hour = whole(text: parts[0]), hour < 24,
      let minute = whole(text: parts[1]), minute < 60
    else { return nil }
    let seconds = parts.count == 3 ? decimal(text: parts[2], unit: perSecond) : 0
    guard let seconds, seconds < 60 * perSecond else { return nil }
    return (hour * 3_600 + minute * 60) * perSecond + seconds
  }

  /// A length of time: numbers with units, `ms`, `s`, `m`, `h` or `d`; seconds without one.
  static func nanoseconds(text: Substring) -> Int64? {
    var rest = text
    var total: Int64 = 0
    guard !rest.isEmpty else { return nil }
    while !rest.isEmpty {
      let number = rest.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
      let unitName = rest.dropFirst(number.count).prefix { $0.isASCII && $0.isLetter }
      rest = rest.dropFirst(number.count + unitName.count)
      let unit: Int64
      switch unitName {
      case "ms": unit = 1_000_000
      case "s", "": unit = perSecond
      case "m", "min": unit = 60 * perSecond
      case "h": unit = 3_600 * perSecond
      case "d": unit = perDay
      default: return nil
      }
      guard let part = decimal(text: number, unit: unit) else { return nil }
      let (sum, overflow) = total.addingReportingOverflow(part)
      if overflow { return nil }
      total = sum
    }
    return total
  }

  /// A decimal number of a unit, in nanoseconds; digits beyond are cut off.
  private static func decimal(text: Substring, unit: Int64) -> Int64? {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), let number = whole(text: parts[0]) else { return nil }
    let (product, overflow) = number.multipliedReportingOverflow(by: unit)
    if overflow { return nil }
    guard parts.count == 2 else { return product }
    let digits = parts[1].prefix(9)
    guard let fraction = whole(text: digits) else { return nil }
    var scale: Int64 = 1
    for _ in 0..<digits.count { scale *= 10 }
    let wide = UInt64(fraction).multipliedFullWidth(by: UInt64(unit))
    let extra = Int64(UInt64(scale).dividingFullWidth(wide).quotient)
    let (sum, overflow2) = product.addingReportingOverflow(extra)
    return overflow2 ? nil : sum
  }

  private static func whole(text: Substring) -> Int64? {
    guard (1...18).contains(text.utf8.count), text.utf8.allSatisfy({ $0 >= 48 && $0 < 58 }) else {
      return nil
    }
    return Int64(text)
  }
}
