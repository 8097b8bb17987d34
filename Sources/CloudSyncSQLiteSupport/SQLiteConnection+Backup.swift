#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// Copies the whole database, as of one moment, over another one, which is replaced.
  package func copy(to target: SQLiteConnection) throws(SQLiteError) {
    guard
      let backup = unsafe sqlite3_backup_init(target.handle, "main", handle, "main")
    else { throw Self.lastError(of: target) }
    let code = unsafe sqlite3_backup_step(backup, -1)
    let end = unsafe sqlite3_backup_finish(backup)
    if end != SQLITE_OK { throw Self.lastError(of: target) }
    // What ends with a lock is no error of the connection's.
    if code != SQLITE_DONE { throw SQLiteError(code: code, message: "the copy could not be made") }
  }

  private static func lastError(of connection: SQLiteConnection) -> SQLiteError {
    unsafe error(sqlite3_extended_errcode(connection.handle), handle: connection.handle)
  }
}
