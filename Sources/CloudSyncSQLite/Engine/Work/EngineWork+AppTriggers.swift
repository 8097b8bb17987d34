import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Triggers of the app's run when the engine writes: they keep search indexes and sums up to date.
///
/// But what they change in the row itself, as the time of its last change, would make every device's
/// row another one; and if that were an edit, it would call the triggers of all others, without end. So
/// the row gets its values back in the end, by statements that call none of the app's triggers.
extension EngineWork {
  /// What a row is to be in columns that a trigger has changed.
  struct Retouched {
    let table: SyncTable
    /// The row's key as the engine's tables have it, and as values.
    let rowKey: SQLiteValue
    let key: [SQLiteValue]
    let values: [(column: String, value: SQLiteValue)]
  }

  /// Notes what triggers have changed in a row that was written.
  ///
  /// The row's own key is as the engine's tables have it. Before it was as given; nil stands for one
  /// that was not there, or was replaced.
  func noteRetouching(
    _ table: SyncTable,
    _ rowKey: SQLiteValue,
    _ key: [SQLiteValue],
    before: [SQLiteValue]?,
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    guard table.hasTriggersOfTheApp, let now = try rows(of: table).values(of: key) else { return }
    var wrong: [(column: String, value: SQLiteValue)] = []
    for (place, column) in table.schema.writableColumns.enumerated() where !table.isKey[place] {
      let written = changes.first { $0.column == column.name }?.value
      guard let wanted = written ?? before?[place], now[place] != wanted else { continue }
      wrong.append((column.name, wanted))
    }
    if wrong.isEmpty { return }
    tally.retouched.append(Retouched(table: table, rowKey: rowKey, key: key, values: wrong))
  }

  /// Gives rows the values back that triggers have changed.
  func restoreRetouched() throws(SQLiteError) {
    if tally.retouched.isEmpty { return }
    let rows = tally.retouched
    tally.retouched = []
    var numbers: [Int64] = []
    for row in rows where !numbers.contains(row.table.id) { numbers.append(row.table.id) }
    for number in numbers {
      guard let table = tables.byID[number] else { continue }
      let triggers = try store.triggersOfTheApp(on: table)
      for trigger in triggers {
        try connection.execute("DROP TRIGGER main.\(trigger.name.quotedName)")
      }
      for row in rows where row.table.id == number { try restore(row) }
      for trigger in triggers { try connection.execute(trigger.sql) }
    }
    try store.setApplying(nil)
  }

  private func restore(_ row: Retouched) throws(SQLiteError) {
    try store.setApplying((row.table.id, row.rowKey))
    do throws(SQLiteError) {
      try self.rows(of: row.table).update(row.key, row.values)
    } catch {
      // The trigger's value is the one that the table takes.
      guard error.isRefusal, connection.isInTransaction else { throw error }
    }
  }
}

extension MetadataStore {
  /// The app's triggers on a table.
  fileprivate func triggersOfTheApp(
    on table: SyncTable
  ) throws(SQLiteError) -> [(name: String, sql: String)] {
    try triggers(
      where: "tbl_name = \(SQLiteValue.text(table.name).literal) COLLATE NOCASE"
        + " AND name NOT LIKE 'cloudsync\\_%' ESCAPE '\\'"
    )
  }

  /// Triggers, with the statements that make them, in the order of their making.
  func triggers(
    where condition: String
  ) throws(SQLiteError) -> [(name: String, sql: String)] {
    let query = try connection.prepare(
      """
      SELECT name, sql FROM main.sqlite_schema
      WHERE type = 'trigger' AND \(condition) ORDER BY rowid
      """
    )
    var triggers: [(name: String, sql: String)] = []
    try query.forEachRow {
      if let name = query.text(0), let sql = query.text(1) { triggers.append((name, sql)) }
    }
    return triggers
  }
}
