import CloudSyncCore
import CloudSyncSQLiteSupport

/// Makes a table's row what a version says; what SQLite refuses is told, and the row stays as it was.
struct RowWriter {
  let rows: TableRows
  /// What a column holds of what has travelled; nil for what no column can hold.
  let stored: (VersionedColumn) throws(SQLiteError) -> SQLiteValue?

  /// Writes a row, or deletes it.
  ///
  /// - Parameters:
  ///   - version: The row as it is to be; nil if it is to be gone.
  ///   - key: The values of its key.
  ///   - values: What the table has now; nil if it has no such row.
  /// - Returns: Where the row is then.
  /// - Throws: SQLite's reason, unless it is about this row's values alone.
  func write(
    _ version: RecordVersion?,
    key: [SQLiteValue],
    values: [SQLiteValue]?
  ) throws(SQLiteError) -> Placement {
    do throws(SQLiteError) {
      guard let version else {
        if values != nil { try rows.delete(key) }
        return .inTable
      }
      let wanted = try wanted(version)
      if let values {
        let changes = wanted.filter { change in
          guard let place = rows.columns.firstIndex(of: change.column) else { return false }
          return values[place] != change.value
        }
        try rows.update(key, changes)
      } else {
        try rows.insert(withKey(key, wanted))
      }
      return .inTable
    } catch {
      guard error.isRefusal, rows.connection.isInTransaction else { throw error }
      return .violates(code: Int64(error.code), reason: error.message)
    }
  }

  /// The columns that the table has, with what they are to hold.
  private func wanted(
    _ version: RecordVersion
  ) throws(SQLiteError) -> [(column: String, value: SQLiteValue)] {
    var wanted: [(column: String, value: SQLiteValue)] = []
    for name in rows.columns {
      guard let value = version.value(of: name) else { continue }
      let column = VersionedColumn(name: name, value: value, time: .zero)
      if let value = try stored(column) { wanted.append((name, value)) }
    }
    return wanted
  }

  /// The key as its columns spell it, or as the record's name tells it.
  private func withKey(
    _ key: [SQLiteValue],
    _ wanted: [(column: String, value: SQLiteValue)]
  ) -> [(column: String, value: SQLiteValue)] {
    let missing = zip(rows.key, key).filter { name, _ in !wanted.contains { $0.column == name } }
    return missing.map { (column: $0, value: $1) } + wanted
  }
}
