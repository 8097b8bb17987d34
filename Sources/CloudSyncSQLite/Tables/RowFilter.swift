import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The condition of a table's rows that are sent.
struct RowFilter: Sendable, Hashable {
  /// Finds a row, whose key is bound, if it matches.
  private let search: String

  /// Takes a condition of a table's, which was checked.
  init(_ condition: String, of schema: TableSchema) {
    let isRow = TableSQL.isRow(of: schema.primaryKey)
    // A comment may end the condition.
    search = "SELECT 1 FROM main.\(schema.name.quotedName) WHERE \(isRow) AND (\(condition)\n)"
  }

  /// Whether the row of a key that is in its table matches.
  func matches(
    rowOf key: RecordKey,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> Bool {
    let query = try connection.statement(search)
    for (place, value) in key.values.enumerated() { query.bind(value, at: Int32(place + 1)) }
    defer { query.reset() }
    return try query.step()
  }
}
