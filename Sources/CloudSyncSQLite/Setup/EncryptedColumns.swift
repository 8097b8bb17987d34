import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension SyncEngineOptions {
  /// The columns of a table that the cloud is to encrypt, as the table calls them.
  func encryptedColumns(of table: TableSchema) -> [String] {
    self.table(table.name).encryptedColumns.compactMap { table.column(named: $0)?.name }
  }

  /// Why columns cannot be encrypted.
  func encryptedColumnViolations(in table: TableSchema) -> [SchemaViolation] {
    violations(
      .encryptedColumn,
      of: self.table(table.name).encryptedColumns,
      in: table,
      saying: "cannot be encrypted"
    ) { reasonAgainstEncryption(of: $0, in: table) }
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
