import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngine {
  /// Tells what in a database's schema stands in the way of synchronization; nothing is written.
  ///
  /// ```swift
  /// for violation in try SyncEngine.check(database) {
  ///   print(violation)
  ///   if let sql = violation.sql { print("repair it with:\n\(sql)") }
  /// }
  /// ```
  ///
  /// - Parameters:
  ///   - database: The database; a connection that can only read is enough.
  ///   - tables: The tables that are to be synchronized; nil for all that can be.
  ///   - options: What the engine would be told.
  /// - Returns: Errors and warnings, table by table.
  /// - Throws: That the database cannot be read.
  public static func check(
    _ database: some SyncDatabase,
    tables: [String]? = nil,
    options: SyncEngineOptions = SyncEngineOptions()
  ) throws(SyncEngineError) -> [SchemaViolation] {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        let schema = try DatabaseSchema.read(connection)
        let names = tables ?? schema.tables.map(\.name)
        return try HistoryTablesCheck(connection: connection).violations(of: names, in: schema)
          + MissingCollationCheck(connection: connection).violations(of: names, in: schema)
          + options.violations(in: schema, tables: names)
          + options.rowFilterHazards(in: schema, tables: names)
      }
    }
  }

  /// The names of a database's ordinary tables, in the order of their bytes: neither views nor virtual
  /// tables, nor what SQLite and the engine keep for themselves.
  ///
  /// - Throws: That the database cannot be read.
  public static func tableNames(
    in database: some SyncDatabase
  ) throws(SyncEngineError) -> [String] {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection).tables.map(\.name)
      }
    }
  }
}

extension SyncEngine {
  /// Finds columns that hold other tables' integer keys without declaring it, by their names and values.
  ///
  /// - Parameters:
  ///   - database: The database.
  ///   - tables: The tables whose keys they may hold.
  /// - Returns: What looks like a reference, and why.
  /// - Throws: That the database cannot be read.
  public static func undeclaredReferences(
    in database: some SyncDatabase,
    to tables: [String]
  ) throws(SyncEngineError) -> [UndeclaredReference] {
    try database.use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try ReferenceSearch(try DatabaseSchema.read(connection), to: tables, on: connection).run()
      }
    }
  }
}
