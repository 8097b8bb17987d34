import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The rows of HEAD where the changes that lead to it were removed, and the tables were changed without the history.
///
/// They are what the tables have now, with what was edited since taken back. The hash of HEAD says whether that is so. What
/// was in a table or a column that is gone nobody can tell from what is left.
struct RowsOfHead {
  let connection: HistoryConnection
  /// The schema of HEAD.
  let former: SchemaDescription
  let present: DatabaseSchema
  let taken: TakenUpNames

  /// The state of HEAD, as its own schema has it; nil if the tables do not tell it.
  func state(at head: LogRow) throws(ChangesetError) -> StateDelta? {
    var tables: [TableDelta] = []
    for description in former.tables {
      let name = taken.formerTables.first { $0.value.hasSameBytes(as: description.name) }?.key
      guard let declared = present.table(named: name ?? description.name),
        let table = try rows(of: description, in: declared)
      else { return nil }
      if !table.rows.isEmpty { tables.append(table) }
    }
    let state = StateDelta(tables: tables)
    let frames = try StateFrames(connection)
    let hash = StateHash.zero
      .adding(state, from: try frames.frame(of: nil), to: try frames.frame(of: head))
    return hash == head.stateHash ? state : nil
  }

  /// The rows of a table; nil if a column of it is gone.
  private func rows(
    of description: SchemaDescription.Table,
    in declared: TableSchema
  ) throws(ChangesetError) -> TableDelta? {
    var names: [String: String] = [:]
    for column in description.columns where column.keyPlace == 0 && !column.isGenerated {
      let name = taken.presentName(of: column.name, in: declared.name)
      guard declared.column(named: name) != nil else { return nil }
      names[name] = column.name
    }
    let table = try TrackedTable(number: 0, schema: declared, connection)
    let converted = try ConvertedValues(connection: connection, table: table)
    var rows: [RowKey: RowDelta] = [:]
    try TableRows(connection: connection, table: table, converted: converted)
      .forEach { (row) throws(ChangesetError) in rows[row.key] = row.renamed(names) }
    for parked in try ParkedRows(connection: connection).all()
    where parked.table.hasSameBytes(as: description.name) && rows[parked.row.key] == nil {
      rows[parked.row.key] = parked.row
    }
    for (key, was) in try preimages(of: description) {
      rows[key] = try was.map { (row) throws(ChangesetError) in try converted.said(row) }
    }
    return TableDelta(description.name, rows: rows.values.sorted { $0.key < $1.key })
  }

  /// What rows were at HEAD that were edited since, by the mirror; nil for those that were not there.
  private func preimages(
    of description: SchemaDescription.Table
  ) throws(ChangesetError) -> [(RowKey, RowDelta?)] {
    let number = try connection.integer(
      "SELECT number FROM changesets_tables WHERE name = ?1",
      .text(description.name)
    )
    guard let number, try connection.hasTable("changesets_old_\(number)") else { return [] }
    let keys = Int32(description.columns.count { $0.keyPlace > 0 })
    let columns = installed(description).columns
      .filter { $0.keyPlace == 0 && !$0.isGenerated }.map(\.name).sortedByBytes()
    return try connection.rows("SELECT * FROM main.changesets_old_\(number)") { row in
      let key = RowKey((0..<keys).map { row.value($0) })
      guard row.integer(keys) != 0 else { return (key, nil) }
      let cells = columns.enumerated()
        .map { CellDelta($1, old: .null, new: row.value(keys + 1 + Int32($0)), time: .zero) }
      return (key, RowDelta(.insert, key, cells: cells.filter { $0.new != .null }, time: .zero))
    }
  }

  /// The table as it was when its mirror was made.
  private func installed(
    _ description: SchemaDescription.Table
  ) -> SchemaDescription.Table {
    taken.installed?.table(description.name) ?? description
  }
}

extension RowDelta {
  /// A row whose columns have their former names, by the present ones; without those that are new.
  fileprivate func renamed(_ names: [String: String]) -> RowDelta {
    var row = self
    row.cells = row.cells.compactMap { cell in
      guard let name = names[cell.column] else { return nil }
      return CellDelta(name, old: cell.old, new: cell.new, time: cell.time)
    }
    row.cells.sort { $0.column.precedesByBytes($1.column) }
    return row
  }
}
