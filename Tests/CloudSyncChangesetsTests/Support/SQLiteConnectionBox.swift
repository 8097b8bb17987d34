import CloudSyncSQLiteSupport

enum SQLiteConnectionBox {
  /// Runs a statement that no trigger sees, as a program might that has turned them off.
  static func withoutTriggers(_ handle: OpaquePointer, _ sql: String) throws {
    let connection = SQLiteConnection(borrowing: handle)
    try connection.withoutTriggers { () throws(SQLiteError) in try connection.execute(sql) }
  }
}
