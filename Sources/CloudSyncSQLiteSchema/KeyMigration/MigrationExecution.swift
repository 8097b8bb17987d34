import CloudSyncSQLiteSupport

/// Rewrites the tables of a plan, within a transaction, without foreign keys.
struct MigrationExecution {
  let plan: MigrationPlan
  /// The tables as they are before.
  let schema: DatabaseSchema
  let uuids: DerivedUUID
  let keyDefault: String
  let connection: SQLiteConnection
  /// Takes each old key with its new one.
  var listener: KeyListener?

  func run() throws(KeyMigrationError) {
    let before = try sqlite(danglingReferences)
    let rehearsal = try sqlite { () throws(SQLiteError) in
      try WriteRehearsal(schema, on: connection)
    }
    let failures = try sqlite(rehearsal.failures)
    for index in plan.domains.indices {
      try sqlite { () throws(SQLiteError) in try mapKeys(ofDomain: index) }
    }
    for table in plan.tables {
      let sql = try KeyRewriter(
        table: table,
        domains: plan.domains,
        uuids: uuids,
        keyDefault: keyDefault
      )
      .sql()
      try sqlite { () throws(SQLiteError) in try tellKeys(of: table) }
      try rebuild(table, as: sql)
    }
    try sqlite { () throws(SQLiteError) in
      for index in plan.domains.indices {
        try connection.execute("DROP TABLE temp.\(Self.keyMap(of: index))")
      }
    }
    let after = try sqlite(danglingReferences)
    let new = after.subtracting(before).sortedByBytes()
    if !new.isEmpty {
      throw KeyMigrationError.schema(
        "After the migration foreign keys would point nowhere, so nothing was changed: "
          + new.joined(separator: ", ")
      )
    }
    try rehearse(failingBefore: failures)
  }

  /// Throws if the app could not write any more what it could write before.
  private func rehearse(failingBefore before: [String: String]) throws(KeyMigrationError) {
    let after = try sqlite { () throws(SQLiteError) in
      // With the schema as it is now: keys may stand in other columns.
      let rehearsal = try WriteRehearsal(DatabaseSchema.read(connection), on: connection)
      try rehearsal.rebuildIndexes(failingBefore: before)
      return try rehearsal.failures()
    }
    let new = after.keys.filter { before[$0] == nil }.sortedByBytes()
    if new.isEmpty { return }
    let reasons = new.map { "\($0) (\(after[$0] ?? ""))" }
    throw KeyMigrationError.schema(
      "What works now would fail after the migration, so nothing was changed:"
        + " \(reasons.joined(separator: ", ")). A trigger or a virtual table may need the integer keys:"
        + " keep them (--keep-integer-keys), or drop it, migrate, and create it again to fit the new keys."
    )
  }

  // MARK: Keys

  private static func keyMap(of domain: Int) -> String { "cloudsync_keys_\(domain)" }

  /// Computes the UUID of every key of a domain, also of those that rows refer to in vain.
  private func mapKeys(ofDomain index: Int) throws(SQLiteError) {
    let domain = plan.domains[index]
    // Their type makes SQLite compare them as foreign keys are compared with an integer key.
    try connection.execute(
      """
      CREATE TEMP TABLE cloudsync_old_keys (old INT PRIMARY KEY) WITHOUT ROWID;
      CREATE TEMP TABLE \(Self.keyMap(of: index)) (old INT PRIMARY KEY, new TEXT NOT NULL) WITHOUT ROWID
      """
    )
    // Only what the caller calls a reference may hold other numbers, which stay.
    for id in domain.columns where !isLoose(id) {
      let column = id.column.quotedName
      try connection.execute(
        """
        INSERT OR IGNORE INTO temp.cloudsync_old_keys
        SELECT \(column) FROM main.\(id.table.quotedName) WHERE \(column) IS NOT NULL
        """
      )
    }
    let keys = try connection.prepare("SELECT old FROM temp.cloudsync_old_keys ORDER BY old")
    let insert = try connection.prepare(
      "INSERT INTO temp.\(Self.keyMap(of: index)) VALUES (?1, ?2)"
    )
    try keys.forEachRow { () throws(SQLiteError) in
      let key = keys.value(0)
      let uuid = uuids.text(table: domain.table, key: key.literal)
      try insert.bind(key, at: 1).bind(uuid, at: 2).run()
    }
    try connection.execute("DROP TABLE temp.cloudsync_old_keys")
  }

  private func isLoose(_ id: MigrationPlan.ColumnID) -> Bool {
    plan.tables.contains { $0.schema.name == id.table && $0.looseColumns.contains(id.column) }
  }

  /// Tells the old and the new keys of a table's rows.
  private func tellKeys(of table: MigrationPlan.Table) throws(SQLiteError) {
    guard let listener, case .integer(let key)? = table.key,
      let domain = table.columns.first(where: { $0.name == key })?.domain
    else { return }
    let rows = try connection.prepare(
      """
      SELECT map.old, map.new FROM main.\(table.schema.name.quotedName) AS old
      JOIN temp.\(Self.keyMap(of: domain)) AS map ON map.old = old.\(key.quotedName) ORDER BY map.old
      """
    )
    try rows.forEachRow { () throws(SQLiteError) in
      try listener.take(
        KeyMapping(table: table.schema.name, old: rows.value(0).literal, new: rows.text(1) ?? "")
      )
    }
  }

  /// Computes the UUID of every row of a table that has no key, or NULL in its place.
  private func mapRows(
    of table: TableSchema,
    number: String,
    where condition: String
  ) throws(SQLiteError) {
    try connection.execute(
      "CREATE TEMP TABLE cloudsync_row_keys (row INTEGER PRIMARY KEY, new TEXT NOT NULL)"
    )
    let rows = try connection.prepare(
      "SELECT \(number) FROM main.\(table.name.quotedName) WHERE \(condition) ORDER BY 1"
    )
    let insert = try connection.prepare("INSERT INTO temp.cloudsync_row_keys VALUES (?1, ?2)")
    try rows.forEachRow { () throws(SQLiteError) in
      let row = rows.integer(0)
      let uuid = uuids.text(table: table.name, row: row)
      try insert.bind(row, at: 1).bind(uuid, at: 2).run()
    }
  }

  // MARK: Tables

  /// Moves a table away, declares it anew, and copies its rows.
  ///
  /// The old table is what gets the other name, as the new one's text would be changed by renaming it;
  /// with legacy renaming and without foreign keys, what refers to the name stays as it is.
  private func rebuild(_ table: MigrationPlan.Table, as sql: String) throws(KeyMigrationError) {
    let name = table.schema.name
    let old = "cloudsync_old_\(name)".quotedName
    let columns = try selection(of: table)
    try sqlite { () throws(SQLiteError) in
      try connection.execute("ALTER TABLE main.\(name.quotedName) RENAME TO \(old)")
      try connection.execute(sql)
      let names = columns.map(\.name).joined(separator: ", ")
      let values = columns.map(\.value).joined(separator: ", ")
      let order = table.schema.rowNumberName.map { " ORDER BY old.\($0)" } ?? ""
      // Another conflict rule would call the default's function, which need not be there.
      try connection.execute(
        """
        INSERT OR ABORT INTO main.\(name.quotedName) (\(names))
        SELECT \(values) FROM main.\(old) AS old\(order)
        """
      )
      try connection.execute("DROP TABLE main.\(old)")
      try connection.execute("DROP TABLE IF EXISTS temp.cloudsync_row_keys")
      let repair = SchemaRepair(table: table.schema, uniqueKeys: table.uniqueKeys)
      for dependent in repair.dependentSQL { try connection.execute(dependent) }
    }
    try check(table: name)
  }

  /// What is written into each column, and the row's number.
  private func selection(
    of table: MigrationPlan.Table
  ) throws(KeyMigrationError) -> [(name: String, value: String)] {
    let schema = table.schema
    var columns: [(name: String, value: String)] = []
    let number = schema.rowNumberName
    // A key that stays is the row's number itself.
    let isNumberKept = if case .autoincrement = table.key { true } else { false }
    if let number, !isNumberKept { columns.append((number, "old.\(number)")) }
    if let name = table.oldKeyColumn, case .integer(let key) = table.key {
      columns.append((name.quotedName, "old.\(key.quotedName)"))
    }
    let rowKey = "(SELECT new FROM temp.cloudsync_row_keys WHERE row = old.\(number ?? "rowid"))"
    if case .added(let name) = table.key {
      guard let number else {
        throw KeyMigrationError.schema(
          "The rows of table \(schema.name.quotedName) cannot be told apart, because columns hide their"
            + " numbers; rename the column \"rowid\"."
        )
      }
      try sqlite { () throws(SQLiteError) in try mapRows(of: schema, number: number, where: "1") }
      columns.append((name.quotedName, rowKey))
    }
    for column in schema.writableColumns {
      let name = column.name.quotedName
      guard let domain = table.columns.first(where: { $0.name == column.name })?.domain else {
        columns.append((name, "old.\(name)"))
        continue
      }
      var value =
        "(SELECT new FROM temp.\(Self.keyMap(of: domain)) AS map WHERE map.old = old.\(name))"
      if table.looseColumns.contains(column.name) {
        columns.append((name, "coalesce(\(value), old.\(name))"))
        continue
      }
      if case .integer(column.name) = table.key, let number, !schema.hasIntegerKey {
        try sqlite { () throws(SQLiteError) in
          try mapRows(of: schema, number: number, where: "\(name) IS NULL")
        }
        value = "coalesce(\(value), \(rowKey))"
      }
      columns.append((name, value))
    }
    return columns
  }

  // MARK: Checks

  private func check(table: String) throws(KeyMigrationError) {
    let answer = try sqlite { () throws(SQLiteError) in
      try connection.value("PRAGMA main.integrity_check(\(table.quotedName))")
    }
    guard answer == .text("ok") else {
      throw KeyMigrationError.damaged(
        "After the migration table \(table.quotedName) would not be sound (\(answer?.literal ?? "")), so"
          + " nothing was changed."
      )
    }
  }

  /// A line for each foreign key that has rows whose parents are missing, with their number.
  private func danglingReferences() throws(SQLiteError) -> Set<String> {
    let rows = try connection.prepare(
      """
      SELECT "table", parent, fkid, count(*) FROM pragma_foreign_key_check
      GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
      """
    )
    var lines: Set<String> = []
    try rows.forEachRow { () throws(SQLiteError) in
      let (table, parent) = (rows.text(0) ?? "", rows.text(1) ?? "")
      lines.insert(
        "\(table.quotedName) to \(parent.quotedName) (\(rows.integer(2)): \(rows.integer(3)) rows)"
      )
    }
    return lines
  }
}
