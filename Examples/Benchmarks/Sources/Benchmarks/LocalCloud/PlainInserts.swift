import CloudSyncSession
import Foundation
import SQLiteBaseline

/// What SQLite itself needs to insert records by name: one statement a record, a transaction for 400.
enum PlainInserts {
  /// Inserts the same bytes under the same names, with the index by name that a store needs.
  ///
  /// - Returns: The records of a second.
  static func recordsPerSecond(_ batches: [ModifyOperation], at path: String) throws -> Double {
    var handle: OpaquePointer?
    guard sqlite3_open(path, &handle) == SQLITE_OK else {
      throw SyncError(.internalError, "\(path) cannot be opened")
    }
    defer { sqlite3_close(handle) }
    let schema = """
      PRAGMA journal_mode = WAL;
      PRAGMA synchronous = NORMAL;
      CREATE TABLE items(place INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, body BLOB NOT NULL);
      """
    sqlite3_exec(handle, schema, nil, nil, nil)
    var statement: OpaquePointer?
    sqlite3_prepare_v2(handle, "INSERT INTO items(name, body) VALUES(?, ?)", -1, &statement, nil)
    defer { sqlite3_finalize(statement) }
    let rows = batches.map { $0.records.map { ($0.recordID.name, Self.body) } }
    let clock = ContinuousClock()
    let start = clock.now
    for batch in rows {
      sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
      for (name, body) in batch {
        try body.withUnsafeBytes { bytes in
          try name.withCString { text in
            sqlite3_bind_text(statement, 1, text, -1, nil)
            sqlite3_bind_blob(statement, 2, bytes.baseAddress, Int32(bytes.count), nil)
            guard sqlite3_step(statement) == SQLITE_DONE else {
              throw SyncError(.internalError, String(cString: sqlite3_errmsg(handle)))
            }
          }
        }
        sqlite3_reset(statement)
      }
      sqlite3_exec(handle, "COMMIT", nil, nil, nil)
    }
    let seconds = (clock.now - start).nanoseconds / 1e9
    return Double(batches.count * CloudBenchmarks.batchSize) / seconds
  }

  /// As many bytes as the store keeps for such a record, its name and text included.
  private static let body = Data(repeating: 0x61, count: 260)
}
