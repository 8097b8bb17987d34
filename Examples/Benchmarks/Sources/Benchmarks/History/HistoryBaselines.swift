import CloudSyncSQLite
import Foundation
import SQLiteBaseline

/// What a commit is held against: the same transaction by itself, and with SQLite's session extension.
enum HistoryBaselines {
  /// Inserts rows in a transaction.
  static func plain(_ file: DatabaseFile, _ numbers: Range<Int>) throws {
    try file.write { handle in
      sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
      HistoryBenchmarks.insert(numbers, into: handle)
      sqlite3_exec(handle, "COMMIT", nil, nil, nil)
    }
  }

  /// The same with a session, whose changeset is stored in a table of its own, as the least that a history needs.
  ///
  /// Does nothing where the system's SQLite declares no sessions.
  static func session(_ file: DatabaseFile, _ numbers: Range<Int>) throws {
    #if os(Linux)
    try file.write { handle in
      sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
      var session: OpaquePointer?
      sqlite3session_create(handle, "main", &session)
      sqlite3session_attach(session, "player")
      HistoryBenchmarks.insert(numbers, into: handle)
      var (count, bytes): (Int32, UnsafeMutableRawPointer?) = (0, nil)
      sqlite3session_changeset(session, &count, &bytes)
      sqlite3session_delete(session)
      var statement: OpaquePointer?
      sqlite3_prepare_v2(handle, "INSERT INTO changes(body) VALUES(?1)", -1, &statement, nil)
      sqlite3_bind_blob(statement, 1, bytes, count, nil)
      sqlite3_step(statement)
      sqlite3_finalize(statement)
      sqlite3_free(bytes)
      sqlite3_exec(handle, "COMMIT", nil, nil, nil)
    }
    #endif
  }

  static let sessionTable = "CREATE TABLE changes(seq INTEGER PRIMARY KEY, body BLOB);"

  /// A ratio to a session as the table prints it.
  static func ratio(_ time: Double, toSession session: Double) -> String {
    #if os(Linux)
    "\((time / session).rounded(2)) times a session"
    #else
    "the system's SQLite declares no sessions"
    #endif
  }
}
