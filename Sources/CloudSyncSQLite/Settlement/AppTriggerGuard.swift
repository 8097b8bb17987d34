import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Triggers of the app's run when the engine writes: they keep search indexes and sums up to date.
///
/// But what they change in the row itself, as the time of its last change, would make every device's
/// row another one; and if that were an edit, it would call the triggers of all others, without end. So
/// the row gets its values back in the end, while no trigger is called.
struct AppTriggerGuard: TransactionPart {
  let transaction: SyncTransaction

  /// Gives rows the values back that triggers have changed.
  func restore() throws(SQLiteError) {
    // What is written in doing so may call triggers again.
    for _ in 0...tables.inOrder.count {
      let rows = transaction.retouched.takeAll()
      if rows.isEmpty { return }
      try restore(rows)
      try transaction.writing.writeRows()
    }
  }

  private func restore(_ rows: [RetouchedRows.Row]) throws(SQLiteError) {
    // Nobody captures what SQLite does meanwhile to the rows that refer to such a value.
    for row in rows { try release(row) }
    let (tables, connection) = (tables, connection)
    try connection.withoutTriggers { () throws(SQLiteError) in
      for row in rows {
        do throws(SQLiteError) {
          try tables[row.place].rows(on: connection).update(row.key.values, with: row.values)
        } catch {
          // The trigger's value is the one that the table takes.
          guard error.isRefusal, connection.isInTransaction else { throw error }
        }
      }
    }
  }

  /// Has the rows let go of a row that refer to it by what it gets back.
  private func release(_ one: RetouchedRows.Row) throws(SQLiteError) {
    for link in tables.links(to: one.place)
    where one.values.contains(where: { link.referencedColumns.contains($0.column) }) {
      let row = try row(one.key, in: one.place)
      for child in try transaction.children(of: row, by: link) where child != row.rowKey {
        if try transaction.release(child, from: link) { continue }
        _ = try transaction.removal.evict(child)
      }
    }
  }
}
