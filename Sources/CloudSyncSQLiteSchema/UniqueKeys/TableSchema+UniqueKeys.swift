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
