import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

extension ParkedRows {
  /// Whether the row that a parked one refers to is in its table, or parked as well; true if it refers to none.
  func hasParent(
    _ row: RowDelta,
    by link: TableReference,
    in tables: TrackedTables
  ) throws(ChangesetError) -> Bool {
    guard let parent = tables.table(link.parent.name) else { return true }
    var values: [SQLiteValue] = []
    for column in link.key.columns {
      let value = tables.value(of: column, in: link.child.name, key: row.key) { row.cell($0)?.new }
      if value == .null { return true }
      values.append(value)
    }
    let match = link.key.referencedColumns.enumerated()
      .map { "\($1.quotedName) = ?\($0 + 1)" }
      .joined(separator: " AND ")
    let found = try connection.failing { () throws(SQLiteError) in
      let statement = try connection.bound(
        sql: "SELECT 1 FROM \(parent.name.quotedName) WHERE \(match)",
        values
      )
      defer { statement.reset() }
      return try statement.step()
    }
    if found { return true }
    let names = link.key.referencedColumns
    return try absent(from: tables).table(parent.name)?.rows
      .contains { other in
        zip(names, values)
          .allSatisfy { name, value in
            tables.value(of: name, in: parent.name, key: other.key) { other.cell($0)?.new } == value
          }
      } ?? false
  }
}
