import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Parked rows whose parents an edit has deleted: SQLite, which does not see them, has done nothing about them.
struct ParkedChildren {
  let work: HistoryWork

  /// Changes with what the actions of foreign keys make of parked rows, which are parked as they are then.
  func following(changes: StateDelta, at time: HybridTime) throws(ChangesetError) -> StateDelta {
    var added: [TableDelta] = []
    var isDone = false
    // A row that goes may take others along.
    while !isDone {
      isDone = true
      for table in try work.parked.absent(from: work.tables).tables {
        for row in table.rows {
          guard
            let change = try change(of: row, in: table.name, after: changes.tables + added, time)
          else { continue }
          added.append(TableDelta(table.name, rows: [change]))
          try work.parked.release(key: row.key, of: table.name)
          if change.kind == .update {
            let left = row.cells.filter { change.cell($0.column) == nil }
            try work.parked.park(
              row: RowDelta(.insert, row.key, cells: left, time: .zero),
              of: table.name,
              because: "parked before the row that it referred to was deleted"
            )
          }
          isDone = false
        }
      }
    }
    if added.isEmpty { return changes }
    return try reading("parked rows") { () throws(ByteFault) in
      var sum = changes
      for table in added { sum = try sum.followed(by: StateDelta(tables: [table])) }
      return sum
    }
  }

  private func change(
    of row: RowDelta,
    in table: String,
    after changes: [TableDelta],
    _ time: HybridTime
  ) throws(ChangesetError) -> RowDelta? {
    for link in work.tables.schema.references where link.child.name.isSameName(as: table) {
      let isTouched = changes.contains { change in
        change.name.isSameName(as: link.parent.name) && change.rows.contains { $0.kind != .insert }
      }
      guard isTouched, ![.noAction, .restrict].contains(link.key.onDelete),
        try work.parked.hasParent(row, by: link, in: work.tables) == false
      else { continue }
      if link.key.onDelete == .cascade || !link.canBeNull { return row.inverted(at: time) }
      let cells = row.cells.filter { cell in
        link.key.columns.contains { $0.isSameName(as: cell.column) }
      }
      return RowDelta(
        updating: row.key,
        cells: cells.map { CellDelta($0.column, old: $0.new, new: .null, time: time) }
      )
    }
    return nil
  }
}
