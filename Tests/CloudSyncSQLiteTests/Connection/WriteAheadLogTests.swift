import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// A file gets its log while others use it.
@Suite("Write-ahead log")
struct WriteAheadLogTests {
  @Test("Who finds the file in another's hands waits until that has committed")
  func waits() throws {
    let folder = try TestFolder("log")
    let path = folder.file("t.db")
    let other = try SQLiteConnection(path: path)
    try other.execute("CREATE TABLE t(v); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
    let connection = try SQLiteConnection(path: path)
    // SQLite calls this where it would wait for the other: that is when the other comes to its end.
    let commits: @convention(c) (UnsafeMutableRawPointer?, Int32) -> Int32 = { handle, _ in
      sqlite3_exec(handle.map { OpaquePointer($0) }, "COMMIT", nil, nil, nil) == SQLITE_OK ? 1 : 0
    }
    sqlite3_busy_handler(connection.handle, commits, UnsafeMutableRawPointer(other.handle))

    try connection.useWriteAheadLog()

    #expect(try connection.value("PRAGMA journal_mode") == .text("wal"))
    #expect(try connection.integer("SELECT count(*) FROM t") == 1)
  }

  @Test("A file that stays in another's hands is told to be busy")
  func busy() throws {
    let folder = try TestFolder("log")
    let path = folder.file("t.db")
    let other = try SQLiteConnection(path: path)
    try other.execute("CREATE TABLE t(v); BEGIN IMMEDIATE; INSERT INTO t VALUES(1)")
    let connection = try SQLiteConnection(path: path)

    let error = #expect(throws: SQLiteError.self) { try connection.useWriteAheadLog() }

    #expect(error?.kind == .busy)
    try other.execute("COMMIT")
    try connection.useWriteAheadLog()
  }
}
