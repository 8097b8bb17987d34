import CloudSyncSQLiteSupport

/// What columns were called before a migration that has rebuilt their table: until its rows were compared with the cloud's
/// records, which have the former names.
struct FormerColumns {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// The former names of a table's columns, by the present ones.
  func names(of table: Int64) throws(SQLiteError) -> [String: String] {
    try facts.names(.formerColumns)["\(table)"] ?? [:]
  }

  /// Notes new names, by the former ones; a column that was renamed before keeps its first name.
  func note(_ renamed: [String: String], of table: Int64) throws(SQLiteError) {
    var all = try facts.names(.formerColumns)
    let known = all["\(table)"] ?? [:]
    var names = known.filter { renamed[$0.key] == nil }
    for (old, new) in renamed { names[new] = known[old] ?? old }
    all["\(table)"] = names
    try facts.set(.formerColumns, toNames: all)
  }

  /// Notes columns that were dropped and added again: each is its own former one.
  func note(readded columns: [String], of table: Int64) throws(SQLiteError) {
    try note(Dictionary(columns.map { ($0, $0) }) { first, _ in first }, of: table)
  }

  /// Forgets the names of a table whose rows were compared.
  func forget(table: Int64) throws(SQLiteError) {
    try facts.forget(.formerColumns, of: "\(table)")
  }
}
