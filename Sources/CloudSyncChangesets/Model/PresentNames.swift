import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What tables and columns of older schemas are called in the present one: a migration that has only renamed one has made
/// no other of it, and has changed no row.
package struct PresentNames: Sendable, Hashable {
  /// By the table's former name.
  var tables: [String: String] = [:]
  /// By the table's present name and the column's former one.
  var columns: [String: [String: String]] = [:]

  package init() {}

  var isEmpty: Bool { tables.isEmpty && columns.isEmpty }

  func table(_ name: String) -> String { tables[name] ?? name }

  /// The column's name in a table of a present name.
  func column(_ name: String, of table: String) -> String { columns[table]?[name] ?? name }

  // MARK: Changes

  /// The changes of a commit that is no migration under the present names.
  func renamed(_ delta: StateDelta) -> StateDelta {
    StateDelta(
      tables: delta.tables
        .map { table in
          let name = self.table(table.name)
          return TableDelta(
            name,
            fills: table.fills,
            rows: table.rows.map { renamed($0, of: name) }
          )
        }
        .sorted { $0.name.precedesByBytes($1.name) }
    )
  }

  /// The changes of a migration under the present names: what it has only renamed is not changed.
  ///
  /// - Parameters:
  ///   - delta: The changes.
  ///   - gone: The columns that it has dropped, by table.
  ///   - filled: What a row, under the present names, is with what it held in columns that came later, by the table's
  ///     present name.
  /// - Returns: The changes.
  /// - Throws: That rows of a table do not follow those under its former name.
  func renamed(
    migration delta: StateDelta,
    gone: [String: [String]],
    filled: (RowDelta, String) -> RowDelta
  ) throws(ByteFault) -> StateDelta {
    var result = DeltaFold()
    // What was dropped under the former name comes before what has taken its place.
    let first = delta.tables.filter { tables[$0.name] != nil }
    for table in first + delta.tables.filter({ tables[$0.name] == nil }) {
      let name = self.table(table.name)
      var renamed = TableDelta(name, fills: table.fills, rows: [])
      var pairs: [(former: String, fill: TableDelta.Fill)] = []
      // One that was given its former name back later is called so now, too.
      for former in gone[table.name] ?? [] where columns[name] != nil {
        let present = column(former, of: name)
        guard let fill = table.fills.first(where: { column($0.column, of: name) == present }) else {
          continue
        }
        pairs.append((former, fill))
        renamed.fills.removeAll { $0 == fill }
      }
      renamed.rows = table.rows.compactMap { self.renamed($0, of: name, joining: pairs) }
        .map { filled($0, name) }
      try result.add(StateDelta(tables: [renamed]))
    }
    return result.result
  }

  private func renamed(
    _ row: RowDelta,
    of table: String,
    joining pairs: [(former: String, fill: TableDelta.Fill)]
  ) -> RowDelta? {
    guard row.kind == .update, !pairs.isEmpty else { return renamed(row, of: table) }
    var rest = row
    var joined: [CellDelta] = []
    for (former, fill) in pairs {
      let (old, new) = (row.cell(former), row.cell(fill.column))
      rest.cells.removeAll {
        $0.column.hasSameBytes(as: former) || $0.column.hasSameBytes(as: fill.column)
      }
      guard let time = (new ?? old)?.time else { continue }
      // What the row has no cell of was NULL there, and is what the column was filled with here.
      let cell = CellDelta(
        column(former, of: table),
        old: old?.old ?? .null,
        new: new?.new ?? fill.value,
        time: time
      )
      if cell.isChange { joined.append(cell) }
    }
    let cells = renamed(rest, of: table).cells + joined
    return RowDelta(updating: row.key, cells: cells.sorted { $0.column.precedesByBytes($1.column) })
  }

  private func renamed(_ row: RowDelta, of table: String) -> RowDelta {
    guard columns[table] != nil else { return row }
    var row = row
    for place in row.cells.indices {
      row.cells[place].column = column(row.cells[place].column, of: table)
    }
    row.cells.sort { $0.column.precedesByBytes($1.column) }
    return row
  }
}
