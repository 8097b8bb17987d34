#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// The name of the collation by which a column is compared where nothing else is said.
  package func collation(ofColumn column: String, in table: String) throws(SQLiteError) -> String {
    var name: UnsafePointer<CChar>?
    let code = unsafe sqlite3_table_column_metadata(
      handle,
      "main",
      table,
      column,
      nil,
      &name,
      nil,
      nil,
      nil
    )
    guard code == SQLITE_OK else { throw unsafe Self.error(code, handle: handle) }
    return unsafe name.map { unsafe String(cString: $0) } ?? "BINARY"
  }
}
