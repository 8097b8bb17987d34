import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// The rows that a tracked table has, as the history says them.
struct TableRows {
  let connection: HistoryConnection
  let table: TrackedTable
  private let converted: ConvertedValues

  init(connection: HistoryConnection, table: TrackedTable) throws(ChangesetError) {
    let converted = try ConvertedValues(connection: connection, table: table)
    self.init(connection: connection, table: table, converted: converted)
  }

  init(connection: HistoryConnection, table: TrackedTable, converted: ConvertedValues) {
    (self.connection, self.table, self.converted) = (connection, table, converted)
  }

  private var list: String {
    (table.key + table.columns).map(\.quotedName).joined(separator: ", ")
  }

  /// Calls a body with each row as an insertion, in the table's order.
  func forEach(_ body: (RowDelta) throws(ChangesetError) -> Void) throws(ChangesetError) {
    let statement = try connection.failing { () throws(SQLiteError) in
      try connection.sqlite.prepare("SELECT \(list) FROM \(table.name.quotedName)")
    }
    let said = try converted.all()
    try statement.forEachRow(mapping: { ChangesetError($0) }) { () throws(ChangesetError) in
      try body(said(row(statement)))
    }
  }

  /// Rows that the table has still, each as it was and as it is now, in the order in which they are given.
  func pairs(
    with rows: [RowDelta]
  ) throws(ChangesetError) -> [(old: RowDelta, new: RowDelta)] {
    if rows.isEmpty { return [] }
    var present: [RowKey: RowDelta] = [:]
    try forEach { (row) throws(ChangesetError) in present[row.key] = row }
    return rows.compactMap { row in present[row.key].map { (old: row, new: $0) } }
  }

  /// Calls a body with the key and the values of each row, those of the table's columns in order.
  func forEachRow(_ body: (RowKey, [SQLiteValue]) -> Void) throws(ChangesetError) {
    let keys = Int32(table.key.count)
    let width = keys + Int32(table.columns.count)
    let correct = try converted.allValues()
    try connection.failing { () throws(SQLiteError) in
      let statement = try connection.sqlite.prepare("SELECT \(list) FROM \(table.name.quotedName)")
      try statement.forEachRow {
        let key = RowKey((0..<keys).map { statement.value($0) })
        var values = (keys..<width).map { statement.value($0) }
        correct(key, &values)
        body(key, values)
      }
    }
  }

  /// The row of a key; nil if there is none.
  func row(_ key: RowKey) throws(ChangesetError) -> RowDelta? {
    guard let row = try held(key) else { return nil }
    return try converted.said(row)
  }

  /// The same as the table holds it.
  func held(_ key: RowKey) throws(ChangesetError) -> RowDelta? {
    let sql = "SELECT \(list) FROM \(table.name.quotedName) WHERE \(table.hasKey())"
    return try connection.failing { () throws(SQLiteError) in
      let statement = try connection.bound(sql: sql, key.values)
      defer { statement.reset() }
      guard try statement.step() else { return nil }
      let found = row(statement)
      // Another spelling of the key, or 1 for 1.0, is another row.
      return found.key == key ? found : nil
    }
  }

  private func row(_ statement: SQLiteStatement) -> RowDelta {
    let keys = Int32(table.key.count)
    var cells: [CellDelta] = []
    cells.reserveCapacity(table.columns.count)
    for (place, column) in table.columns.enumerated() {
      let value = statement.value(keys + Int32(place))
      if value != .null { cells.append(CellDelta(column, old: .null, new: value, time: .zero)) }
    }
    let key = RowKey((0..<keys).map { statement.value($0) })
    return RowDelta(.insert, key, cells: cells, time: .zero)
  }
}
