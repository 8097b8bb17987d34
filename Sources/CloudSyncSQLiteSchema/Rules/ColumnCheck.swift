import CloudSyncSQLiteSupport

/// Checks the columns of one table, each for itself.
struct ColumnCheck {
  let table: TableSchema

  func violations() -> [SchemaViolation] {
    nameViolations() + countViolations() + typeViolations() + collationViolations()
      + defaultWarnings()
  }

  private func nameViolations() -> [SchemaViolation] {
    table.columns.indices.compactMap { index in
      let name = table.columns[index].name
      // Swift takes names for equal that SQLite tells apart by their bytes.
      guard let former = table.columns[..<index].first(where: { $0.name == name })?.name else {
        return nil
      }
      let bytes = [former, name].map { Hexadecimal.text(of: $0.utf8) }
      return table.violation(
        .ambiguousColumnName,
        column: name,
        reason:
          "Two columns \(table.described(name)) differ only in the Unicode form of their names (UTF-8"
          + " \(bytes[0]) and \(bytes[1])), so their values would be mixed up; rename one of them."
      )
    }
  }

  /// How many columns the trigger for updates can compare.
  ///
  /// SQLite allows expressions a depth of 1,000. The trigger asks of each column, in a chain of ORs,
  /// whether its value or its type has changed, so a column takes two. The rest of the condition takes
  /// nine, one for each column of the key that may hold NULL, and what builds the key's text.
  private var maximumCount: Int {
    let keyDepth = table.primaryKey.count == 1 ? 1 : 2 * table.primaryKey.count
    return max(0, (1_000 - 9 - keyDepth - table.nullableKeyColumns.count) / 2)
  }

  private func countViolations() -> [SchemaViolation] {
    let columns = table.writableColumns
    guard columns.count > maximumCount else { return [] }
    let first = columns[maximumCount].name.quotedName
    return [
      table.violation(
        .tooManyColumns,
        reason:
          "Table \(table.name.quotedName) has \(columns.count) columns, and the edits of at most"
          + " \(maximumCount) can be watched with this key; move some of them, beginning with \(first), to"
          + " another table."
      )
    ]
  }

  private func typeViolations() -> [SchemaViolation] {
    table.primaryKey.compactMap { table.column(named: $0) }
      // Elsewhere SQLite takes ANY for NUMERIC.
      .filter { $0.type.isEmpty || table.isStrict && $0.type.isSameName(as: "ANY") }
      .map { column in
        let kind = column.type.isEmpty ? "has no type" : "is of type ANY"
        return table.violation(
          .untypedPrimaryKey,
          column: column.name,
          reason:
            "The primary key \(table.described(column.name)) \(kind), so it may hold a whole number and a real"
            + " number that are one key and not one value, as 2 and 2.0; declare what it holds, such as TEXT."
        )
      }
  }

  private func collationViolations() -> [SchemaViolation] {
    table.foreignlyCollatedKey.map { column in
      table.violation(
        .keyCollation,
        column: column,
        reason:
          "The primary key compares \(table.described(column)) by another collation than the column's own, so a"
          + " key would be another row's in one place and not in another; declare the collation at the column."
      )
    }
  }

  private func defaultWarnings() -> [SchemaViolation] {
    let defaults = table.columns.compactMap { column in
      column.defaultSQL.map { (column: column.name, sql: SQLText($0)) }
    }
    return defaults.filter { $0.sql.calls("uuid") }
      .map { column, _ in
        table.violation(
          .uuidFunctionMissing,
          column: column,
          reason:
            "The default of \(table.described(column)) calls uuid(), which SQLite lacks: the engine"
            + " adds it to its own connection, and every other that inserts rows must have it too.",
          isWarning: true
        )
      }
      + defaults.filter { !$0.sql.isLiteral && !table.primaryKey.contains($0.column) }
      .map { column, _ in
        table.violation(
          .computedDefault,
          column: column,
          reason:
            "The default of \(table.described(column)) is computed, so devices may give different"
            + " values to a row that an app version without the column has written; make it a constant.",
          isWarning: true
        )
      }
  }
}
