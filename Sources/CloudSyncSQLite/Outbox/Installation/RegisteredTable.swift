import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A table as it was when its triggers were installed last.
struct RegisteredTable: Sendable, Hashable {
  var id: Int64
  var name: String
  /// The columns by their numbers: the list only grows, so that numbers keep their meaning.
  var columns: [String]
  var key: [KeyColumn]
  /// The columns whose values are kept: the list only grows.
  var kept: [String]
  /// Its CREATE statement.
  var sql: String
  /// The texts of its triggers, by name; none while they are removed for a migration.
  var triggers: [String: String]
  /// Whether the last engine synchronized it.
  var isSynchronized: Bool
  /// The condition of the rows that are sent, by which the triggers were made; nil for all.
  var filter: String?

  /// The table as its triggers know it, with the columns that it has now.
  func captured(in schema: DatabaseSchema) -> CapturedTable? {
    schema.table(named: name)
      .map { schema in
        CapturedTable(
          id: id,
          schema: schema,
          columns: columns,
          key: key,
          kept: kept,
          filter: filter
        )
      }
  }

  /// An empty table of its declaration, which takes values as it did; throws where that needs what only the app's connection
  /// has.
  func remade() throws(SQLiteError) -> (connection: SQLiteConnection, schema: TableSchema?) {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute("PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON")
    try connection.execute(sql)
    return (connection, try DatabaseSchema.read(connection).table(named: name))
  }
}
