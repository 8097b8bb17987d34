import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that refer to others by a unique key beside the primary one, when that key changes elsewhere.
extension EngineWork {
  /// Whether rows may refer to a table by columns that can change.
  func mayHaveFollowers(_ table: SyncTable) -> Bool {
    tables.references(to: table)
      .contains { reference in
        reference.key.referencedColumns.contains { !table.schema.primaryKey.contains($0) }
      }
  }

  /// Has the rows that refer to a row do what their foreign keys say before its key changes.
  ///
  /// `RESTRICT` and `NO ACTION` cannot forbid what has happened elsewhere: the rows follow, as by `CASCADE`.
  /// The edits are just later than what they replace, so every device makes the same ones.
  func follow(
    _ table: SyncTable,
    _ key: [SQLiteValue],
    _ changes: [(column: String, value: SQLiteValue)]
  ) throws(SQLiteError) {
    for reference in tables.references(to: table) {
      guard let child = tables.table(named: reference.child.name),
        changes.contains(where: { reference.key.referencedColumns.contains($0.column) })
      else { continue }
      var values: [String] = []
      for column in reference.key.referencedColumns {
        let new = changes.first { $0.column == column }?.value.literal
        values.append(new ?? "p.\(column.quotedName)")
      }
      switch reference.key.onUpdate {
      case .setNull where reference.canBeNull: values = values.map { _ in "NULL" }
      case .setDefault: values = reference.defaults
      case .setNull, .cascade, .restrict, .noAction: break
      }
      let isKey = reference.key.columns.contains { child.schema.primaryKey.contains($0) }
      for (place, new) in try followers(of: key, table, child, reference, values) {
        let childKey = try child.keyValues(of: place.key, in: connection)
        try follow(child, childKey, Array(zip(reference.key.columns, new)))
        // A row that gets another key by it is another record, as by any edit of a key.
        try set(
          reference.key.columns,
          new.map(\.literal),
          of: place,
          child,
          childKey,
          isCaptured: isKey
        )
      }
    }
  }

  /// The rows that refer to a row whose key is going to change, and what they are to refer to.
  private func followers(
    of key: [SQLiteValue],
    _ table: SyncTable,
    _ child: SyncTable,
    _ reference: TableReference,
    _ values: [String]
  ) throws(SQLiteError) -> [(RowPlace, [SQLiteValue])] {
    let changed = zip(reference.key.referencedColumns, values)
      .map { "p.\($0.quotedName) IS NOT \($1)" }
    let query = try connection.prepare(
      "SELECT \(child.keySQL("c")), \(values.joined(separator: ", "))"
        + " FROM \(table.name.quotedName) p JOIN \(child.name.quotedName) c"
        + " ON \(reference.match(parent: "p", child: "c"))"
        + " WHERE \(table.keyCondition(from: 1, of: "p"))"
        + " AND (\(changed.joined(separator: " OR ")))"
    )
    for (place, value) in key.enumerated() { query.bind(value, at: Int32(place + 1)) }
    var found: [(RowPlace, [SQLiteValue])] = []
    // The row that they are to refer to is not there yet.
    try connection.execute("PRAGMA defer_foreign_keys = ON")
    try query.forEachRow {
      let new = values.indices.map { query.value(Int32($0 + 1)) }
      found.append((RowPlace(table: child.id, key: query.value(0)), new))
    }
    return found
  }
}
