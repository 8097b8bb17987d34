import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Keeps a session's journal in the database.
struct JournalStore {
  let connection: SQLiteConnection

  /// Everything that was written since the last snapshot; nil if nothing was.
  func read() throws(SQLiteError) -> Data? {
    let query = try connection.prepare("SELECT bytes FROM cloudsync_journal ORDER BY id")
    var data: Data?
    try query.forEachRow { data = (data ?? Data()) + query.bytes(0) }
    return data
  }

  /// Appends a piece, or begins anew with one that is a snapshot.
  func write(_ bytes: Data, isFirst: Bool) throws(SQLiteError) {
    try connection.transaction { () throws(SQLiteError) in
      if isFirst { try connection.execute("DELETE FROM cloudsync_journal") }
      try connection.fixedStatement("INSERT INTO cloudsync_journal(bytes) VALUES(?1)")
        .bind([UInt8](bytes), at: 1).run()
    }
  }

  func removeAll() throws(SQLiteError) { try connection.execute("DELETE FROM cloudsync_journal") }
}
