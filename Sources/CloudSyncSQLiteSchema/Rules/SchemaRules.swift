import CloudSyncSQLiteSupport

/// Checks whether tables can be synchronized.
///
/// Keys of several columns, references of a table to itself, circles, several foreign keys and every
/// foreign-key action are fine.
package enum SchemaRules {
  /// What stands in the way, table by table in the order given.
  package static func violations(
    in schema: DatabaseSchema,
    tables: [String],
    names: NameRules? = nil,
    policy: (String) -> SchemaPolicy = { _ in SchemaPolicy() }
  ) -> [SchemaViolation] {
    var seen: Set<[UInt8]> = []
    var violations: [SchemaViolation] = []
    for name in tables where seen.insert(name.foldedName).inserted {
      guard let table = schema.table(named: name) else {
        violations.append(notATable(name, schema))
        continue
      }
      let check = TableCheck(
        table: table,
        schema: schema,
        synchronized: tables,
        names: names,
        policy: policy(table.name)
      )
      violations += check.violations()
    }
    return violations
  }

  private static func notATable(_ name: String, _ schema: DatabaseSchema) -> SchemaViolation {
    let what: String
    switch schema.kind(ofObjectNamed: name) {
    case .table, .missing:
      return SchemaViolation(
        .missingTable,
        table: name,
        reason: "There is no table \(name.quotedName) in the database."
      )
    case .view: what = "a view"
    case .virtualTable: what = "a virtual table"
    case .shadowTable: what = "a part of a virtual table"
    case .internalTable: what = "an internal table"
    }
    return SchemaViolation(
      .notATable,
      table: name,
      reason: "\(name.quotedName) is \(what); only ordinary tables can be synchronized."
    )
  }
}

/// Checks one table.
private struct TableCheck {
  let table: TableSchema
  let schema: DatabaseSchema
  let synchronized: [String]
  let names: NameRules?
  let policy: SchemaPolicy

  private var name: String { table.name.quotedName }

  func violations() -> [SchemaViolation] {
    nameViolations() + keyViolations() + referenceViolations() + mendableViolations()
      + functionViolations()
  }

  private func nameViolations() -> [SchemaViolation] {
    guard let names else { return [] }
    var violations: [SchemaViolation] = []
    if !names.acceptsTable(table.name) {
      let reason =
        "The name of table \(name) is over \(names.maximumTableByteCount) bytes as the cloud must"
        + " spell it."
      violations.append(violation(.invalidTableName, reason))
    }
    for column in table.writableColumns where !names.acceptsColumn(column.name) {
      let reason =
        "The name of column \(described(column.name)) is over \(names.maximumColumnByteCount) bytes"
        + " as the cloud must spell it."
      violations.append(violation(.invalidColumnName, column: column.name, reason))
    }
    return violations
  }

  private func keyViolations() -> [SchemaViolation] {
    let mend = "Migrate it to a UUID key with PrimaryKeyMigration or 'cloudsync migrate'."
    if table.primaryKey.isEmpty {
      return [
        violation(
          .missingPrimaryKey,
          "Table \(name) has no primary key, so its rows cannot be told apart on other devices. \(mend)"
        )
      ]
    }
    guard !policy.allowsIntegerKeys, table.primaryKey.count == 1,
      let column = table.column(named: table.primaryKey[0]), column.affinity == .integer,
      // A key that is its parent's is as unique as that.
      !table.foreignKeys.contains(where: { $0.columns == table.primaryKey })
    else { return [] }
    return [
      violation(
        .integerPrimaryKey,
        column: column.name,
        "The primary key \(described(column.name)) is an integer, which two devices would both give to"
          + " rows of their own. \(mend)"
      )
    ]
  }

  private func referenceViolations() -> [SchemaViolation] {
    table.foreignKeys
      .filter { key in !synchronized.contains { $0.isSameName(as: key.table) } }
      .map { key in
        let column = key.columns.joined(separator: ", ")
        return violation(
          .foreignKeyToUnsynchronizedTable,
          column: column,
          "Foreign key \(described(column)) refers to table \(key.table.quotedName), which is not"
            + " synchronized: synchronize it too."
        )
      }
  }

  // MARK: What SQL can mend

  private func mendableViolations() -> [SchemaViolation] {
    let columns = columnsWithoutDefault
    let keys = table.restrictingUniqueKeys.filter { !policy.allowsUniqueKeys || !isSearchable($0) }
    let nullableKeys = table.nullableKeyColumns.compactMap { table.column(named: $0) }
    let sql = TableMending(
      table: table,
      columns: columns,
      uniqueKeys: keys.filter { !schema.needs($0, of: table) },
      keys: nullableKeys
    )
    .sql
    return nullableKeys.map { column in
      violation(
        .nullablePrimaryKey,
        column: column.name,
        "The primary key \(described(column.name)) may hold NULL, and a row whose key does is left out;"
          + " declare it NOT NULL.",
        sql: sql,
        isWarning: true
      )
    }
      + columns.map { column in
        violation(
          .nonNullColumnMustHaveDefault,
          column: column.name,
          "Column \(described(column.name)) is NOT NULL without a default, so rows of app versions that do"
            + " not know it cannot be stored; declare it NOT NULL ON CONFLICT REPLACE DEFAULT …",
          sql: sql,
          isWarning: !policy.requiresDefaults
        )
      }
      + keys.map { key in
        let column = key.columns.map { $0 ?? "(expression)" }.joined(separator: ", ")
        return violation(
          .uniqueConstraintDisallowed,
          column: column,
          "\(key.isConstraint ? "A UNIQUE constraint" : "Unique index \(key.name.quotedName)") on"
            + " \(described(column)) can be broken by rows that two devices make on their own; "
            + (policy.allowsUniqueKeys
              ? "it looks at computed columns, which no policy can settle: remove it."
              : "give the table a policy for unique keys, or remove it."),
          sql: schema.needs(key, of: table) ? nil : sql
        )
      }
  }

  /// Whether it can be told which row holds another's values of a key: computed ones cannot be.
  private func isSearchable(_ key: TableSchema.UniqueKey) -> Bool {
    guard let search = UniqueKeySearch(key, of: table) else { return false }
    return search.columns.allSatisfy { table.column(named: $0)?.isGenerated == false }
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

  private func functionViolations() -> [SchemaViolation] {
    table.columns
      .filter { column in column.defaultSQL.map { SQLText($0).calls("uuid") } ?? false }
      .map { column in
        violation(
          .uuidFunctionMissing,
          column: column.name,
          "The default of \(described(column.name)) calls uuid(), which SQLite lacks: the engine adds it"
            + " to its own connection, and every other that inserts rows must have it too.",
          isWarning: true
        )
      }
  }

  // MARK: Words

  private func described(_ column: String) -> String { "\(name).\(column.quotedName)" }

  private func violation(
    _ code: SchemaViolation.Code,
    column: String? = nil,
    _ reason: String,
    sql: String? = nil,
    isWarning: Bool = false
  ) -> SchemaViolation {
    SchemaViolation(
      code,
      table: table.name,
      column: column,
      reason: reason,
      sql: sql,
      isWarning: isWarning
    )
  }
}
