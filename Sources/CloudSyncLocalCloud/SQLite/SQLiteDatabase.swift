import CloudSyncCore

#if canImport(SQLite3)
import SQLite3
#else
import CSQLite
#endif

/// One connection to a SQLite file, used by one thread at a time.
final class SQLiteDatabase {
  let path: String
  private let handle: OpaquePointer
  /// Prepared statements, by their text.
  private var statements: [StaticStringKey: SQLiteStatement] = [:]

  /// Opens a file, and creates it where it is missing.
  init(path: String) throws(LocalCloudStoreError) {
    var handle: OpaquePointer?
    let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
    let code = sqlite3_open_v2(path, &handle, flags, nil)
    guard code == SQLITE_OK, let handle else {
      let error = Self.error(code, path, handle)
      sqlite3_close_v2(handle)
      throw error
    }
    self.path = path
    self.handle = handle
    sqlite3_extended_result_codes(handle, 1)
  }

  deinit {
    statements.removeAll()
    sqlite3_close_v2(handle)
  }

  /// Waits up to so long for other writers.
  func setBusyTimeout(milliseconds: Int32) { sqlite3_busy_timeout(handle, milliseconds) }

  /// Runs statements that have no values and give no rows.
  func execute(_ sql: String) throws(LocalCloudStoreError) {
    let code = sqlite3_exec(handle, sql, nil, nil, nil)
    if code != SQLITE_OK { throw error(code) }
  }

  /// The statement of a text, prepared at its first use, ready to be bound.
  func statement(_ sql: StaticString) throws(LocalCloudStoreError) -> SQLiteStatement {
    let key = StaticStringKey(sql)
    if let known = statements[key] { return known }
    let statement = try prepare("\(sql)")
    statements[key] = statement
    return statement
  }

  /// A statement that is used once.
  func prepare(_ sql: String) throws(LocalCloudStoreError) -> SQLiteStatement {
    var prepared: OpaquePointer?
    let code = sqlite3_prepare_v3(
      handle,
      sql,
      -1,
      UInt32(SQLITE_PREPARE_PERSISTENT),
      &prepared,
      nil
    )
    guard code == SQLITE_OK, let prepared else { throw error(code) }
    return SQLiteStatement(prepared, self)
  }

  /// The whole number that a query gives.
  func integer(_ sql: String) throws(LocalCloudStoreError) -> Int64 {
    let statement = try prepare(sql)
    return try statement.step() ? statement.integer(0) : 0
  }

  /// The error that a result code stands for.
  func error(_ code: Int32) -> LocalCloudStoreError { Self.error(code, path, handle) }

  private static func error(
    _ code: Int32,
    _ path: String,
    _ handle: OpaquePointer?
  ) -> LocalCloudStoreError {
    let text = handle.map { String(cString: sqlite3_errmsg($0)) } ?? "no memory"
    return switch code & 0xff {
    case SQLITE_BUSY, SQLITE_LOCKED:
      LocalCloudStoreError(.busy, path: path, "another process is writing to it; try again")
    case SQLITE_NOTADB:
      LocalCloudStoreError(
        .foreign,
        path: path,
        "it is no SQLite database; choose another file, or delete this one"
      )
    case SQLITE_CORRUPT:
      LocalCloudStoreError(
        .damaged,
        path: path,
        "the database is damaged (\(text)); restore a copy, or delete the file to begin anew"
      )
    case SQLITE_FULL:
      LocalCloudStoreError(.full, path: path, "the disk is full; make room and try again")
    default:
      LocalCloudStoreError(
        .cannotAccess,
        path: path,
        "\(text) (SQLite \(code)); check the folder and its permissions"
      )
    }
  }
}

/// Text of the program, compared by where it lies.
private struct StaticStringKey: Hashable {
  let start: UnsafePointer<UInt8>

  init(_ text: StaticString) { start = text.utf8Start }
}
