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

  /// The names of tables whose integer keys the engine gives.
  func countedTables(of tables: SyncTables) -> [String] {
    tables.inOrder.filter { $0.schema.isCounted && table($0.name).givesIntegerKeys }.map(\.name)
  }
}
