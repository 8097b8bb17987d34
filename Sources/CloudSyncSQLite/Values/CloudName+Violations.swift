import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension CloudName {
  /// The names of a table that the cloud cannot hold in any spelling.
  static func violations(in table: TableSchema) -> [SchemaViolation] {
    var violations: [SchemaViolation] = []
    let name = table.name.quotedName
    if recordType(ofTable: table.name) == nil {
      violations.append(
        SchemaViolation(
          .invalidTableName,
          table: table.name,
          reason:
            "The name of table \(name) is over \(maximumTypeByteCount) bytes as the cloud must spell"
            + " it."
        )
      )
    }
    for column in table.writableColumns where field(ofColumn: column.name) == nil {
      violations.append(
        SchemaViolation(
          .invalidColumnName,
          table: table.name,
          column: column.name,
          reason:
            "The name of column \(name).\(column.name.quotedName) is over \(maximumFieldByteCount)"
            + " bytes as the cloud must spell it."
        )
      )
    }
    return violations
  }
}
