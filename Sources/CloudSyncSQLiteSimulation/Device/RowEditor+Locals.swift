import CloudSyncSQLiteSupport

extension RowEditor {
  /// Sets the local column of a row, and nothing else.
  mutating func setLocal(of row: RowID, number: Int64) throws(SQLiteError) {
    guard let table = table(of: row), let column = table.locals.first,
      try values(of: row, in: table) != nil
    else { return }
    let condition = row.condition(table: table)
    let text = SQLiteValue.text("l\(number)").literal
    let before = try capturedCount()
    try connection.execute(
      """
      UPDATE \(table.name) SET \(column.sql) = \(text) WHERE \(condition);
      INSERT INTO local_values(row, born, value)
      SELECT \(SQLiteValue.text("\(row)").literal), born, \(column.sql) FROM \(table.name) WHERE \(condition);
      """
    )
    if try capturedCount() != before {
      failures.append("an edit of \(row) is captured, of a column that stays here")
    }
  }

  /// How many edits wait to be read; nil where no engine has been yet.
  private func capturedCount() throws(SQLiteError) -> Int64? {
    let outbox = "SELECT count(*) FROM sqlite_schema WHERE name = 'cloudsync_outbox'"
    guard try connection.integer(outbox) > 0 else { return nil }
    return try connection.integer("SELECT count(*) FROM cloudsync_outbox")
  }
}
