import CloudSyncSQLiteSupport

/// What tells the rows that hold another row's values of a unique key, as SQLite compares them.
package struct UniqueKeySearch: Sendable {
  /// The columns that the key looks at, in the table's order.
  package let columns: [String]
  package typealias Term = (sql: String, collation: String?, column: String?)

  /// What is compared, as SQL, with its collation, nil for the column's own, and with the column; nil for an expression.
  package let terms: [Term]
  /// Which rows the key is for, as SQL; nil for all.
  package let predicate: String?

  /// The search for a unique key; nil if its index cannot be read.
  init?(_ key: TableSchema.UniqueKey, of table: TableSchema) {
    let needsText = key.isPartial || key.columns.contains(nil)
    if !needsText {
      columns = key.columns.compactMap { $0 }
      terms = zip(columns, key.collations).map { ($0.quotedName, $1, $0) }
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
      let column = key.columns[place]
      return (
        column?.quotedName ?? "(\(parts.terms[place]))", key.collations[place], column
      )
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
    terms = columns.map { ($0.quotedName, nil, $0) }
    predicate = nil
  }

  /// Whether a row of the table is one that a row would be written over, as SQL.
  ///
  /// - Parameters:
  ///   - isOwn: Which row is not meant, as SQL.
  ///   - wanted: What a term is of the row that is to be stored, as SQL.
  /// - Returns: The SQL.
  package func condition(unless isOwn: String, wanted: (Term) -> String) -> String {
    let isSame = terms.map { term in
      let collation = term.collation.map { " COLLATE \($0.quotedName)" } ?? ""
      return "\(term.sql)\(collation) = \(wanted(term))"
    }
    return (isSame + [predicate.map { "(\($0))" }, "NOT (\(isOwn))"].compactMap { $0 })
      .joined(separator: " AND ")
  }
}
