package import CloudSyncSQLiteSupport

/// Why keys could not be migrated; nothing was changed then.
package enum KeyMigrationError: Error {
  /// The schema forbids it, for a reason in a sentence or two.
  case schema(String)
  /// The result would be damaged.
  case damaged(String)
  case sqlite(SQLiteError)
}

/// Runs a body of SQLite's within a migration.
func sqlite<Value>(
  _ body: () throws(SQLiteError) -> Value
) throws(KeyMigrationError) -> Value {
  do throws(SQLiteError) { return try body() } catch { throw .sqlite(error) }
}
