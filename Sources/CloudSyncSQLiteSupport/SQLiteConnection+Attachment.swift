#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

extension SQLiteConnection {
  /// The file of a schema that is attached; nil if there is none, or it is in no file.
  package func file(ofSchema name: String) -> String? {
    guard let path = unsafe sqlite3_db_filename(handle, name) else { return nil }
    let text = unsafe String(cString: path)
    return text.isEmpty ? nil : text
  }
}
