package import CloudSyncSQLite
package import CloudSyncSQLiteSupport

extension SQLiteConnection {
  /// The rows of a query.
  func rows(sql: String) throws(SQLiteError) -> [[SQLiteValue]] {
    let query = try prepare(sql)
    var rows: [[SQLiteValue]] = []
    try query.forEachRow { rows.append((0..<query.columnCount).map { query.value($0) }) }
    return rows
  }
}

extension DatabaseFile {
  /// The rows of a query.
  package func rows(sql: String) throws -> [[SQLiteValue]] {
    try write { handle in try SQLiteConnection(borrowing: handle).rows(sql: sql) }
  }

  /// The rows of a query as lines of literals.
  package func lines(sql: String) throws -> [String] {
    try rows(sql: sql).map { row in row.map(\.literal).joined(separator: "|") }
  }
}
