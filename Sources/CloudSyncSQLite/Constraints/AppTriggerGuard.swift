import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Triggers of the app's run when the engine writes: they keep search indexes and sums up to date.
///
/// But what they change in the row itself, as the time of its last change, would make every device's
/// row another one; and if that were an edit, it would call the triggers of all others, without end. So
/// the row gets its values back in the end, while no trigger is called.
struct AppTriggerGuard {
  /// What a row is to be in columns that a trigger has changed.
  private struct Retouched {
    let place: Int
    let key: RecordKey
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
    retouched.append(Retouched(place: row.place, key: row.key, values: wrong))
  }

  /// Gives rows the values back that triggers have changed.
  static func restore(_ transaction: inout SyncTransaction) throws(SQLiteError) {
    // What is written in doing so may call triggers again.
    for _ in 0...transaction.tables.inOrder.count {
      let rows = transaction.appTriggers.retouched
      if rows.isEmpty { return }
      transaction.appTriggers.retouched = []
      try restore(rows, &transaction)
      try transaction.writeRows()
    }
  }

  private static func restore(
    _ rows: [Retouched],
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    // Nobody captures what SQLite does meanwhile to the rows that refer to such a value.
    for row in rows { try release(row, &transaction) }
    let (tables, connection) = (transaction.tables, transaction.connection)
    try connection.withoutTriggers { () throws(SQLiteError) in
      for row in rows {
        do throws(SQLiteError) {
          try tables[row.place].rows(connection).update(row.key.values, row.values)
        } catch {
          // The trigger's value is the one that the table takes.
          guard error.isRefusal, connection.isInTransaction else { throw error }
        }
      }
    }
  }

  /// Has the rows let go of a row that refer to it by what it gets back.
  private static func release(
    _ one: Retouched,
    _ transaction: inout SyncTransaction
  ) throws(SQLiteError) {
    for link in transaction.tables.links(to: one.place)
    where one.values.contains(where: { link.referencedColumns.contains($0.column) }) {
      let row = try transaction.row(one.key, in: one.place)
      for child in try transaction.children(of: row, by: link) where child != row.rowKey {
        if try transaction.release(child, from: link) { continue }
        _ = try transaction.takeOut(child)
      }
    }
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
