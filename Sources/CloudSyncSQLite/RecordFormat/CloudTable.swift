package import CloudSyncCore
package import CloudSyncSQLiteSupport

/// A table as records show it, for who looks at a cloud without a database.
package struct CloudTable: Sendable {
  private let format: RecordFormat
  private let columns: [String]

  /// Creates a table; nil for one that has no format in the cloud.
  ///
  /// - Parameters:
  ///   - name: Its name.
  ///   - columns: Its columns with the types that they were declared with.
  ///   - key: The columns of its key.
  package init?(
    _ name: String,
    columns: [(name: String, declaredType: String)],
    key: [String]
  ) {
    let format: RecordFormat
    do throws(RecordFormatError) {
      format = try RecordFormat(
        table: name,
        columns: columns,
        key: key.map { ($0, KeyCollation.binary.rawValue) },
        numbers: ColumnNumbers(columns.map(\.name)),
        assetThreshold: .max
      )
    } catch { return nil }
    self.format = format
    self.columns = columns.map(\.name)
  }

  /// The row of a record, as values of the table's columns; nil if the record is none of a row's of the table,
  /// or says that the row is deleted.
  package func row(of record: Record) throws(CodedError) -> [SQLiteValue]? {
    guard UTF8Bytes.equal(record.recordType, format.recordType),
      let version = try format.version(of: record), !version.clock.isDeleted
    else { return nil }
    return columns.map { name in
      guard let value = version.value(of: name), case .value(let stored)? = ValueCodec.decode(value)
      else { return .null }
      return stored
    }
  }
}
