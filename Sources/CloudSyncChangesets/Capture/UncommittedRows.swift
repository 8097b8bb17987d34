import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What was changed since HEAD, by what the mirrors keep of it.
struct UncommittedRows {
  let connection: HistoryConnection
  private let tables: [TrackedTable]

  init(connection: HistoryConnection, tables: TrackedTables) {
    (self.connection, self.tables) = (connection, tables.tables)
  }

  /// The changes, as if made at a time; edits that changed nothing in the end are none.
  func changes(at time: HybridTime) throws(ChangesetError) -> StateDelta {
    var result: [TableDelta] = []
    for table in tables where try isTouched(table: table) {
      let rows = try rows(of: table, at: time)
      if !rows.isEmpty { result.append(TableDelta(table.name, rows: rows)) }
    }
    return StateDelta(tables: result)
  }

  /// Whether rows differ from those of HEAD.
  func hasChanges() throws(ChangesetError) -> Bool { try changes(at: .zero).isEmpty == false }

  /// Forgets what the rows were: they are committed.
  func clear() throws(ChangesetError) {
    for table in tables where try isTouched(table: table) {
      try connection.run("DELETE FROM \(table.mirror)")
    }
  }

  private func isTouched(table: TrackedTable) throws(ChangesetError) -> Bool {
    try connection.failing { () throws(SQLiteError) in
      let statement = try connection.sqlite.statement(table.sql.isTouched)
      defer { statement.reset() }
      return try statement.step()
    }
  }

  private func rows(
    of table: TrackedTable,
    at time: HybridTime
  ) throws(ChangesetError) -> [RowDelta] {
    var rows: [RowDelta] = []
    try connection.failing { () throws(SQLiteError) in
      let statement = try connection.sqlite.statement(table.sql.comparison)
      let comparison = MirrorComparison(table: table, statement: statement, time: time)
      try statement.forEachRow { rows += comparison.rows }
    }
    if rows.count > 1 {
      rows.sort { $0.key < $1.key }
      // A key that is spelled anew may be told of under both spellings.
      if zip(rows, rows.dropFirst()).contains(where: { $0.key == $1.key }) {
        rows = zip(rows, rows.dropFirst()).filter { $0.key != $1.key }.map(\.0) + rows.suffix(1)
      }
    }
    try say(rows: &rows, of: table)
    try replaceParked(rows: &rows, of: table, at: time)
    return rows
  }
}

extension UncommittedRows {
  /// Has changes say what the history says, where the table holds something else.
  private func say(rows: inout [RowDelta], of table: TrackedTable) throws(ChangesetError) {
    let converted = try ConvertedValues(connection: connection, table: table)
    guard converted.exist else { return }
    rows = try rows.map { (row) throws(ChangesetError) in try converted.said(change: row) }
      .compactMap { $0 }
  }

  /// Has a row that was made in the place of a parked one differ from that: at HEAD it was not missing.
  ///
  /// Where it has gone again the parked one stands, and nothing has changed.
  private func replaceParked(
    rows: inout [RowDelta],
    of table: TrackedTable,
    at time: HybridTime
  ) throws(ChangesetError) {
    let parked = ParkedRows(connection: connection)
    guard try parked.exist() else { return }
    rows =
      try rows.map { (row) throws(ChangesetError) -> RowDelta? in
        guard row.kind != .update, let away = try parked.row(row.key, of: table.name) else {
          return row
        }
        guard row.kind == .insert else { return nil }
        return try reading("a parked row") { () throws(ByteFault) in
          try away.inverted(at: time).followed(by: row)
        }
      }
      .compactMap { $0 }
  }
}

/// Reads what became of a row from a row of the comparison: what the mirror has, then what the table has.
private struct MirrorComparison {
  let table: TrackedTable
  let statement: SQLiteStatement
  let time: HybridTime

  private var width: Int32 { Int32(table.key.count + table.columns.count + 1) }

  var rows: [RowDelta] {
    let key = RowKey(values(first: 0, table.key.count))
    let was = statement.integer(Int32(table.key.count)) != 0
    guard !statement.isNull(width) else {
      return was ? [RowDelta(.delete, key, cells: cells(old: true, new: false), time: time)] : []
    }
    let present = table.hasExactKey ? key : RowKey(values(first: width, table.key.count))
    guard present == key else {
      // 1 became 1.0: SQLite finds one by the other, but they are two keys.
      let insertion = RowDelta(.insert, present, cells: cells(old: false, new: true), time: time)
      let deletion = RowDelta(.delete, key, cells: cells(old: true, new: false), time: time)
      return was ? [deletion, insertion] : [insertion]
    }
    if was {
      return RowDelta(updating: key, cells: cells(old: true, new: true)).map { [$0] } ?? []
    }
    return [RowDelta(.insert, key, cells: cells(old: false, new: true), time: time)]
  }

  private func values(first: Int32, _ count: Int) -> [SQLiteValue] {
    (0..<Int32(count)).map { statement.value(first + $0) }
  }

  private func cells(old: Bool, new: Bool) -> [CellDelta] {
    var cells: [CellDelta] = []
    let keys = Int32(table.key.count)
    for (place, column) in table.columns.enumerated() {
      let before = old ? statement.value(keys + 1 + Int32(place)) : .null
      let after = new ? statement.value(width + keys + Int32(place)) : .null
      if before != after { cells.append(CellDelta(column, old: before, new: after, time: time)) }
    }
    return cells
  }
}
