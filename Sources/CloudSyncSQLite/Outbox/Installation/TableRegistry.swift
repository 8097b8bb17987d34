import CloudSyncSQLiteSupport

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The tables that are or were captured.
struct TableRegistry {
  let connection: SQLiteConnection

  /// All of them, by number.
  func tables() throws(SQLiteError) -> [RegisteredTable] {
    let query = try connection.prepare(
      """
      SELECT id, name, columns, key, kept, sql, triggers, is_synchronized, filter
      FROM main.cloudsync_tables ORDER BY id
      """
    )
    var tables: [RegisteredTable] = []
    try query.forEachRow { () throws(SQLiteError) in
      let name = query.text(1) ?? ""
      tables.append(
        RegisteredTable(
          id: query.integer(0),
          name: name,
          columns: try decode(query.text(2), of: name),
          key: try decode(query.text(3), of: name),
          kept: try decode(query.text(4), of: name),
          sql: query.text(5) ?? "",
          triggers: try decode(query.text(6), of: name),
          isSynchronized: query.integer(7) != 0,
          filter: query.text(8)
        )
      )
    }
    return tables
  }

  /// Stores what is known of a table.
  func save(_ table: RegisteredTable) throws(SQLiteError) {
    try connection.prepare(
      """
      INSERT OR REPLACE INTO main.cloudsync_tables(
        id, name, columns, key, kept, sql, triggers, is_synchronized, filter
      ) VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9)
      """
    )
    .bind(table.id, at: 1).bind(table.name, at: 2)
    .bind(try encode(table.columns, of: table.name), at: 3)
    .bind(try encode(table.key, of: table.name), at: 4)
    .bind(try encode(table.kept, of: table.name), at: 5)
    .bind(table.sql, at: 6)
    .bind(try encode(table.triggers, of: table.name), at: 7)
    .bind(table.isSynchronized ? 1 : 0, at: 8)
    .bind(table.filter.map { .text($0) } ?? .null, at: 9)
    .run()
  }

  /// Forgets a table and what was captured of it.
  func remove(_ table: RegisteredTable) throws(SQLiteError) {
    try connection.execute(
      """
      DELETE FROM main.cloudsync_tables WHERE id = \(table.id);
      DELETE FROM main.cloudsync_outbox WHERE table_id = \(table.id);
      -- Numbers of edits that are gone are given again.
      UPDATE main.cloudsync_clock SET left_until = 0;
      """
    )
  }

  /// A trigger that is in the database.
  struct InstalledTrigger: Sendable, Hashable {
    var table: String
    var sql: String
    /// Whether it runs before the app's triggers on the table: of those of one event SQLite runs the last that was made first.
    ///
    /// One of the app's that runs before may skip it with `RAISE(IGNORE)`, or edit the row before the edit that it is to
    /// capture is.
    var isFirst: Bool
  }

  /// The capture triggers that are in the database, by name.
  func installedTriggers() throws(SQLiteError) -> [String: InstalledTrigger] {
    let query =
      try connection.prepare(
        """
        SELECT name, tbl_name, sql, own.rowid > coalesce(last, 0)
        FROM main.sqlite_schema AS own LEFT JOIN (
          SELECT tbl_name AS name_of_table, max(rowid) AS last FROM main.sqlite_schema
          WHERE type = 'trigger' AND lower(substr(name, 1, 10)) <> 'cloudsync_'
          GROUP BY tbl_name COLLATE NOCASE
        ) ON tbl_name = name_of_table COLLATE NOCASE WHERE type = 'trigger' AND substr(name, 1, ?2) = ?1
        """
      )
      .bind(CaptureTrigger.prefix, at: 1).bind(Int64(CaptureTrigger.prefix.utf8.count), at: 2)
    var triggers: [String: InstalledTrigger] = [:]
    try query.forEachRow {
      let trigger = InstalledTrigger(
        table: query.text(1) ?? "",
        sql: query.text(2) ?? "",
        isFirst: query.integer(3) != 0
      )
      triggers[query.text(0) ?? ""] = trigger
    }
    return triggers
  }

  // MARK: Lists

  private func encode<List: Encodable>(
    _ list: List,
    of table: String
  ) throws(SQLiteError) -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    do { return String(decoding: try encoder.encode(list), as: UTF8.self) } catch {
      throw SQLiteError(code: 1, message: "table \(table) cannot be registered: \(error)")
    }
  }

  private func decode<List: Decodable>(
    _ text: String?,
    of table: String
  ) throws(SQLiteError) -> List {
    do { return try JSONDecoder().decode(List.self, from: Data((text ?? "").utf8)) } catch {
      throw SQLiteError(code: 11, message: "cloudsync_tables is damaged for \(table): \(error)")
    }
  }
}
