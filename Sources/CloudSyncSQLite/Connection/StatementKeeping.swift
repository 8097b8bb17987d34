package import CloudSyncSQLiteSupport

/// A database that keeps prepared statements from one write to the next.
package protocol StatementKeeping: SyncDatabase {
  /// Runs a body with the connection, as `write` does; what it prepares is kept with the connection.
  func withConnection<Value: Sendable>(
    _ body: @Sendable (SQLiteConnection) throws -> Value
  ) throws -> Value
}
