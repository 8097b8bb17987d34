import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// References that rows let go of in their tables for a while, so that SQLite does nothing to the rows by itself when
/// the row that they refer to goes or changes.
///
/// Nothing of that is an edit: the rows' states still have the references, and the rows are written again.
extension SyncTransaction {
  /// Has a row's table refer to nobody by a foreign key; returns whether it does so.
  ///
  /// Where there must be a value, it is one that nobody has: SQLite looks at it at the end of the transaction.
  func release(_ rowKey: RowKey, from link: TableLink) throws(SQLiteError) -> Bool {
    guard tables.enforcesForeignKeys else { return true }
    guard let found = try row(rowKey) else { return true }
    try adopted(found.key, in: found.place)
    guard var row = try row(rowKey), let before = row.values else { return true }
    let table = tables[row.place]
    row.complete(in: table)
    row.needsWrite = true
    keep(row)
    for nobody in nobodies(of: link) {
      try setInTable(link.columns, to: link.columns.map { _ in nobody }, of: rowKey)
      guard let now = try self.row(rowKey)?.values else { return true }
      if table.values(of: link.columns, in: now) != table.values(of: link.columns, in: before) {
        return true
      }
    }
    return false
  }

  /// What refers to no row, in the order in which it is tried.
  private func nobodies(of link: TableLink) -> [SQLiteValue] {
    if link.isInKeyOfChild { return [] }
    releases += 1
    let values: [SQLiteValue] = [.text("cloudsync: nobody \(releases)"), .integer(.min + releases)]
    return (link.reference.canBeNull ? [.null] : []) + values
  }

  /// Sets columns in a row's table alone, which the row's state knows nothing of.
  func setInTable(
    _ columns: [String],
    to values: [SQLiteValue],
    of rowKey: RowKey
  ) throws(SQLiteError) {
    guard var row = try row(rowKey), row.values != nil else { return }
    let rows = tables[row.place].rows(on: connection)
    let key = row.key.values
    let hasTriggers = try mayCallTriggers(of: tables[row.place])
    do throws(SQLiteError) {
      try withoutCapture(of: row) { () throws(SQLiteError) in
        try rows.update(key, with: zip(columns, values).map { (column: $0, value: $1) })
      }
    } catch {
      // The row stays as it is, and so does whoever it refers to.
      let isRefused = error.isRefusal || hasTriggers && error.isOfTrigger
      guard isRefused, connection.isInTransaction else { throw error }
    }
    row.values = try rows.values(of: key)
    keep(row)
  }
}
