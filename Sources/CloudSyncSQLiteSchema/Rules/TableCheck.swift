import CloudSyncSQLiteSupport

/// Checks one table.
struct TableCheck {
  let table: TableSchema
  let schema: DatabaseSchema
  let synchronized: [String]
  let policy: SchemaPolicy

  private var name: String { table.name.quotedName }

  func violations() -> [SchemaViolation] {
    nameViolations() + keyViolations() + referenceViolations() + repairableViolations()
      + ColumnCheck(table: table).violations() + uniqueDefaultWarnings()
  }

  private func nameViolations() -> [SchemaViolation] {
    // Triggers look for rows by what a new one has; what they do with an old one looks into no table.
    if table.name.isSameName(as: "new") {
      return [
        table.violation(
          .ambiguousTableName,
          reason:
            "Table \(name) is called as triggers call a row, so they could not tell the two apart; rename it."
        )
      ]
    }
    // Swift takes names for equal that SQLite tells apart by their bytes.
    let other = schema.tables.first {
      $0.name == table.name && !$0.name.utf8.elementsEqual(table.name.utf8)
    }
    guard let other else { return [] }
    let bytes = [other.name, table.name].map { Hexadecimal.text(of: $0.utf8) }
    return [
      table.violation(
        .ambiguousTableName,
        reason:
          "Two tables \(name) differ only in the Unicode form of their names (UTF-8 \(bytes[0]) and \(bytes[1])), so their"
          + " rows would be mixed up; rename one of them."
      )
    ]
  }

  private func keyViolations() -> [SchemaViolation] {
    let advice = "Migrate it to a UUID key with PrimaryKeyMigration or 'cloudsync migrate'."
    if table.primaryKey.isEmpty {
      return [
        table.violation(
          .missingPrimaryKey,
          reason: "Table \(name) has no primary key, so its rows cannot be told apart on other"
            + " devices. \(advice)"
        )
      ]
    }
    guard !policy.allowsIntegerKeys, table.primaryKey.count == 1,
      let column = table.column(named: table.primaryKey[0]),
      // A key that is its parent's is as unique as that.
      !table.foreignKeys.contains(where: { $0.columns == table.primaryKey })
    else { return [] }
    if isCountable(column) {
      return [
        table.violation(
          .numericPrimaryKey,
          column: column.name,
          reason:
            "The primary key \(table.described(column.name)) is \(column.type): if it counts rows,"
            + " two devices would both give its numbers to rows of their own. Use values that no other"
            + " device gives.",
          isWarning: true
        )
      ]
    }
    guard column.affinity == .integer, !(policy.countsIntegerKeys && table.isCounted) else {
      return []
    }
    if policy.countsIntegerKeys {
      return [
        table.violation(
          .integerPrimaryKey,
          column: column.name,
          reason:
            "The primary key \(table.described(column.name)) is an integer that SQLite does not count;"
            + " declare it INTEGER PRIMARY KEY AUTOINCREMENT, as 'cloudsync migrate"
            + " --keep-integer-keys' does."
        )
      ]
    }
    return [
      table.violation(
        .integerPrimaryKey,
        column: column.name,
        reason: "The primary key \(table.described(column.name)) is an integer, which two devices"
          + " would both give to rows of their own. \(advice)"
      )
    ]
  }

  /// Whether a column of another type than an integer's is one that numbers are kept in, and no dates.
  private func isCountable(_ column: TableSchema.Column) -> Bool {
    let type = column.type.lowercased()
    return [.numeric, .real].contains(column.affinity)
      && !["any", "date", "time", "bool"].contains { type.contains($0) }
  }

  private func referenceViolations() -> [SchemaViolation] {
    table.foreignKeys
      .filter { key in !synchronized.contains { $0.isSameName(as: key.table) } }
      .map { key in
        let column = key.columns.joined(separator: ", ")
        return table.violation(
          .foreignKeyToUnsynchronizedTable,
          column: column,
          reason: "Foreign key \(table.described(column)) refers to table \(key.table.quotedName),"
            + " which is not synchronized: synchronize it too."
        )
      }
  }

  // MARK: What SQL can repair

  private func repairableViolations() -> [SchemaViolation] {
    let columns = columnsWithoutDefault
    let restricting = table.restrictingUniqueKeys
    let keys = restricting.filter { !policy.allowsUniqueKeys || !table.isSearchable($0) }
    let removable = keys.filter { !schema.needs($0, of: table) }
    // A default would give all rows that lack a value the same one, which a unique key takes for one that was entered.
    let repairable = columns.filter { table.uniqueKey(of: $0, among: restricting) == nil }
    let nullableKeys = table.nullableKeyColumns.compactMap { table.column(named: $0) }
    // Unique keys are dropped by nothing but the SQL of their own violations.
    let sql = SchemaRepair(table: table, columns: repairable, keys: nullableKeys).sql
    let droppingSQL = SchemaRepair(
      table: table,
      columns: columns.filter { column in
        table.uniqueKey(of: column, among: restricting.filter { !removable.contains($0) }) == nil
      },
      uniqueKeys: removable,
      keys: nullableKeys
    )
    .sql
    return nullableKeys.map { column in
      table.violation(
        .nullablePrimaryKey,
        column: column.name,
        reason: "The primary key \(table.described(column.name)) may hold NULL, and a row whose key"
          + " does is left out; declare it NOT NULL.",
        sql: sql,
        isWarning: true
      )
    }
      + columns.map { column in
        let key = table.uniqueKey(of: column, among: restricting)
        return table.violation(
          .nonNullColumnMustHaveDefault,
          column: column.name,
          reason: "Column \(table.described(column.name)) is NOT NULL without a default, so rows of"
            + " app versions that do not know it cannot be stored; "
            + (key.map { waysWithoutDefault(in: $0) }
              ?? "declare it NOT NULL ON CONFLICT REPLACE DEFAULT …"),
          sql: key == nil ? sql : nil,
          isWarning: !policy.requiresDefaults
        )
      }
      + keys.map { key in
        let column = key.list
        return table.violation(
          table.isSearchable(key) ? .uniqueConstraintDisallowed : .computedUniqueConstraint,
          column: column,
          reason:
            "\(key.isConstraint ? "A UNIQUE constraint" : "Unique index \(key.name.quotedName)")"
            + " on \(table.described(column)) can be broken by rows that two devices make on their"
            + " own; "
            + (table.isSearchable(key)
              ? "give the table a policy for unique keys, or remove it."
              : "it looks at computed columns, which no policy can settle: remove it."),
          sql: removable.contains(key) ? droppingSQL : nil
        )
      }
  }

  /// What to do about a column that is to have no default, because a unique key looks at it.
  private func waysWithoutDefault(in key: TableSchema.UniqueKey) -> String {
    "a default would make such rows equal in the UNIQUE key (\(key.list)), so take NOT NULL away, or, if every copy has"
      + " the column, sync with --allow-missing-defaults (Table.allowsMissingDefaults)."
  }

  /// Unique keys whose columns all have constant defaults: what nobody has entered is equal in them.
  private func uniqueDefaultWarnings() -> [SchemaViolation] {
    table.restrictingUniqueKeys.compactMap { key in
      let columns = key.columns.compactMap { $0.flatMap(table.column(named:)) }
      let defaults = columns.compactMap(\.defaultSQL).filter { SQLText($0).isLiteral }
      guard columns.count == key.columns.count, defaults.count == columns.count,
        !defaults.contains(where: { $0.isSameName(as: "NULL") })
      else { return nil }
      return table.violation(
        .defaultInUniqueKey,
        column: key.list,
        reason:
          "Rows of \(name) that are inserted without \(key.list) all get \(defaults.joined(separator: ", ")), and the UNIQUE"
          + " key (\(key.list)) takes two of them for one row: a sync parks or merges rows that nobody has entered equal;"
          + " declare the column without a default.",
        isWarning: true
      )
    }
  }

  /// Columns that a row of somebody who does not know them leaves without a value.
  private var columnsWithoutDefault: [TableSchema.Column] {
    table.writableColumns.filter { column in
      column.isNotNull && (column.defaultSQL?.isSameName(as: "NULL") ?? true)
        && !table.primaryKey.contains(column.name)
        // A row without its reference has no place to be stored at, whatever the default says.
        && !table.foreignKeys.contains { $0.columns.contains(column.name) }
    }
  }
}
