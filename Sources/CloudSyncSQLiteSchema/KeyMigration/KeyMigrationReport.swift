package import CloudSyncSQLiteSupport

/// What a migration of keys would do, and what it cannot see.
public struct KeyMigrationReport: Sendable, Hashable {
  /// What becomes of a table.
  public struct Table: Sendable, Hashable {
    /// What becomes of its key.
    public enum Key: Sendable, Hashable {
      /// An integer key becomes a UUID.
      case uuid(column: String)
      /// A table without a key gets one, in a new column.
      case added(column: String)
      /// An integer key stays, and SQLite remembers the greatest one.
      case counted(column: String)
    }

    /// Its name.
    public let name: String
    /// How many rows it has.
    public let rows: Int
    /// What becomes of its key; nil if it stays as it is.
    public let key: Key?
    /// Columns that follow other tables' keys.
    public let references: [KeyReference]
    /// The column that keeps the old key; nil if it is dropped.
    public let oldKeyColumn: String?
    /// The columns of each unique key that is dropped.
    public let droppedUniqueKeys: [[String]]
  }

  /// The tables that are rewritten.
  public let tables: [Table]
  /// Columns that look like references, are not declared, and do not follow.
  public let undeclaredReferences: [UndeclaredReference]
  /// What else is dropped, changes its meaning or was guessed, a sentence each.
  public let warnings: [String]
}

extension PrimaryKeyMigration {
  /// Finds out what the migration would do, and changes nothing.
  ///
  /// - Parameter connection: The connection.
  /// - Returns: What would be done, and what cannot be seen.
  /// - Throws: The table that stands in the way, and why; or what SQLite throws.
  package func report(
    on connection: SQLiteConnection
  ) throws(KeyMigrationError) -> KeyMigrationReport {
    let schema = try sqlite { () throws(SQLiteError) in try DatabaseSchema.read(connection) }
    let plan = try MigrationPlan(self, for: schema)
    try Self.checkVirtualTables(of: plan, in: schema, on: connection)
    return try sqlite { () throws(SQLiteError) in
      let open =
        keepsIntegerKeys
        ? [] : try ReferenceSearch(schema, to: self.tables, on: connection).run()
      let writing = MigrationReportWriting(migration: self, plan: plan, schema: schema)
      return KeyMigrationReport(
        tables: try plan.tables.map { (table) throws(SQLiteError) in
          let name = table.schema.name.quotedName
          let count = try connection.integer("SELECT count(*) FROM main.\(name)")
          return writing.table(table, rows: Int(count))
        },
        undeclaredReferences: open.filter { one in
          !followedReferences.contains {
            $0.table.isSameName(as: one.reference.table)
              && $0.column.isSameName(as: one.reference.column)
          }
        },
        warnings: writing.warnings(otherSQL: try connection.views())
      )
    }
  }
}

/// Puts a plan into words.
private struct MigrationReportWriting {
  let migration: PrimaryKeyMigration
  let plan: MigrationPlan
  let schema: DatabaseSchema

  func table(_ table: MigrationPlan.Table, rows: Int) -> KeyMigrationReport.Table {
    var keyName: String?
    let key: KeyMigrationReport.Table.Key?
    switch table.key {
    case .integer(let name)?: (key, keyName) = (.uuid(column: name), name)
    case .added(let name)?: key = .added(column: name)
    case .autoincrement(let name)?: key = .counted(column: name)
    case nil: key = nil
    }
    return KeyMigrationReport.Table(
      name: table.schema.name,
      rows: rows,
      key: key,
      references: table.columns.filter { $0.name != keyName }
        .map { column in
          KeyReference(
            table: table.schema.name,
            column: column.name,
            parentTable: plan.domains[column.domain].table
          )
        },
      oldKeyColumn: table.oldKeyColumn,
      droppedUniqueKeys: table.uniqueKeys.map { key in key.columns.map { $0 ?? "(expression)" } }
    )
  }

  func warnings(otherSQL views: [(name: String, sql: String)]) -> [String] {
    orderWarnings + plan.tables.flatMap(warnings)
      + plan.tables.flatMap { triggerWarnings(of: $0.schema) }
      + views.flatMap { warnings(about: "View \($0.name.quotedName)", sql: $0.sql) }
  }

  /// What every app relies on that has integer keys.
  private var orderWarnings: [String] {
    let keys = plan.tables.compactMap { table -> String? in
      guard case .integer(let column)? = table.key else { return nil }
      return table.schema.described(column)
    }
    if keys.isEmpty { return [] }
    return [
      "ORDER BY a key, last_insert_rowid() and conditions such as id = 1 mean something else for"
        + " \(keys.joined(separator: ", "))."
    ]
  }

  private func warnings(of table: MigrationPlan.Table) -> [String] {
    let name = table.schema.name.quotedName
    var warnings: [String] = []
    let declaration = TableDeclaration(table.schema.sql)
    if case .integer(let column)? = table.key {
      if declaration?.isAutoincrement == true {
        warnings.append("AUTOINCREMENT of \(table.schema.described(column)) is dropped.")
      }
      if let value = table.schema.column(named: column)?.defaultSQL {
        warnings.append("The default \(value) of \(table.schema.described(column)) is dropped.")
      }
    }
    if case .added(let column)? = table.key {
      warnings.append(
        "\(name) gets a first column \(column.quotedName) that INSERT and SELECT * see."
      )
    }
    if declaration?.constraints.contains(where: { $0.kind == .check }) == true
      || declaration?.columns.contains(where: { $0.constraint(.check) != nil }) == true,
      !table.columns.isEmpty
    {
      warnings.append("A CHECK of \(name) stays as it is; if it tests a key it may fail.")
    }
    return warnings
  }

  private func triggerWarnings(of table: TableSchema) -> [String] {
    table.dependentSQL.flatMap { sql -> [String] in
      guard CreateStatement.indexName(of: sql) == nil,
        let name = CreateStatement.objectName(of: sql)
      else { return [] }
      return warnings(about: "Trigger \(name.quotedName)", sql: sql)
    }
  }

  /// What a statement relies on that integer keys have and others have not.
  private func warnings(about what: String, sql: String) -> [String] {
    let text = SQLText(sql)
    var warnings: [String] = []
    let changed = plan.tables.flatMap { table in table.columns.map(\.name) }
    if changed.isEmpty { return [] }
    if text.calls("last_insert_rowid") {
      warnings.append("\(what) calls last_insert_rowid(), which is no key any more.")
    }
    let tokens = text.meaningfulTokens
    for (index, token) in tokens.enumerated().dropLast(2) where token.kind != .string {
      guard let name = text.name(of: token), tokens[index + 2].kind == .number,
        tokens[index + 1].kind == .symbol, changed.contains(where: { $0.isSameName(as: name) })
      else { continue }
      warnings.append(
        "\(what) compares \(name.quotedName) with a number (\(text.text(token.range.lowerBound..<tokens[index + 2].range.upperBound)))."
      )
    }
    return warnings
  }
}
