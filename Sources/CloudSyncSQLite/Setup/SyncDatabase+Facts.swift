import CloudSyncSQLiteSupport

extension SyncDatabase {
  /// Reads facts that an engine of this version has left; nil where none was ever set up.
  func readFacts<Value: Sendable>(
    _ body: @Sendable (Facts) throws(SQLiteError) -> Value?
  ) throws(SyncEngineError) -> Value? {
    try use { (connection) throws(SyncEngineError) in
      guard try OutboxSchema.installedVersion(on: connection) == OutboxSchema.version else {
        return nil
      }
      return try sqlite { () throws(SQLiteError) in try body(Facts(connection: connection)) }
    }
  }

  /// Keeps a fact; an engine is set up on the database.
  func keepFact(_ name: Facts.Name, as value: SQLiteValue?) throws(SyncEngineError) {
    try use { (connection) throws(SyncEngineError) in
      try sqlite { () throws(SQLiteError) in
        try Facts(connection: connection).set(name, to: value)
      }
    }
  }
}
