import CloudSyncSQLiteSupport

/// Finds the rows that hold a row's values of a unique key, as SQLite compares them.
package struct UniqueKeySearch: Sendable {
  /// The columns that the key looks at, in the table's order.
  package let columns: [String]
  /// What is compared, as SQL, with its collation; nil for the column's own.
  private let terms: [(sql: String, collation: String?)]
  /// Which rows the key is for, as SQL; nil for all.
  private let predicate: String?

  /// The search for a unique key; nil if its index cannot be read.
  init?(_ key: TableSchema.UniqueKey, of table: TableSchema) {
    let needsText = key.isPartial || key.columns.contains(nil)
    if !needsText {
      columns = key.columns.compactMap { $0 }
      terms = zip(columns, key.collations).map { ($0.quotedName, $1) }
      predicate = nil
      return
    }
    let sql = table.dependentSQL.first {
      CreateStatement.objectName(of: $0)?.isSameName(as: key.name) == true
    }
    guard let sql, let parts = IndexDeclaration(sql), parts.terms.count == key.columns.count else {
      return nil
    }
    terms = parts.terms.indices.map { place in
      (key.columns[place]?.quotedName ?? "(\(parts.terms[place]))", key.collations[place])
    }
    predicate = parts.predicate
    columns = table.columns.map(\.name)
      .filter { name in
        key.columns.contains(name) || parts.names.contains { $0.isSameName(as: name) }
      }
  }

  /// The search by the primary key, which may hold text to be equal that differs in its bytes.
  init(primaryKeyOf table: TableSchema) {
    columns = table.primaryKey
    terms = columns.map { ($0.quotedName, nil) }
    predicate = nil
  }

  /// The query for the keys of such rows, but for the row itself.
  ///
  /// The candidate is the SQL of the row's value for every writable column.
  package func sql(in table: TableSchema, candidate: [String], ownKey: String) -> String {
    let name = table.name.quotedName
    let columns = zip(candidate, table.writableColumns)
      .map { "\($0) AS \($1.name.quotedName)" }
    let row = "(SELECT \(columns.joined(separator: ", "))) AS \(name)"
    let filter = predicate.map { " WHERE (\($0))" } ?? ""
    let conditions =
      terms.map { term in
        let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
        return "\(term.sql)\(collation) = (SELECT \(term.sql) FROM \(row)\(filter))"
      } + (predicate.map { ["(\($0))"] } ?? []) + ["NOT (\(ownKey))"]
    let key = table.primaryKey.map(\.quotedName).joined(separator: ", ")
    return
      "SELECT \(key) FROM \(name) WHERE \(conditions.joined(separator: " AND ")) ORDER BY \(key)"
  }
}
