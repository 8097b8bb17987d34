import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Asks the app's handler about the contested rows of one merge.
final class MergeQuestions {
  private let graph: any CommitGraph
  private let handler: RowHandler
  private let ours: ChangesetID
  private let theirs: ChangesetID
  /// The rows that there is no answer to yet.
  private(set) var open: [ContestedRow] = []

  init(
    _ graph: any CommitGraph,
    handler: @escaping RowHandler,
    ours: ChangesetID,
    theirs: ChangesetID
  ) {
    self.graph = graph
    self.handler = handler
    self.ours = ours
    self.theirs = theirs
  }

  /// What becomes of a row; nil if there is no answer yet.
  func outcome(
    of row: RowMerge,
    automatic: RowMerge.Outcome
  ) throws(ChangesetError) -> RowMerge.Outcome? {
    let contested = try contested(row: row, automatic)
    let answer = try handler(contested)
    if case .later = answer {
      open.append(contested)
      return nil
    }
    return row.outcome(answer, automatic: automatic, base: contested.base)
  }

  private func contested(
    row: RowMerge,
    _ automatic: RowMerge.Outcome
  ) throws(ChangesetError) -> ContestedRow {
    let columns = (automatic.conflict?.kept ?? []) + (automatic.conflict?.lost ?? [])
    let mine = try graph.row(row.ours.key, of: row.table, at: ours)
    let other = try graph.row(row.ours.key, of: row.table, at: theirs)
    return ContestedRow(
      table: row.table,
      key: row.ours.key,
      kind: automatic.conflict?.kind ?? .cell,
      columns: Set(columns.map(\.column)).sortedByBytes(),
      base: row.ours.takenBack(from: mine),
      ours: mine,
      theirs: other,
      oursID: ours,
      theirsID: theirs
    )
  }
}

extension RowDelta {
  /// The row before this change, from the row after it.
  fileprivate func takenBack(from row: [CellValue]?) -> [CellValue]? {
    if kind == .insert { return nil }
    var values = row ?? []
    for cell in cells {
      values.removeAll { $0.column.hasSameBytes(as: cell.column) }
      if cell.old != .null { values.append(CellValue(cell.column, cell.old)) }
    }
    return values.sorted { $0.column.precedesByBytes($1.column) }
  }
}
