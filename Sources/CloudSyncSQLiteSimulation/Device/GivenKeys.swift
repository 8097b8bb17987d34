import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Rows whose keys SQLite gives: an engine may have to give one another key, so what such a row was born with stands for
/// it in what is known of users' edits.
extension SimulatedSchema {
  /// Whether SQLite gives a table's rows their keys.
  func givesKeys(of table: String) -> Bool { givesKeys && table == "marks" }

  /// What stands for a row that has, or had, these values.
  func identity(of row: RowID, values: [RowEdit.Value]) -> RowID {
    guard givesKeys(of: row.table),
      let born = values.first(where: { $0.column == "born" })?.value
    else { return row }
    return RowID(table: row.table, key: [born])
  }
}

extension RowEditor {
  /// The row that a record of the workload stands for: of rows whose keys are given one of those that are there, or a new
  /// one.
  func row(number: Int) throws(SQLiteError) -> RowID {
    let row = schema.row(number: number, version: version)
    guard schema.givesKeys(of: row.table) else { return row }
    let keys = try connection.rows(sql: "SELECT id FROM \(row.table) ORDER BY born")
    let place = number / 3 % (keys.count + 1)
    return place < keys.count ? RowID(table: row.table, key: keys[place]) : row
  }
}
