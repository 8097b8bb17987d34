import CloudSyncSQLiteSupport

/// A row that is not synchronized because a column of its primary key holds NULL.
///
/// SQLite allows that in ordinary tables, and takes two such keys for different ones: no other
/// device could tell which row is meant. The row stays as it is, and is sent once it has a key.
public struct UnnamedRow: Sendable, Hashable {
  /// The table's name.
  public let table: String
  /// The row's number; nil where columns of the table have all names of it.
  public let rowNumber: Int64?
  /// The columns of the key that may hold NULL, one of which does.
  public let columns: [String]

  /// What is wrong and what to do, in a sentence.
  public var reason: String {
    let row = rowNumber.map { "Row \($0)" } ?? "A row"
    let names = columns.map(\.quotedName).joined(separator: ", ")
    return
      "\(row) of table \(table.quotedName) has NULL in its primary key (\(names)), so no other device"
      + " could find it; give it a key."
  }
}

extension SyncEngine {
  /// The rows that are left out because their primary keys hold NULL, table by table.
  ///
  /// - Parameter limit: How many are returned of each table at most.
  /// - Returns: The rows, by their numbers.
  /// - Throws: That the database cannot be read.
  public func unnamedRows(limit: Int = 1_000) throws(SyncEngineError) -> [UnnamedRow] {
    try Self.write(to: database) { [tables] (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        var rows: [UnnamedRow] = []
        for table in tables.inOrder {
          let columns = table.schema.nullableKeyColumns
          guard let hasKey = table.hasKeySQL("t") else { continue }
          let number = table.schema.rowNumberName
          let query =
            try connection.prepare(
              "SELECT \(number.map { "t.\($0)" } ?? "NULL") FROM \(table.name.quotedName) t"
                + " WHERE NOT (\(hasKey)) ORDER BY 1 LIMIT ?1"
            )
            .bind(Int64(limit), at: 1)
          try query.forEachRow {
            rows.append(
              UnnamedRow(
                table: table.name,
                rowNumber: query.isNull(0) ? nil : query.integer(0),
                columns: columns
              )
            )
          }
        }
        return rows
      }
    }
  }
}
