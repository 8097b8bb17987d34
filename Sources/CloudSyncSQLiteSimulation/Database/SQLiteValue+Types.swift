import CloudSyncSQLiteSupport

extension SQLiteValue {
  /// The same whole number, whether a column of reals holds it or one of whole numbers.
  var withoutType: SQLiteValue {
    guard case .real(let number) = self, let whole = Int64(exactly: number) else { return self }
    return .integer(whole)
  }

  /// As a number, whatever its type; nil if it is none.
  var number: Double? {
    switch self {
    case .integer(let number): Double(number)
    case .real(let number): number
    default: nil
    }
  }
}
