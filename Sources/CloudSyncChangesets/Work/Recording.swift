import CloudSyncSQLite

/// Makes a commit of changes that are computed, and writes them into the tables.
struct Recording {
  let work: HistoryWork
  /// What becomes of rows of the history that the tables here refuse.
  var refusals = TableWriter.Refusals.parks

  /// Nothing is uncommitted before; nil if there are no changes.
  func record(
    changes: StateDelta,
    meta: String,
    reverts: ChangesetID? = nil,
    conflicts: [MergeConflict] = []
  ) throws(ChangesetError) -> Changeset? {
    let position = try work.heads.position()
    guard !position.isDetached else {
      throw ChangesetError.onOlderCommit
    }
    let changes = changes.withoutNewerValues
    if changes.isEmpty { return nil }
    var applying = work.applying
    applying.refusals = refusals
    try applying.apply(delta: changes)
    let time = HybridTime.next(after: position.clock, now: work.now)
    let row = try Committing(work: work)
      .append(
        changes.written(at: time),
        meta: meta,
        reverts: reverts,
        conflicts: conflicts,
        at: time,
        on: position
      )
    return try work.changeset(row: row)
  }
}

extension StateDelta {
  /// The same changes, as if made at a time.
  func written(at time: HybridTime) -> StateDelta {
    StateDelta(
      tables: tables.map { table in
        let rows = table.rows.map { row in
          // A NULL that is as old as its row says nothing.
          let cells = row.cells.filter(\.isChange)
            .map { CellDelta($0.column, old: $0.old, new: $0.new, time: time) }
          return RowDelta(row.kind, row.key, cells: cells, time: time)
        }
        return TableDelta(table.name, fills: table.fills, rows: rows)
      }
    )
  }
}
