import CloudSyncSQLiteSupport

/// A foreign key with both of its tables, seen from the one that it refers to.
package struct TableReference: Sendable {
  package let child: TableSchema
  package let parent: TableSchema
  package let key: TableSchema.ForeignKey

  /// The columns that are equal, as SQLite compares them for a foreign key: with the collation and
  /// the affinity of the parent's column, which is on the left therefore.
  package func match(parent row: String, child other: String) -> String {
    zip(key.referencedColumns, key.columns)
      .map { "\(row).\($0.quotedName) = \(other).\($1.quotedName)" }
      .joined(separator: " AND ")
  }

  /// Whether two versions of the parent's row have the same key, as SQLite tells them apart.
  package func isSameKey(old: String, new: String) -> String {
    key.referencedColumns.map { "\(old).\($0.quotedName) IS \(new).\($0.quotedName)" }
      .joined(separator: " AND ")
  }

  /// What SET DEFAULT sets, in the order of the columns.
  package var defaults: [String] {
    key.columns.map { name in child.column(named: name)?.defaultSQL.map { "(\($0))" } ?? "NULL" }
  }

  /// The values that an action sets, as SQL with a name for the parent's new row; nil if it sets none.
  package func values(of action: TableSchema.Action, new row: String) -> [String]? {
    switch action {
    case .cascade: key.referencedColumns.map { "\(row).\($0.quotedName)" }
    case .setNull: key.columns.map { _ in "NULL" }
    case .setDefault: defaults
    case .restrict, .noAction: nil
    }
  }

  /// Whether all of its columns may be set to NULL.
  package var canBeNull: Bool {
    key.columns.allSatisfy { name in
      guard let column = child.column(named: name) else { return false }
      return !column.isNotNull && !column.isGenerated && !child.primaryKey.contains(column.name)
    }
  }
}

extension DatabaseSchema {
  /// The foreign keys between tables of the schema, child by child; those that are declared wrongly, so
  /// that SQLite itself refuses to use them, are left out.
  ///
  /// One that refers to all columns of the primary key names them in that key's order, however it was declared.
  package var references: [TableReference] {
    tables.flatMap { child in
      child.foreignKeys.compactMap { key in
        guard let parent = table(named: key.table), !key.columns.isEmpty,
          key.columns.count == key.referencedColumns.count,
          key.referencedColumns.allSatisfy({ parent.column(named: $0) != nil })
        else { return nil }
        return TableReference(child: child, parent: parent, key: key.ordered(as: parent.primaryKey))
      }
    }
  }
}

extension TableSchema.ForeignKey {
  /// The same key with its columns in the order of the primary key, if it is that which it refers to.
  fileprivate func ordered(as primaryKey: [String]) -> TableSchema.ForeignKey {
    let places = primaryKey.compactMap { name in
      referencedColumns.firstIndex { $0.isSameName(as: name) }
    }
    guard places.count == referencedColumns.count, places.count == primaryKey.count else {
      return self
    }
    var key = self
    key.columns = places.map { columns[$0] }
    key.referencedColumns = primaryKey
    return key
  }
}
