import CloudSyncSQLiteSupport

/// Finds the virtual tables that know rows by integer keys which a migration would change.
///
/// They cannot follow: the rows of full-text and spatial indexes have integer numbers, and SQLite may change the numbers of
/// rows whose table has no integer key.
struct VirtualTableObstacles {
  private let plan: MigrationPlan
  private let virtualTables: [VirtualTable]
  private let views: [(name: String, sql: SQLText)]
  private let triggers: [(table: TableSchema, name: String, sql: SQLText)]

  init(
    _ plan: MigrationPlan,
    in schema: DatabaseSchema,
    on connection: SQLiteConnection
  ) throws(SQLiteError) {
    self.plan = plan
    virtualTables = try VirtualTable.all(on: connection)
    if virtualTables.isEmpty {
      (views, triggers) = ([], [])
      return
    }
    views = try connection.views().map { ($0.name, SQLText($0.sql)) }
    triggers = schema.tables.flatMap { table in
      table.dependentSQL.compactMap { sql in
        CreateStatement.triggerName(of: sql).map { (table, $0, SQLText(sql)) }
      }
    }
  }

  /// What stands in the way, a sentence or two for each virtual table.
  var reasons: [String] {
    virtualTables.compactMap { virtual in
      guard let table = boundTable(of: virtual) else { return nil }
      let name = virtual.name.quotedName
      let triggers = triggers.filter { Self.mentions(virtual.name, in: $0.sql) }.map(\.name)
      let others =
        switch triggers.count {
        case 0: ""
        case 1: " and the trigger \(triggers[0].quotedName)"
        default: " and the triggers \(triggers.map(\.quotedName).joined(separator: ", "))"
        }
      return
        "Virtual table \(name) (\(virtual.module)) finds the rows of table \(table.quotedName) by"
        + " their integer key, which would become a UUID. Keep the integers (--keep-integer-keys), or drop"
        + " \(name)\(others), migrate, and create them again so that \(name) keeps the new key in a column."
    }
  }

  /// The table whose rows a virtual table knows by a key that changes.
  private func boundTable(of virtual: VirtualTable) -> String? {
    let changed = plan.tables.filter { if case .integer = $0.key { true } else { false } }
    let declared = changed.first { table in
      virtual.names(table.schema.name) && usesKey(virtual, of: table)
        || views.contains {
          virtual.names($0.name) && Self.mentions(table.schema.name, in: $0.sql)
        }
    }
    if let declared { return declared.schema.name }
    let bound = triggers.first { trigger in
      guard Self.mentions(virtual.name, in: trigger.sql),
        let table = plan.tables.first(where: { $0.schema.name == trigger.table.name })
      else { return false }
      return Self.usesKey(trigger.sql, of: table)
    }
    return bound?.table.name
  }

  /// Whether a virtual table that names a table finds its rows by a key that changes.
  private func usesKey(_ virtual: VirtualTable, of table: MigrationPlan.Table) -> Bool {
    table.schema.hasIntegerKey || table.columns.contains { virtual.names($0.name) }
  }

  /// Whether a trigger reads a key that changes, or the row's number where that is the key.
  private static func usesKey(_ trigger: SQLText, of table: MigrationPlan.Table) -> Bool {
    var names = table.columns.map(\.name)
    if case .integer = table.key, table.schema.hasIntegerKey {
      names += ["rowid", "_rowid_", "oid"].filter { table.schema.column(named: $0) == nil }
    }
    let tokens = trigger.meaningfulTokens
    return tokens.indices.dropLast(2)
      .contains { place in
        (trigger.isWord("NEW", at: tokens[place]) || trigger.isWord("OLD", at: tokens[place]))
          && trigger.isSymbol(".", at: tokens[place + 1])
          && trigger.name(of: tokens[place + 2])
            .map { name in
              names.contains { $0.isSameName(as: name) }
            } == true
      }
  }

  /// Whether a text has a name as a word, with or without quotes.
  private static func mentions(_ name: String, in text: SQLText) -> Bool {
    text.tokens.contains { text.name(of: $0)?.isSameName(as: name) == true }
  }
}

extension SQLiteConnection {
  /// The declarations of the main database's views, by name.
  func views() throws(SQLiteError) -> [(name: String, sql: String)] {
    let query = try prepare(
      "SELECT name, sql FROM main.sqlite_schema WHERE type = 'view' ORDER BY name"
    )
    return try query.mapRows { query in (query.text(0) ?? "", query.text(1) ?? "") }
  }
}
