package import CloudSyncCore

/// What a record says of a row, read without the row's table: for whoever looks at the cloud from outside.
package struct RecordContent: Sendable {
  /// The values of the columns that the record knows, by name.
  package let values: [String: FieldValue]
  /// Whether the row is deleted, where deletions win.
  package let isDeleted: Bool

  /// Reads a record; nil if it is none of a row's, or cannot be read.
  package init?(_ record: Record) {
    let format = try? RecordFormat(
      table: record.recordType,
      columns: [],
      key: [],
      numbers: ColumnNumbers(),
      assetThreshold: .max
    )
    guard let format, let version = try? format.version(of: record) else { return nil }
    isDeleted = version.clock.isDeleted(.deleteWins)
    var values: [String: FieldValue] = [:]
    for name in version.columnNames { values[name] = version.value(of: name) }
    self.values = values
  }
}
