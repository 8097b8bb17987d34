import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngineOptions {
  /// The columns of a table that the cloud is to encrypt, as the table calls them.
  func encryptedColumns(of table: TableSchema) -> [String] {
    self.table(table.name).encryptedColumns.compactMap { table.column(named: $0)?.name }
  }

  /// Why columns cannot be encrypted.
  func encryptedColumnViolations(in table: TableSchema) -> [SchemaViolation] {
    self.table(table.name).encryptedColumns.sortedByBytes()
      .compactMap { name in
        // What all tables are told need not be there in each.
        if ownTable(table.name) == nil, table.column(named: name) == nil { return nil }
        guard let reason = reasonAgainstEncryption(of: name, in: table) else { return nil }
        return SchemaViolation(
          .encryptedColumn,
          table: table.name,
          column: name,
          reason:
            "Column \(table.name.quotedName).\(name.quotedName) cannot be encrypted: \(reason)."
        )
      }
  }

  /// Why a column cannot be encrypted; nil if it can.
  private func reasonAgainstEncryption(of name: String, in table: TableSchema) -> String? {
    let options = self.table(table)
    guard let column = table.column(named: name) else { return "there is no such column" }
    if table.primaryKey.contains(where: { $0.isSameName(as: name) }) {
      return "it is part of the primary key, by which records are named for everybody to read"
    }
    if options.localColumns.contains(where: { $0.isSameName(as: name) }) {
      return "it stays on this device"
    }
    if RowRules(writer: 0, policy: options.merging).isCounter(column.name) {
      return "it is a counter, whose shares lie in the record's clock for everybody to read"
    }
    return nil
  }
}
