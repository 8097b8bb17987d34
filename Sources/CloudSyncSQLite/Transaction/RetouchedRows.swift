import CloudSyncCore
import CloudSyncSQLiteSupport

/// What triggers of the app's have done about rows that the engine has written: changed columns of its own, or rolled
/// the transaction back.
struct RetouchedRows {
  /// What a row is to be in columns that a trigger has changed.
  struct Row {
    let place: Int
    let key: RecordKey
    let values: [RowWriter.Change]
  }

  private var rows: [Row] = []
  /// What triggers have rolled this transaction back over, when it was run before.
  var rolledBack = RolledBackWrites()

  /// Notes what triggers have changed in a row that was written; returns whether it is still there.
  ///
  /// - Parameters:
  ///   - row: The row, with the values that it had before.
  ///   - table: Its table.
  ///   - written: What the engine has written.
  ///   - connection: The connection.
  /// - Returns: Whether the row is still there.
  /// - Throws: SQLite's reason.
  mutating func note(
    _ row: LoadedRow,
    of table: RecordTable,
    written: [RowWriter.Change],
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> Bool {
    guard let now = try table.rows(on: connection).values(of: row.key.values) else { return false }
    var wrong: [RowWriter.Change] = []
    for (place, column) in table.columns.enumerated() where !table.key.contains(column) {
      let wanted = written.first { $0.column == column }?.value ?? row.values?[place]
      guard let wanted, now[place] != wanted else { continue }
      wrong.append((column, wanted))
    }
    if !wrong.isEmpty { rows.append(Row(place: row.place, key: row.key, values: wrong)) }
    return true
  }

  /// Takes all of them: the next look finds what was changed from now on.
  mutating func takeAll() -> [Row] {
    defer { rows = [] }
    return rows
  }
}
