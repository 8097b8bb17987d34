import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Puts back what a merge has lost: the row that was set aside, or the values of its columns.
struct Restoring {
  let work: HistoryWork

  /// Commits what a decision has lost; nil if the row holds all of it.
  func restore(
    conflict: ChangesetConflict,
    key: [FieldValue]?
  ) throws(ChangesetError) -> Changeset? {
    try work.checkNothingIsUncommitted()
    let (merge, lost) = try decision(conflict: conflict)
    let changes = try changes(lost, of: merge, key: key)
    guard let table = changes.tables.first?.name else {
      try DecidedEdits(log: work.log).dismiss(merge: merge, conflict.number)
      return nil
    }
    let references = work.tables.schema.references.filter { link in
      link.child.name.isSameName(as: table) || link.parent.name.isSameName(as: table)
    }
    let before = try references.map(danglingCount)
    let commit = try Recording(work: work, refusals: .tells)
      .record(changes: changes, meta: RestoreMark(merge: merge, number: conflict.number).meta)
    for (link, count) in zip(references, before) where try danglingCount(link) > count {
      throw dangling(link: link, of: table)
    }
    return commit
  }

  /// Deletes a row that one side had deleted, and that a merge has kept; nil if it is deleted already.
  func delete(conflict: ChangesetConflict, key: [FieldValue]?) throws(ChangesetError) -> Changeset?
  {
    if key != nil {
      throw ChangesetError(.misuse, "another key is for a row that a merge has removed")
    }
    try work.checkNothingIsUncommitted()
    let (merge, lost) = try decision(conflict: conflict)
    let meta = RestoreMark(merge: merge, number: conflict.number).meta
    guard let table = work.tables.table(lost.table) else {
      throw ChangesetError(.needsUpgrade, "table \(lost.table.quotedName) is not in the history")
    }
    let rows = try TableRows(connection: work.connection, table: table)
    guard try rows.row(lost.key) != nil else {
      guard let parked = try work.parked.row(lost.key, of: table.name) else {
        try DecidedEdits(log: work.log).dismiss(merge: merge, conflict.number)
        return nil
      }
      let changes = TableDelta(table.name, rows: [parked.inverted(at: .zero)])
      return try Recording(work: work).record(changes: StateDelta(tables: [changes]), meta: meta)
    }
    let sql = "DELETE FROM main.\(table.name.quotedName) WHERE \(table.hasKey())"
    do throws(SQLiteError) {
      try work.connection.bound(sql: sql, lost.key.values).run()
    } catch {
      guard [.constraint, .foreignKey].contains(error.kind) else { throw ChangesetError(error) }
      let values = lost.key.values.map(\.literal).joined(separator: ", ")
      throw ChangesetError(
        .misuse,
        "row \(values) of table \(table.name.quotedName) cannot be deleted (\(error.message)); change what stands in its"
          + " way first"
      )
    }
    let row = try Committing(work: work).commit(meta: meta)
    return try row.map { (row) throws(ChangesetError) in try work.changeset(row: row) }
  }

  private func decision(
    conflict: ChangesetConflict
  ) throws(ChangesetError) -> (merge: ChangesetID, lost: MergeConflict) {
    if conflict.kind == .parked {
      throw ChangesetError(
        .misuse,
        "the row comes back by itself when the tables take it; change what stands in its way, then pull"
      )
    }
    guard let merge = conflict.merge, let seq = try work.log.number(of: merge) else {
      throw ChangesetError(.misuse, "a question is answered with “resolve”")
    }
    let decided = try work.log.commit(try work.log.row(seq)).conflicts
    guard decided.indices.contains(conflict.number) else {
      throw ChangesetError(.misuse, "merge \(merge.short) has no such conflict")
    }
    return (merge, decided[conflict.number])
  }

  private func changes(
    _ lost: MergeConflict,
    of merge: ChangesetID,
    key: [FieldValue]?
  ) throws(ChangesetError) -> StateDelta {
    guard let table = work.tables.table(lost.table) else {
      throw ChangesetError(.needsUpgrade, "table \(lost.table.quotedName) is not in the history")
    }
    let target =
      try key.map { (key) throws(ChangesetError) in RowKey(try key.columns()) } ?? lost.key
    let rows = try TableRows(connection: work.connection, table: table)
    let present = try rows.row(target)
    if lost.isSetAside, present != nil {
      throw ChangesetError(
        .misuse,
        "there is a row of this key in table \(table.name.quotedName) again; give another key"
      )
    }
    if !lost.isSetAside, target != lost.key, try rows.row(lost.key) != nil {
      throw ChangesetError(
        .misuse,
        "the row is in table \(table.name.quotedName); only one that is not can come back under another key"
      )
    }
    if !lost.isSetAside, present == nil {
      return try restored(lost: lost, of: merge, to: target, in: table)
    }
    let cells = lost.latestLost.compactMap { cell -> CellDelta? in
      let old = present?.cell(cell.column)?.new ?? .null
      return old == cell.value
        ? nil : CellDelta(cell.column, old: old, new: cell.value, time: .zero)
    }
    let row =
      present == nil
      ? RowDelta(.insert, target, cells: cells.filter { $0.new != .null }, time: .zero)
      : RowDelta(updating: target, cells: cells)
    return StateDelta(tables: row.map { [TableDelta(table.name, rows: [$0])] } ?? [])
  }

  /// Puts a row back that a merge has deleted although it was edited, as it was then.
  private func restored(
    lost: MergeConflict,
    of merge: ChangesetID,
    to target: RowKey,
    in table: TrackedTable
  ) throws(ChangesetError) -> StateDelta {
    let graph = HistoryGraph(work)
    var row: [CellValue]?
    if lost.kind == .deletion {
      for parent in try graph.header(of: merge).parents where row == nil {
        row = try graph.row(lost.key, of: lost.table, at: parent)
      }
    }
    guard let row else {
      throw ChangesetError(
        .misuse,
        "the row is not in table \(table.name.quotedName) any more, and what it lost is no row; put it back first"
      )
    }
    let cells = row.map { CellDelta($0.column, old: .null, new: $0.value, time: .zero) }
    let insertion = RowDelta(.insert, target, cells: cells, time: .zero)
    return StateDelta(tables: [TableDelta(table.name, rows: [insertion])])
  }

  // MARK: References

  /// How many rows refer to nobody by a foreign key.
  private func danglingCount(_ link: TableReference) throws(ChangesetError) -> Int64 {
    let isSet = link.key.columns.map { "c.\($0.quotedName) IS NOT NULL" }
    return try work.connection.integer(
      """
      SELECT count(*) FROM main.\(link.child.name.quotedName) c
      WHERE \(isSet.joined(separator: " AND ")) AND NOT EXISTS(
        SELECT 1 FROM main.\(link.parent.name.quotedName) p
        WHERE \(link.match(parent: "p", child: "c")))
      """
    ) ?? 0
  }

  private func dangling(link: TableReference, of table: String) -> ChangesetError {
    let (child, parent) = (link.child.name.quotedName, link.parent.name.quotedName)
    return ChangesetError(
      .misuse,
      link.child.name.isSameName(as: table)
        ? "what was lost refers to a row that is not in table \(parent); put that one back first"
        : "rows of table \(child) refer to what the row of table \(parent) holds now; change them first"
    )
  }
}
