import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Finds rows that were written past the triggers, and makes uncommitted changes of them.
struct Rescan {
  let work: HistoryWork

  /// Finds them.
  ///
  /// - Parameter known: The rows of HEAD, if somebody knows them where changes were removed.
  /// - Throws: What is wrong with the database, or that too much was removed.
  func run(knowing known: StateDelta? = nil) throws(ChangesetError) {
    let head = try work.heads.position().seq
    let state: StateDelta
    do throws(ChangesetError) {
      state = if let known { known } else { try work.log.changes(from: nil, to: head) }
    } catch {
      // Where old changes were removed the hash still tells that there is nothing to find.
      guard error.code == .historyTooShort, try Verification(work: work).areRowsThoseOfHead else {
        throw error
      }
      return
    }
    for table in work.tables.tables {
      try compare(table: table, with: state.table(table.name)?.rows ?? [])
    }
  }

  /// Writes what rows were at HEAD into the mirror, wherever the table has others.
  private func compare(table: TrackedTable, with rows: [RowDelta]) throws(ChangesetError) {
    var wanted = Dictionary(rows.map { ($0.key, $0) }, uniquingKeysWith: { first, _ in first })
    var found: [RowKey] = []
    let converted = try ConvertedValues(connection: work.connection, table: table)
    try converted.forget(unlike: wanted)
    try TableRows(connection: work.connection, table: table, converted: converted)
      .forEach { (row) throws(ChangesetError) in
        guard let was = wanted.removeValue(forKey: row.key) else {
          return found.append(row.key)
        }
        if row.isSame(as: was) { return }
        if try converted.taken(up: row, as: was).isSame(as: was) { return }
        wanted[row.key] = was
        found.append(row.key)
      }
    for parked in try work.parked.absent(from: work.tables).table(table.name)?.rows ?? [] {
      wanted[parked.key] = nil
    }
    for key in found + wanted.keys.sorted() { try keep(row: wanted[key], key: key, of: table) }
  }

  /// Notes what a row was at HEAD, nil for none.
  private func keep(
    row: RowDelta?,
    key: RowKey,
    of table: TrackedTable
  ) throws(ChangesetError) {
    let values: [SQLiteValue] =
      key.values + [.integer(row == nil ? 0 : 1)]
      + table.columns.map { row?.cell($0)?.new ?? .null }
    let places = (1...values.count).map { "?\($0)" }.joined(separator: ", ")
    try work.connection.failing { () throws(SQLiteError) in
      try work.connection
        .bound(
          sql: "REPLACE INTO \(table.mirror)(\(table.mirrorColumns)) VALUES(\(places))",
          values
        )
        .run()
    }
  }
}

extension RowDelta {
  /// Whether a row that is there has the values of another.
  fileprivate func isSame(as other: RowDelta) -> Bool {
    cells.map { CellValue($0.column, $0.new) } == other.cells.map { CellValue($0.column, $0.new) }
  }
}
