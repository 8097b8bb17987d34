import CloudSyncSQLiteSchema

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
    let local = tables.compactMap { schema.table(named: $0) }
      .flatMap { localColumnViolations(in: $0) }
    let filters = tables.compactMap { schema.table(named: $0) }
      .compactMap { rowFilterViolation(in: $0) }
    return local + filters + rowFilterWarnings(in: schema, tables: tables)
      + SchemaRules.violations(
        in: local.isEmpty ? synchronized(schema) : schema,
        tables: tables,
        policy: schemaPolicy,
        alsoChecking: CloudName.violations
      )
  }

  /// The names of tables whose integer keys the engine gives.
  func countedTables(of tables: SyncTables) -> [String] {
    tables.inOrder.filter(\.countsKeys).map(\.name)
  }
}
