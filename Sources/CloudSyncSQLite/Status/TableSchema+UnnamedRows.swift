import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension TableSchema {
  /// The rows whose primary keys hold NULL, by their numbers.
  func unnamedRows(
    limit: Int,
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> [UnnamedRow] {
    let columns = nullableKeyColumns
    if columns.isEmpty { return [] }
    let condition = columns.map { "t.\($0.quotedName) IS NULL" }.joined(separator: " OR ")
    let query =
      try connection.prepare(
        "SELECT \(rowNumberName.map { "t.\($0)" } ?? "NULL") FROM \(name.quotedName) t"
          + " WHERE \(condition) ORDER BY 1 LIMIT ?1"
      )
      .bind(Int64(limit), at: 1)
    var rows: [UnnamedRow] = []
    try query.forEachRow {
      let number = query.isNull(0) ? nil : query.integer(0)
      rows.append(UnnamedRow(table: name, rowNumber: number, columns: columns))
    }
    return rows
  }
}
