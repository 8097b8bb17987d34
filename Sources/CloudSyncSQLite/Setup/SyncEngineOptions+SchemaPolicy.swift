import CloudSyncSQLiteSchema

extension SyncEngineOptions {
  /// What is settled for a table.
  func schemaPolicy(_ name: String) -> SchemaPolicy {
    let table = table(name)
    return SchemaPolicy(
      requiresDefaults: !table.allowsMissingDefaults,
      allowsUniqueKeys: table.uniqueKeys != nil,
      allowsIntegerKeys: table.hasUniqueIntegerKeys
    )
  }
}
