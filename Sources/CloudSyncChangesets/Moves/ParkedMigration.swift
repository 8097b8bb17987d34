import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Parked rows while tables are changed: no migration sees them, and they keep their values under the names that these have
/// afterwards, as the rows do that are in the tables.
struct ParkedMigration {
  /// The history with the tables as they are now.
  let work: HistoryWork
  let former: SchemaDescription
  /// What is called otherwise now.
  var names: PresentNames

  /// Parks rows as they are to be in the tables now.
  ///
  /// - Parameter fills: What the columns of a table were filled with that were added to it.
  /// - Returns: The rows by table; those of tables that are gone are released.
  /// - Throws: What is wrong with the database.
  func run(
    fills: (String) -> [TableDelta.Fill]
  ) throws(ChangesetError) -> [String: [RowDelta]] {
    var rows: [String: [RowDelta]] = [:]
    for parked in try work.parked.all() {
      let name = names.table(parked.table)
      if work.tables.table(name) == nil || !name.hasSameBytes(as: parked.table) {
        try work.parked.release(key: parked.row.key, of: parked.table)
      }
      guard let table = work.tables.table(name) else { continue }
      var row = parked.row
      row.cells = row.cells.compactMap { cell in
        let isThere = table.hasColumn(cell.column)
        let column = isThere ? cell.column : names.column(cell.column, of: name)
        guard table.hasColumn(column) else { return nil }
        return CellDelta(column, old: .null, new: cell.new, time: cell.time)
      }
      let renamed = Set((names.columns[name] ?? [:]).values)
      row = row.filled(fills(name).filter { !renamed.contains($0.column) })
      try work.parked.park(row: row, of: name, because: "parked before the migration")
      rows[name, default: []].append(row)
    }
    return rows
  }

  /// Takes a column for another name of one that is gone where no row tells it, and no other column can be meant: its values
  /// are nowhere else.
  mutating func addOnlyCandidates(unlessToldBy changes: StateDelta) {
    for before in former.tables {
      let name = names.table(before.name)
      guard let table = work.tables.description.table(name) else { continue }
      let added = table.columns.filter { before.column($0.name) == nil }
      let gone = before.columns.filter { table.column($0.name) == nil }
      for column in gone where names.columns[name]?[column.name] == nil {
        let candidates = added.filter { $0.isSame(as: column) }
        guard candidates.count == 1, gone.count(where: { candidates[0].isSame(as: $0) }) == 1,
          !changes.tells(of: [column.name, candidates[0].name], in: name)
        else { continue }
        names.columns[name, default: [:]][column.name] = candidates[0].name
      }
    }
  }
}

extension StateDelta {
  /// Whether a row has changed in one of some columns.
  fileprivate func tells(of columns: [String], in table: String) -> Bool {
    self.table(table)?.rows
      .contains { row in
        row.cells.contains { cell in columns.contains { $0.hasSameBytes(as: cell.column) } }
      } == true
  }
}
