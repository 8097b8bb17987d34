#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// Whether rows refer to rows that are not there, so that the transaction could not be committed.
  package var hasUnresolvedForeignKeys: Bool {
    var (count, highest): (Int32, Int32) = (0, 0)
    let code = unsafe sqlite3_db_status(handle, SQLITE_DBSTATUS_DEFERRED_FKS, &count, &highest, 0)
    return code != SQLITE_OK || count != 0
  }
}
