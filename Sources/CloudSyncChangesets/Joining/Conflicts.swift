import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// What merges have decided, and what they wait for.
struct Conflicts {
  let work: HistoryWork

  /// Open questions, then rows that are parked here, then decisions that were made on the way to the branch's heads, or
  /// to all, and that nobody has put back, the latest merge first.
  func all(isOfAllBranches: Bool = false) throws(ChangesetError) -> [ChangesetConflict] {
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
    let heads = try work.branchHeads.heads(ofBranch: isOfAllBranches ? nil : branch).map(\.seq)
    let position = try work.heads.position().seq
    let commits = try work.log.ancestors(of: heads + [position].compactMap(\.self))
    // Rows that uncommitted edits keep behind a merge hold what it has lost, and not again.
    let joined =
      try work.uncommitted.hasChanges()
      ? work.log.ancestors(of: [position].compactMap(\.self)) : commits
    let merges = try work.connection.rows(
      """
      SELECT seq FROM changesets_log
      WHERE kind = 2 OR id IN (SELECT id FROM changesets_conflicts WHERE number = -1)
      ORDER BY generation DESC, id
      """
    ) { $0.integer(0) }
    // What was decided on other branches is nothing that the rows here have lost.
    for seq in merges where commits.contains(seq) {
      let row = try work.log.row(seq)
      // The decisions of merges whose changes were removed are gone with them.
      guard try work.log.body(seq: seq) != nil else { continue }
      let decided = try work.log.commit(row).conflicts
      for (number, conflict) in decided.enumerated() {
        if try DecidedEdits(log: work.log).isRestored(merge: row.id, number, within: commits) {
          continue
        }
        if joined.contains(seq), try isBack(conflict: conflict) { continue }
        conflicts.append(ChangesetConflict(conflict, merge: row.id, number: number))
      }
    }
    return conflicts
  }

  /// Whether a row holds what it had lost, whoever has written it.
  private func isBack(conflict: MergeConflict) throws(ChangesetError) -> Bool {
    guard !conflict.lost.isEmpty, let table = work.tables.table(conflict.table),
      let row = try TableRows(connection: work.connection, table: table).row(conflict.key)
    else { return false }
    return conflict.latestLost.allSatisfy { cell in
      (row.cell(cell.column)?.new ?? .null) == cell.value
    }
  }
}

extension MergeConflict {
  /// The values that would come back, by column: where neither side's value was kept, the later one.
  var latestLost: [Cell] {
    var latest: [String: Cell] = [:]
    for cell in lost where latest[cell.column].map({ $0.time < cell.time }) ?? true {
      latest[cell.column] = cell
    }
    return latest.keys.sortedByBytes().compactMap { latest[$0] }
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
