import CloudSyncSQLiteSupport

extension SyncDatabase {
  /// Runs a body with the database's connection.
  func use<Value: Sendable>(
    _ body: @Sendable (SQLiteConnection) throws(SyncEngineError) -> Value
  ) throws(SyncEngineError) -> Value {
    do {
      if let keeper = self as? any StatementKeeping { return try keeper.withConnection(body) }
      return try write { handle in try body(SQLiteConnection(borrowing: handle)) }
    } catch let error as SyncEngineError {
      throw error
    } catch {
      throw SyncEngineError(.cannotAccess, "the database cannot be written: \(error)")
    }
  }
}
