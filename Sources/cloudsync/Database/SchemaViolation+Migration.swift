import CloudSyncSQLite

extension SchemaViolation {
  /// Whether `cloudsync migrate` fixes it.
  var isMigrated: Bool {
    sql != nil || code == .integerPrimaryKey || code == .missingPrimaryKey
  }
}

extension SchemaViolation {
  /// A warning of a column that looks like a reference.
  init(_ reference: UndeclaredReference) {
    self.init(
      SchemaViolation.Code(rawValue: "undeclaredReference"),
      table: reference.reference.table,
      column: reference.reference.column,
      reason: reference.reason
        + (reference.canFollow
          ? " Declare it, or name it when the key is migrated."
          : " They cannot follow when the key is migrated."),
      isWarning: true
    )
  }
}

extension SyncEngineOptions {
  /// Whether a table's integer key would have to change.
  func changesKey(of table: String) -> Bool {
    let table = self.table(table)
    return !table.hasUniqueIntegerKeys && !table.givesIntegerKeys
  }
}
