import CloudSyncSQLiteSupport

extension SQLiteValue {
  /// The same whole number, whether a column of reals holds it or one of whole numbers.
  var withoutType: SQLiteValue {
    guard case .real(let number) = self, let whole = Int64(exactly: number) else { return self }
    return .integer(whole)
  }
}
