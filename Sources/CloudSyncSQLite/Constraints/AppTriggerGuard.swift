import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Triggers of the app's run when the engine writes: they keep search indexes and sums up to date.
///
/// But what they change in the row itself, as the time of its last change, would make every device's
/// row another one; and if that were an edit, it would call the triggers of all others, without end. So
/// the row gets its values back in the end, by statements that call none of the app's triggers.
struct AppTriggerGuard {
  /// What a row is to be in columns that a trigger has changed.
  private struct Retouched {
    let table: Int64
    let key: [SQLiteValue]
    let values: [RowWriter.Change]
  }

  private var retouched: [Retouched] = []

  /// Notes what triggers have changed in a row that was written.
  ///
  /// - Parameters:
  ///   - row: The row, with the values that it had before.
  ///   - table: Its table.
  ///   - written: What the engine has written.
  ///   - connection: The connection.
  /// - Throws: SQLite's reason.
  mutating func note(
    _ row: LoadedRow,
    _ table: RecordTable,
    _ written: [RowWriter.Change],
    _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    guard table.hasTriggersOfTheApp,
      let now = try table.rows(connection).values(of: row.key.values)
    else { return }
    var wrong: [RowWriter.Change] = []
    for (place, column) in table.columns.enumerated() where !table.key.contains(column) {
      let wanted = written.first { $0.column == column }?.value ?? row.values?[place]
      guard let wanted, now[place] != wanted else { continue }
      wrong.append((column, wanted))
    }
    if wrong.isEmpty { return }
    retouched.append(Retouched(table: table.id, key: row.key.values, values: wrong))
  }

  /// Gives rows the values back that triggers have changed.
  mutating func restore(
    _ tables: SyncTables,
    _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    if retouched.isEmpty { return }
    let rows = retouched
    retouched = []
    for table in tables.inOrder {
      let own = rows.filter { $0.table == table.id }
      if own.isEmpty { continue }
      let triggers = try Self.triggers(of: table, connection)
      for trigger in triggers {
        try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)")
      }
      try CaptureSuppression(connection: connection)
        .withoutCapture(ofRowsOf: table.captured, mapping: { $0 }) {
          (names) throws(SQLiteError) in
          for row in own {
            try names.name(row.key)
            try Self.restore(row, table, connection)
          }
        }
      for trigger in triggers { try connection.execute(trigger.sql.ofMainTrigger) }
    }
  }

  private static func restore(
    _ row: Retouched,
    _ table: RecordTable,
    _ connection: SQLiteConnection
  ) throws(SQLiteError) {
    do throws(SQLiteError) { try table.rows(connection).update(row.key, row.values) } catch {
      // The trigger's value is the one that the table takes.
      guard error.isRefusal, connection.isInTransaction else { throw error }
    }
  }

  /// The app's triggers on a table, with the statements that make them, in the order of their making.
  private static func triggers(
    of table: RecordTable,
    _ connection: SQLiteConnection
  ) throws(SQLiteError) -> [(name: String, sql: String)] {
    let query =
      try connection.prepare(
        """
        SELECT name, sql FROM main.sqlite_schema
        WHERE type = 'trigger' AND tbl_name = ?1 COLLATE NOCASE
          AND name NOT LIKE 'cloudsync\\_%' ESCAPE '\\' ORDER BY rowid
        """
      )
      .bind(table.name, at: 1)
    return try query.mapRows { query in (query.text(0) ?? "", query.text(1) ?? "") }
  }
}

extension String {
  /// A stored statement that makes a trigger, for the main database, whatever the connection's temporary tables are
  /// called; any other statement is as it was.
  var ofMainTrigger: String {
    let prefix = "CREATE TRIGGER "
    return hasPrefix(prefix) ? prefix + "main." + dropFirst(prefix.count) : self
  }
}
