import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What merges have decided, and what they wait for.
struct Conflicts {
  let work: HistoryWork

  /// Open questions, then rows that are parked here, then decisions that nobody has taken back, the latest merge
  /// first.
  func all() throws(ChangesetError) -> [ChangesetConflict] {
    let merging = try Merging(work)
    let questions = Questions(work: work, graph: merging.graph)
    var conflicts: [ChangesetConflict] = []
    let branch = try work.heads.position().branch
    for (number, row) in try merging.questions(branch: branch).enumerated() {
      conflicts.append(ChangesetConflict(try questions.conflict(row: row), number: number))
    }
    for parked in try work.parked.all() {
      conflicts.append(ChangesetConflict(parked, number: conflicts.count))
    }
    let merges = try work.connection.rows(
      """
      SELECT seq FROM changesets_log
      WHERE kind = 2 OR id IN (SELECT id FROM changesets_conflicts WHERE number = -1)
      ORDER BY seq DESC
      """
    ) { $0.integer(0) }
    for seq in merges {
      let row = try work.log.row(seq)
      // The decisions of merges whose changes were removed are gone with them.
      guard try work.log.body(seq: seq) != nil else { continue }
      let decided = try work.log.commit(row).conflicts
      for (number, conflict) in decided.enumerated() {
        if try isRestored(id: row.id, number) { continue }
        conflicts.append(ChangesetConflict(conflict, merge: row.id, number: number))
      }
    }
    return conflicts
  }

  private func isRestored(id: ChangesetID, _ number: Int) throws(ChangesetError) -> Bool {
    try work.connection.integer(
      "SELECT state FROM changesets_conflicts WHERE id = ?1 AND number = ?2",
      .blob(id.bytes),
      .integer(Int64(number))
    ) != nil
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

  /// Puts what a merge lost back into the table: the row that was set aside, or the values of its columns.
  func restore(
    conflict: ChangesetConflict,
    key: [FieldValue]?
  ) throws(ChangesetError) -> StateDelta {
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
    let lost = decided[conflict.number]
    guard let table = work.tables.table(lost.table) else {
      throw ChangesetError(.needsUpgrade, "table \(lost.table.quotedName) is not in the history")
    }
    try work.connection.run(
      "INSERT INTO changesets_conflicts VALUES(?1, ?2, 1)",
      .blob(merge.bytes),
      .integer(Int64(conflict.number))
    )
    let target =
      try key.map { (key) throws(ChangesetError) in RowKey(try key.columns()) } ?? lost.key
    let present = try TableRows(connection: work.connection, table: table).row(target)
    if lost.isSetAside, present != nil {
      throw ChangesetError(
        .misuse,
        "there is a row of this key in table \(table.name.quotedName) again; give another key"
      )
    }
    if !lost.isSetAside, present == nil {
      return try restored(lost: lost, of: merge, to: target, in: table)
    }
    // Where neither side's value was kept, the later one comes back.
    var latest: [String: MergeConflict.Cell] = [:]
    for cell in lost.lost where latest[cell.column].map({ $0.time < cell.time }) ?? true {
      latest[cell.column] = cell
    }
    let cells = latest.keys.sortedByBytes().compactMap { latest[$0] }
      .compactMap { cell -> CellDelta? in
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
}

extension ChangesetConflict {
  init(_ parked: ParkedRows.Row, number: Int) {
    self.init(
      merge: nil,
      number: number,
      table: parked.table,
      key: parked.row.key.values.map { FieldValue($0) },
      kind: .parked,
      columns: parked.row.cells.map(\.column),
      isSetAside: true,
      kept: [],
      lost: parked.row.cells.map {
        Cell(column: $0.column, value: FieldValue($0.new), time: $0.time)
      },
      question: nil
    )
  }

  init(_ question: RowConflict, number: Int) {
    self.init(
      merge: nil,
      number: number,
      table: question.table,
      key: question.key,
      kind: .question,
      columns: question.columns,
      isSetAside: false,
      kept: [],
      lost: [],
      question: question
    )
  }

  init(_ conflict: MergeConflict, merge: ChangesetID, number: Int) {
    let kind: Kind =
      switch conflict.kind {
      case .cell: .cell
      case .deletion: .deletion
      case .insertion: .insertion
      case .unique: .unique
      case .foreignKey: .foreignKey
      case .check: .check
      }
    let cells = { (cells: [MergeConflict.Cell]) in
      cells.map { Cell(column: $0.column, value: FieldValue($0.value), time: $0.time) }
    }
    self.init(
      merge: merge,
      number: number,
      table: conflict.table,
      key: conflict.key.values.map { FieldValue($0) },
      kind: kind,
      columns: Set((conflict.kept + conflict.lost).map(\.column)).sortedByBytes(),
      isSetAside: conflict.isSetAside,
      kept: cells(conflict.kept),
      lost: cells(conflict.lost),
      question: nil
    )
  }
}
