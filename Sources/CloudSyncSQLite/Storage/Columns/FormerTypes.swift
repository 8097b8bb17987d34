import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What types columns had before their tables were rebuilt, until the rows are compared: a table holds what its types have
/// made of values, and a migration converts that.
struct FormerTypes {
  let connection: SQLiteConnection

  private var facts: Facts { Facts(connection: connection) }

  /// The former types of a table's columns that had others, by the present names.
  func types(of table: Int64) throws(SQLiteError) -> [String: String] {
    try facts.names(.formerTypes)["\(table)"] ?? [:]
  }

  /// Notes the types that columns of a rebuilt table had when it was registered, where these store values otherwise; one
  /// that was noted before keeps its first type.
  ///
  /// - Parameters:
  ///   - former: The table as it was registered.
  ///   - table: The table as it is.
  /// - Throws: SQLite's reason.
  func note(_ former: RegisteredTable, now table: RecordTable) throws(SQLiteError) {
    // A declaration that needs what only the app's connection has makes no table here: then nothing tells.
    guard let declared = try? former.remade().schema?.writableColumns else { return }
    let names = try FormerColumns(connection: connection).names(of: former.id)
    var all = try facts.names(.formerTypes)
    var types = all["\(former.id)"] ?? [:]
    for column in table.schema.writableColumns {
      if let first = types[column.name] {
        // It has come back.
        if ColumnImage.Affinity(type: first) == column.affinity { types[column.name] = nil }
        continue
      }
      let name = names[column.name] ?? column.name
      guard let old = declared.first(where: { $0.name.isSameName(as: name) }),
        old.affinity != column.affinity
      else { continue }
      types[column.name] = old.type
    }
    all["\(former.id)"] = types.isEmpty ? nil : types
    try facts.set(.formerTypes, toNames: all)
  }

  /// Forgets the types of a table whose rows were compared.
  func forget(table: Int64) throws(SQLiteError) {
    try facts.forget(.formerTypes, of: "\(table)")
  }
}
