import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The counters that tables have got since their rows were stored, until the rows are compared: what a table has there is
/// nobody's count, whereas others may have counted long since.
struct AddedCounters {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// The names of a table's counters that were added.
  func names(of table: Int64) throws(SQLiteError) -> Set<String> {
    Set((try facts.names(.addedCounters)["\(table)"] ?? [:]).keys)
  }

  /// Notes those of a table's counters that it did not have when it was registered: one that stayed on the device it had.
  func note(
    of table: RecordTable,
    since former: RegisteredTable
  ) throws(SQLiteError) {
    guard table.hasCounters else { return }
    // A declaration that needs what only the app's connection has makes no table here: then the registered names tell.
    let declared = try? former.remade().schema?.writableColumns
    let names = declared?.map(\.name) ?? former.columns
    let renamed = try FormerColumns(connection: connection).names(of: former.id)
      .filter { $0.key != $0.value }
    let added = table.columns.filter { column in
      renamed[column] == nil && !names.contains { $0.isSameName(as: column) }
    }
    try note(added, of: table)
  }

  /// Notes those of a table's new columns that are counters.
  func note(_ columns: [String], of table: RecordTable) throws(SQLiteError) {
    let counters = columns.filter { table.rules.isCounter($0) }
    if counters.isEmpty { return }
    var all = try facts.names(.addedCounters)
    for name in counters { all["\(table.id)", default: [:]][name] = name }
    try facts.set(.addedCounters, toNames: all)
  }

  /// Notes new names of a table's columns, by the former ones.
  func rename(_ columns: [String: String], of table: Int64) throws(SQLiteError) {
    var all = try facts.names(.addedCounters)
    guard let names = all["\(table)"] else { return }
    let present = names.keys.map { columns[$0] ?? $0 }
    all["\(table)"] = Dictionary(present.map { ($0, $0) }) { first, _ in first }
    try facts.set(.addedCounters, toNames: all)
  }

  /// Forgets those of a table whose rows were compared.
  func forget(table: Int64) throws(SQLiteError) {
    try facts.forget(.addedCounters, of: "\(table)")
  }
}
