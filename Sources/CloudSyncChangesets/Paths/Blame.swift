import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Finds the commits that wrote the columns of a row.
struct Blame {
  /// A change of one row, and the commit that made it.
  private struct Step {
    var commit: LogRow
    /// Nil if the changes were removed.
    var change: RowDelta?
  }

  let work: HistoryWork

  func origins(
    name: String,
    _ key: RowKey,
    at revision: Revision
  ) throws(ChangesetError) -> [CellOrigin] {
    guard let table = work.tables.table(called: name)?.name else {
      throw ChangesetError(.misuse, "there is no table “\(name)” in the history")
    }
    guard let seq = try RevisionSearch(work: work).number(revision: revision) else { return [] }
    let steps = try steps(table: table, key, at: seq)
    guard var cells = try cells(of: steps, table: table, key, at: seq) else { return [] }
    cells.merge(Self.emptied(by: steps)) { present, _ in present }
    var origins: [CellOrigin] = []
    for column in cells.keys.sortedByBytes() {
      guard let value = cells[column] else { continue }
      let commit = try origin(of: column, value, steps: steps, table: table, key: key)
      guard let commit else { continue }
      origins.append(
        CellOrigin(
          column: column,
          value: FieldValue(value),
          changeset: try work.changeset(row: commit)
        )
      )
    }
    return origins
  }

  /// The columns that were made NULL, and not merely never filled.
  private static func emptied(by steps: [Step]) -> [String: SQLiteValue] {
    var latest: [String: SQLiteValue] = [:]
    for step in steps {
      guard let change = step.change, change.kind == .update else { continue }
      for cell in change.cells where latest[cell.column] == nil { latest[cell.column] = cell.new }
    }
    return latest.filter { $0.value == .null }
  }

  /// What a row holds, from its beginning on, or as the tables tell where that was removed.
  private func cells(
    of steps: [Step],
    table: String,
    _ key: RowKey,
    at seq: Int64
  ) throws(ChangesetError) -> [String: SQLiteValue]? {
    if steps.contains(where: { $0.change == nil }) {
      let row = try HistoryGraph(work).row(key, of: table, at: try work.log.id(seq: seq))
      return row.map { Dictionary(uniqueKeysWithValues: $0.map { ($0.column, $0.value) }) }
    }
    var cells: [String: SQLiteValue]?
    for step in steps.reversed() { cells = step.change?.applied(to: cells) ?? nil }
    return cells
  }

  /// The changes of a row on the way to a commit, the latest first, back to where the row began.
  private func steps(
    table: String,
    _ key: RowKey,
    at seq: Int64
  ) throws(ChangesetError) -> [Step] {
    var steps: [Step] = []
    var next: Int64? = seq
    while let seq = next {
      let row = try work.log.row(seq)
      if try work.log.body(seq: seq) == nil {
        // It, or one before it, wrote what none of those after it did.
        steps.append(Step(commit: row, change: nil))
        break
      }
      let changes = try work.log.commit(row).changes
      if let change = changes.table(table)?.row(key)?.withoutNewerValues {
        steps.append(Step(commit: row, change: change))
        if change.kind != .update { break }
      }
      next = row.parent
    }
    return steps
  }

  private func origin(
    of column: String,
    _ value: SQLiteValue,
    steps: [Step],
    table: String,
    key: RowKey
  ) throws(ChangesetError) -> LogRow? {
    let writer = steps.first { $0.change.map { $0.cell(column) != nil } ?? true }
    guard let step = writer else { return nil }
    guard step.commit.kind == .merge, let merged = step.commit.merged else { return step.commit }
    // What a merge has of its second side, that side's commits have written.
    let others = try self.steps(table: table, key, at: merged)
    let latest = others.first { $0.change?.cell(column) != nil }
    guard latest?.change?.cell(column)?.new == value else { return step.commit }
    return try origin(of: column, value, steps: others, table: table, key: key)
  }
}
