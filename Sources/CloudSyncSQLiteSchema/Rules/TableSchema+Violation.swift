import CloudSyncSQLiteSupport

extension TableSchema {
  /// The name of a column with the table's, for a reason.
  func described(_ column: String) -> String { "\(name.quotedName).\(column.quotedName)" }

  func violation(
    _ code: SchemaViolation.Code,
    column: String? = nil,
    reason: String,
    sql: String? = nil,
    isWarning: Bool = false
  ) -> SchemaViolation {
    SchemaViolation(
      code,
      table: name,
      column: column,
      reason: reason,
      sql: sql,
      isWarning: isWarning
    )
  }
}
