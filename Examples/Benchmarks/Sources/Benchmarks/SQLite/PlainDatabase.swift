import CloudSyncSQLite
import Foundation
import SQLiteBaseline

/// A database with one table of notes, which is edited as an app edits it: by prepared statements.
final class PlainDatabase {
  static let schema = """
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '', body TEXT, count INTEGER,
      weight REAL, done INTEGER NOT NULL DEFAULT 0
    )
    """
  private static let insertion =
    "INSERT INTO notes(id, title, body, count, weight, done) VALUES(?, ?, ?, ?, ?, ?)"
  let file: DatabaseFile

  init(path: String = ":memory:") throws {
    file = try DatabaseFile(path: path, createsFile: true)
    try file.execute(Self.schema)
  }

  /// Opens one that is there.
  init(existing path: String) throws { file = try DatabaseFile(path: path) }

  /// A row's values; its key says nothing about its number, as those of apps.
  static func key(_ number: Int) -> String {
    let mixed = UInt64(number + 1) &* 0x9e37_79b9_7f4a_7c15
    let digits = String(mixed, radix: 16)
    let text = String(repeating: "0", count: 16 - digits.count) + digits
    return "\(text.prefix(8))-0000-4000-8000-00\(text.suffix(10))"
  }

  static func title(_ number: Int) -> String { "Title number \(number)" }
  static let body = String(repeating: "lorem ", count: 20)

  /// Inserts rows; returns how many nanoseconds that took.
  @discardableResult
  func insert(_ keys: [String], perTransaction size: Int = 1_000) throws -> Double {
    let titles = keys.indices.map { Self.title($0) }
    return try file.write { handle in
      var statement: OpaquePointer?
      sqlite3_prepare_v2(handle, Self.insertion, -1, &statement, nil)
      defer { sqlite3_finalize(statement) }
      let start = ProcessorTime.now
      for first in stride(from: 0, to: keys.count, by: size) {
        sqlite3_exec(handle, "BEGIN IMMEDIATE", nil, nil, nil)
        for number in first..<min(first + size, keys.count) {
          Self.bind(keys[number], 1, statement)
          Self.bind(titles[number], 2, statement)
          Self.bind(Self.body, 3, statement)
          sqlite3_bind_int64(statement, 4, Int64(number))
          sqlite3_bind_double(statement, 5, Double(number) / 2)
          sqlite3_bind_int64(statement, 6, 0)
          guard sqlite3_step(statement) == SQLITE_DONE else { throw Self.failure(handle) }
          sqlite3_reset(statement)
        }
        sqlite3_exec(handle, "COMMIT", nil, nil, nil)
      }
      return ProcessorTime.now - start
    }
  }

  /// Updates rows one by one, each in a transaction of its own; returns nanoseconds for each.
  func update(_ keys: [String], round: Int) throws -> Double {
    try file.write { handle in
      var statement: OpaquePointer?
      sqlite3_prepare_v2(handle, "UPDATE notes SET title = ? WHERE id = ?", -1, &statement, nil)
      defer { sqlite3_finalize(statement) }
      let start = ProcessorTime.now
      for (number, key) in keys.enumerated() {
        Self.bind("Title \(round) of \(number)", 1, statement)
        Self.bind(key, 2, statement)
        guard sqlite3_step(statement) == SQLITE_DONE else { throw Self.failure(handle) }
        sqlite3_reset(statement)
      }
      return (ProcessorTime.now - start) / Double(keys.count)
    }
  }

  func count(_ sql: String) throws -> Int64 {
    try file.write { handle in
      var statement: OpaquePointer?
      sqlite3_prepare_v2(handle, sql, -1, &statement, nil)
      defer { sqlite3_finalize(statement) }
      guard sqlite3_step(statement) == SQLITE_ROW else { throw Self.failure(handle) }
      return sqlite3_column_int64(statement, 0)
    }
  }

  private static func bind(_ text: String, _ index: Int32, _ statement: OpaquePointer?) {
    let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
    var text = text
    text.withUTF8 { bytes in
      bytes.withMemoryRebound(to: CChar.self) { bytes in
        _ = sqlite3_bind_text(statement, index, bytes.baseAddress, Int32(bytes.count), transient)
      }
    }
  }

  private static func failure(_ handle: OpaquePointer?) -> SyncEngineError {
    SyncEngineError(.statement, String(cString: sqlite3_errmsg(handle)))
  }
}
