/// Which parts a coded clock has; most have none of them.
struct ClockFlags: OptionSet, Sendable, Hashable {
  let rawValue: UInt8

  /// The row was deleted.
  static let deleted = ClockFlags(rawValue: 1)
  /// The tombstone is to be purged.
  static let purge = ClockFlags(rawValue: 2)
  /// Of the columns up to the last number not all are there.
  static let someNumbers = ClockFlags(rawValue: 4)
  /// Some columns have no number.
  static let names = ClockFlags(rawValue: 8)
  /// The columns' shared time is not that of the row's creation.
  static let sharedTime = ClockFlags(rawValue: 16)
  /// Some columns have another time than the shared one.
  static let ownTimes = ClockFlags(rawValue: 32)
  static let shares = ClockFlags(rawValue: 64)
  static let seen = ClockFlags(rawValue: 128)
}
