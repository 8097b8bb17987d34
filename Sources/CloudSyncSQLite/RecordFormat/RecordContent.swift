package import CloudSyncCore

/// What a record says of a row, read without the row's table: for whoever looks at the cloud from outside.
package struct RecordContent: Sendable {
  /// The values of the columns that the record knows, by name.
  package let values: [String: FieldValue]
  private let clock: RecordClock

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
    clock = version.clock
    var values: [String: FieldValue] = [:]
    for name in version.columnNames { values[name] = version.value(of: name) }
    self.values = values
  }

  /// When its parts were written.
  package var times: String {
    let columns = clock.columns.map { "\($0.name) \($0.time)" }
    let shares = clock.shares.map { "\($0.column) by \($0.writer) \($0.time)" }
    let seen = clock.seen.map { "\($0.column) seen \($0.time)" }
    return (["created \(clock.created)", "deleted \(clock.deleted)"] + columns + shares + seen)
      .joined(separator: ", ")
  }

  /// Whether the row is deleted.
  package var isDeleted: Bool { clock.isDeleted }
}
