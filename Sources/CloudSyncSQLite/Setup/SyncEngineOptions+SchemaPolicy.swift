import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngineOptions {
  /// What is settled for a table.
  func schemaPolicy(_ name: String) -> SchemaPolicy {
    let table = table(name)
    var policy = SchemaPolicy(
      requiresDefaults: !table.allowsMissingDefaults,
      allowsUniqueKeys: table.uniqueKeys != nil,
      allowsIntegerKeys: table.hasUniqueIntegerKeys
    )
    policy.countsIntegerKeys = table.givesIntegerKeys
    return policy
  }

  /// What stands in the way of tables; columns that stay on this device need keep no rule of the cloud's.
  func violations(in schema: DatabaseSchema, tables: [String]) -> [SchemaViolation] {
    let declared = tables.compactMap { schema.table(named: $0) }
    let local = declared.flatMap {
      localColumnViolations(in: $0) + encryptedColumnViolations(in: $0)
    }
    let filters = declared.compactMap { rowFilterViolation(in: $0) }
    let triggers = declared.flatMap { TriggerCheck(table: $0, synchronized: tables).warnings() }
    return unknownNames(in: schema, beside: tables) + local + filters
      + rowFilterWarnings(in: schema, tables: tables) + triggers
      + SchemaRules.violations(
        in: local.isEmpty ? synchronized(schema) : schema,
        tables: tables,
        policy: schemaPolicy,
        alsoChecking: CloudName.violations
      )
  }

  /// The options of a table, whose columns have the names that they have in the table.
  func table(_ schema: TableSchema) -> Table {
    var table = table(schema.name)
    if table.merging.columns.isEmpty { return table }
    var columns: [String: MergePolicy] = [:]
    for name in table.merging.columns.keys.sortedByBytes() {
      columns[schema.column(named: name)?.name ?? name] = table.merging.columns[name]
    }
    table.merging.columns = columns
    return table
  }

  /// Why names in the options are none of the database's: what such an option says would never come to anything.
  ///
  /// - Parameters:
  ///   - schema: What the database has.
  ///   - synchronized: The tables that are synchronized: whether these are there is asked elsewhere.
  /// - Returns: A violation for each name.
  func unknownNames(
    in schema: DatabaseSchema,
    beside synchronized: [String]
  ) -> [SchemaViolation] {
    var unknown: [SchemaViolation] = []
    for name in tables.keys.sortedByBytes() {
      guard let table = schema.table(named: name) else {
        if synchronized.contains(where: name.isSameName) { continue }
        let reason =
          "The options name a table \(name.quotedName), which the database does not have."
          + Suggestion.sentence(for: name, among: schema.tables.map(\.name))
        unknown.append(SchemaViolation(.unknownOption, table: name, reason: reason))
        continue
      }
      let columns = tables[name]?.merging.columns.keys.sortedByBytes() ?? []
      for column in columns where table.column(named: column) == nil {
        let reason =
          "The options have a merge policy for \(table.name.quotedName).\(column.quotedName), and the table has no"
          + " such column."
          + Suggestion.sentence(for: column, among: table.writableColumns.map(\.name))
        unknown.append(
          SchemaViolation(.unknownOption, table: table.name, column: column, reason: reason)
        )
      }
    }
    return unknown
  }

  /// The names of tables whose integer keys the engine gives.
  func countedTables(of tables: SyncTables) -> [String] {
    tables.inOrder.filter(\.countsKeys).map(\.name)
  }
}
