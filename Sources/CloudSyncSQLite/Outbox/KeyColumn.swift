import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// A column of a table's primary key.
struct KeyColumn: Sendable, Hashable, Codable {
  var name: String
  var collation: KeyCollation

  /// Whether two rows have the same value in it, as SQL.
  func isSame(_ row: String, as other: String) -> String {
    "\(row).\(name.quotedName) IS \(other).\(name.quotedName) COLLATE \(collation.rawValue)"
  }

  /// Reads the key of a table, as SQLite keeps it unique; nil if it has a collation of the app's own.
  static func read(
    of schema: TableSchema,
    in connection: SQLiteConnection
  ) throws(SQLiteError) -> [KeyColumn]? {
    // The key's index may compare otherwise than its columns do.
    let query =
      try connection.prepare(
        """
        SELECT x.name, x.coll FROM pragma_index_list(?1, 'main') l
          JOIN pragma_index_xinfo(l.name, 'main') x
        WHERE l.origin = 'pk' AND x."key"
        """
      )
      .bind(schema.name, at: 1)
    var collations: [(column: String, name: String)] = []
    try query.forEachRow { collations.append((query.text(0) ?? "", query.text(1) ?? "")) }
    var columns: [KeyColumn] = []
    for name in schema.primaryKey {
      let own = collations.first { $0.column.isSameName(as: name) }?.name ?? "BINARY"
      guard let collation = KeyCollation(name: own) else { return nil }
      columns.append(KeyColumn(name: name, collation: collation))
    }
    return columns
  }
}
