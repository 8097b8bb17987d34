import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// Writes a row so that it is not captured; what follows from it is.
  func withoutCapture<Value>(
    of row: LoadedRow,
    _ body: () throws(SQLiteError) -> Value
  ) throws(SQLiteError) -> Value {
    try beginWriting()
    return try CaptureSuppression(connection: connection)
      .withoutCapture(
        ofRowsOf: tables[row.place].captured,
        from: row.key.values,
        mapping: { $0 }
      ) { (_) throws(SQLiteError) in try body() }
  }

  /// Lets the app's triggers see that it is the engine that writes, until the transaction's end.
  private func beginWriting() throws(SQLiteError) {
    if isWriting { return }
    isWriting = true
    // Rows may refer to each other in a circle, or to a row that comes later: SQLite looks at that in the end.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    try CaptureSuppression(connection: connection).setSynchronizing(true)
  }

  /// Lets them see that it is not any more.
  func endWriting() throws(SQLiteError) {
    guard isWriting else { return }
    isWriting = false
    try CaptureSuppression(connection: connection).setSynchronizing(false)
  }
}
