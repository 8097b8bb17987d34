import CloudSyncSQLiteSchema
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
          rows += try table.schema.unnamedRows(limit: limit, in: connection)
        }
        return rows
      }
    }
  }
}

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
