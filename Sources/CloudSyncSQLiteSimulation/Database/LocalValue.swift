import CloudSyncSQLiteSupport

/// What a device's user has put into a column that stays there: noted in a table beside, which no engine knows, in the
/// same transaction.
struct LocalValue {
  /// The row, in words.
  let row: String
  let born: SQLiteValue
  let value: SQLiteValue

  /// The statement that makes the table of the notes.
  static let table =
    "CREATE TABLE local_values(number INTEGER PRIMARY KEY, row TEXT, born INTEGER, value TEXT);"

  /// All that were noted, the oldest first.
  static let query = "SELECT row, born, value FROM local_values ORDER BY number"

  init?(_ values: [SQLiteValue]) {
    guard values.count == 3, case .text(let row) = values[0] else { return nil }
    (self.row, born, value) = (row, values[1], values[2])
  }
}
