/// Where the time of a captured edit comes from.
package enum CaptureClock: Sendable, Hashable {
  case system
  /// The column `fixed` of the clock, in milliseconds since 1970: for simulations; if it is NULL, the system.
  case fixed

  /// The present as a Julian day, as SQL.
  var sql: String {
    switch self {
    case .system: "julianday()"
    case .fixed:
      "(SELECT coalesce(2440587.5 + fixed / 86400000.0, julianday()) FROM cloudsync_clock)"
    }
  }

  /// The milliseconds since 1970 of a Julian day.
  package static func milliseconds(ofJulianDay day: Double) -> Int64 {
    let number = ((day - 2_440_587.5) * 86_400_000).rounded()
    return Int64(exactly: number) ?? 0
  }
}
