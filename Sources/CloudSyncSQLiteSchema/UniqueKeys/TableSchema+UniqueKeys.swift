extension TableSchema {
  /// The searches for all that SQLite keeps unique in the table, the primary key first.
  package var uniqueKeySearches: [UniqueKeySearch] {
    [UniqueKeySearch(primaryKeyOf: self)]
      + uniqueKeys.compactMap { UniqueKeySearch($0, of: self) }
  }

  /// Unique keys that rule out more than the primary key does anyway.
  var restrictingUniqueKeys: [UniqueKey] {
    uniqueKeys.filter { key in
      primaryKey.isEmpty
        || !primaryKey.allSatisfy { column in
          key.columns.contains { $0?.isSameName(as: column) == true }
        }
    }
  }

  /// Whether it can be told which row holds another's values of a key: computed ones cannot be.
  func isSearchable(_ key: UniqueKey) -> Bool {
    guard let search = UniqueKeySearch(key, of: self) else { return false }
    return search.columns.allSatisfy { column(named: $0)?.isGenerated == false }
  }

  /// Unique keys of computed columns, by their columns: no policy settles rows of two copies that are equal in one.
  package var computedUniqueKeys: [String] {
    restrictingUniqueKeys.filter { !isSearchable($0) }.map(\.list)
  }

  /// The one of some unique keys that looks at a column's value; nil if none does.
  func uniqueKey(of column: Column, among keys: [UniqueKey]) -> UniqueKey? {
    keys.first { key in
      if key.columns.contains(where: { $0?.isSameName(as: column.name) == true }) { return true }
      // An expression may look at all that its index names.
      guard key.columns.contains(nil) else { return false }
      return UniqueKeySearch(key, of: self)?.columns.contains(column.name) ?? true
    }
  }
}

extension TableSchema.UniqueKey {
  /// Its columns for people.
  var list: String { columns.map { $0 ?? "(expression)" }.joined(separator: ", ") }
}

extension DatabaseSchema {
  /// Whether a foreign key refers to a table by a unique key.
  func needs(_ key: TableSchema.UniqueKey, of table: TableSchema) -> Bool {
    let columns = Set(key.columns.compactMap { $0?.foldedName })
    return tables.contains { other in
      other.foreignKeys.contains {
        $0.table.isSameName(as: table.name)
          && Set($0.referencedColumns.map(\.foldedName)) == columns
      }
    }
  }

  /// Unique keys of a table that restrict it and that no foreign key needs.
  func removableUniqueKeys(of table: TableSchema) -> [TableSchema.UniqueKey] {
    table.restrictingUniqueKeys.filter { !needs($0, of: table) }
  }
}
