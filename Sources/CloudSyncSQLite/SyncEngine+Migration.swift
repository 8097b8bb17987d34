import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Runs a migration that the engine's triggers are in the way of, such as `DROP COLUMN`.
  ///
  /// SQLite refuses to drop a column that a trigger names, and to rename anything while a trigger names a table that was
  /// dropped. The triggers of the tables are removed first; the next engine makes them anew, compares the tables with what
  /// is known of their rows, and sends what was changed meanwhile, by whomever. If the migration fails, or the process
  /// ends, nothing else is lost.
  ///
  /// ```swift
  /// try SyncEngine.withoutCapture(of: ["notes"], in: database) {
  ///   try database.execute("ALTER TABLE notes DROP COLUMN stars")
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - tables: The tables that are migrated; nil for all that are captured.
  ///   - database: The database; no engine may run on it.
  ///   - migrate: The migration, on whatever connection.
  /// - Returns: What the migration returns.
  /// - Throws: That the database cannot be written, or what the migration throws.
  public static func withoutCapture<Value>(
    of tables: [String]? = nil,
    in database: some SyncDatabase,
    _ migrate: () throws -> Value
  ) throws -> Value {
    try database.use { (connection) throws(SyncEngineError) in
      guard try OutboxSchema.installedVersion(on: connection) != nil else { return }
      try sqlite { () throws(SQLiteError) in
        try connection.transaction { () throws(SQLiteError) in
          let all = try TableRegistry(connection: connection).tables().map(\.name)
          try CaptureInstallation(connection: connection).removeTriggers(of: tables ?? all)
          try ActionTriggers.remove(from: connection)
          try connection.execute("DROP VIEW IF EXISTS main.cloudsync_status")
        }
      }
    }
    return try migrate()
  }
}
