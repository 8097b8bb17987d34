import CloudSyncSQLiteSupport

/// Makes the SQL that takes away what stands in the way of a table's synchronization.
struct SchemaRepair {
  let table: TableSchema
  /// The columns that need a default.
  var columns: [TableSchema.Column] = []
  /// The unique keys that must go.
  var uniqueKeys: [TableSchema.UniqueKey] = []

  /// The columns of the primary key that must not hold NULL.
  var keys: [TableSchema.Column] = []

  /// The statements; nil if there is nothing to repair, or the declaration cannot be read.
  var sql: String? {
    if columns.isEmpty && uniqueKeys.isEmpty && keys.isEmpty { return nil }
    if columns.isEmpty && keys.isEmpty && uniqueKeys.allSatisfy({ !$0.isConstraint }) {
      return indexSQL
    }
    guard let declaration = TableDeclaration(table.sql) else { return nil }
    var edits = DeclarationEdits(declaration)
    for column in columns { addDefault(to: column, of: declaration, edits: &edits) }
    for column in keys {
      guard let place = declaration.column(named: column.name) else { continue }
      edits.insert(" NOT NULL", after: place.tokens.upperBound - 1)
    }
    edits.removeUniqueConstraints(of: uniqueKeys)
    let temporary = "cloudsync_new_\(table.name)"
    edits.replace(
      declaration.nameToken..<declaration.nameToken + 1,
      with: temporary.quotedName
    )
    return rebuild(as: temporary, declaration: edits.result())
  }

  /// The default that fits a column's type.
  private func defaultSQL(for column: TableSchema.Column) -> String {
    switch column.affinity {
    case .text: "''"
    case .blob: column.type.isEmpty ? "''" : "x''"
    case .integer, .numeric: "0"
    case .real: "0.0"
    }
  }

  private func addDefault(
    to column: TableSchema.Column,
    of declaration: TableDeclaration,
    edits: inout DeclarationEdits
  ) {
    guard let place = declaration.column(named: column.name),
      let notNull = place.constraint(.notNull)
    else { return }
    for constraint in place.constraints where constraint.kind == .defaultValue {
      edits.remove(constraint.tokens)
    }
    let value = "DEFAULT \(defaultSQL(for: column))"
    if let conflict = notNull.conflict {
      edits.replace(conflict..<conflict + 1, with: "REPLACE \(value)")
    } else {
      edits.insert(" ON CONFLICT REPLACE \(value)", after: notNull.tokens.upperBound - 1)
    }
  }

  /// The table's indexes and triggers, with unique indexes that must go made plain ones.
  var dependentSQL: [String] {
    let names = uniqueKeys.filter { !$0.isConstraint }.map(\.name)
    return table.dependentSQL.map { sql in
      CreateStatement.indexName(of: sql).map { name in names.contains { $0.isSameName(as: name) } }
        == true
        ? Self.withoutUnique(sql) : sql
    }
  }

  private var indexSQL: String {
    zip(table.dependentSQL, dependentSQL)
      .compactMap { old, new in
        guard old != new, let name = CreateStatement.indexName(of: old) else { return nil }
        return "DROP INDEX \(name.quotedName);\n\(new);"
      }
      .joined(separator: "\n")
  }

  private static func withoutUnique(_ sql: String) -> String {
    let text = SQLText(sql)
    guard let token = text.tokens.first(where: { text.isWord("UNIQUE", at: $0) }) else {
      return sql
    }
    let end = min(token.range.upperBound + 1, text.bytes.count)
    return text.text(0..<token.range.lowerBound) + text.text(end..<text.bytes.count)
  }

  /// What the repaired table gets of a column: rows without a key get one.
  private func value(of column: TableSchema.Column) -> String {
    let name = column.name.quotedName
    guard keys.contains(where: { $0.name == column.name }) else { return name }
    return switch column.affinity {
    case .text, .blob: "coalesce(\(name), lower(hex(randomblob(16))))"
    case .integer, .real, .numeric: "coalesce(\(name), random())"
    }
  }

  /// SQLite's procedure for what ALTER TABLE cannot do.
  private func rebuild(as temporary: String, declaration: String) -> String {
    var columns = table.writableColumns.map(\.name.quotedName)
    var values = table.writableColumns.map(value)
    if let number = table.rowNumberName, !table.hasIntegerKey {
      columns.insert(number, at: 0)
      values.insert(number, at: 0)
    }
    let list = columns.joined(separator: ", ")
    let source = values.joined(separator: ", ")
    let (new, old) = (temporary.quotedName, table.name.quotedName)
    // OR ABORT: with the declared rule SQLite wants the functions of defaults, which may be missing.
    var statements = [
      "-- With foreign keys enforced, dropping the old table would delete rows of others.",
      "PRAGMA foreign_keys = OFF;", "PRAGMA legacy_alter_table = ON;", "BEGIN IMMEDIATE;",
      "\(declaration);", "INSERT OR ABORT INTO \(new) (\(list)) SELECT \(source) FROM \(old);",
    ]
    if TableDeclaration(table.sql)?.isAutoincrement == true {
      let names = (SQLiteValue.text(temporary).literal, SQLiteValue.text(table.name).literal)
      statements += [
        "DELETE FROM sqlite_sequence WHERE name = \(names.0);",
        "INSERT INTO sqlite_sequence (name, seq)"
          + " SELECT \(names.0), seq FROM sqlite_sequence WHERE name = \(names.1);",
      ]
    }
    statements += ["DROP TABLE \(old);", "ALTER TABLE \(new) RENAME TO \(old);"]
    statements += dependentSQL.map { "\($0);" }
    statements += [
      "COMMIT;", "PRAGMA legacy_alter_table = OFF;",
      "-- Now turn foreign keys on again if this connection enforces them.",
    ]
    return statements.joined(separator: "\n")
  }
}
