import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Finds what numbers that are added up began with, in rows that both sides have inserted.
///
/// Two replicas may bring one deleted row back, each for itself, or insert the same row: what it began with on both sides is
/// one number, and only what was added since is added up.
struct CounterStarts {
  let graph: any CommitGraph
  let names: PresentNames
  /// The commits that rows may come from which both sides started from, and those of each side.
  let bases: [ChangesetID]
  let ours: [ChangesetID]
  let theirs: [ChangesetID]

  /// What the columns that are added up began with on both sides, where that is the same.
  func starts(of row: RowMerge) throws(ChangesetError) -> [String: SQLiteValue] {
    guard row.ours.kind == .insert, row.theirs.kind == .insert, !row.rules.sharesKeys else {
      return [:]
    }
    var starts: [String: SQLiteValue] = [:]
    for cell in row.ours.cells where row.rules.merging.policy(for: cell.column).isSum {
      guard let mine = try start(of: cell.column, in: row.ours, of: row.table, at: ours),
        mine == (try start(of: cell.column, in: row.theirs, of: row.table, at: theirs))
      else { continue }
      starts[cell.column] = mine
    }
    return starts
  }

  private func start(
    of column: String,
    in row: RowDelta,
    of table: String,
    at commits: [ChangesetID]
  ) throws(ChangesetError) -> SQLiteValue? {
    guard let cell = row.cell(column) else { return nil }
    // Nobody has written it since.
    if cell.time == row.time { return cell.new }
    for id in commits {
      guard
        let beginning = try graph.beginning(
          of: row.key,
          in: table,
          at: id,
          beside: bases,
          as: names
        )
      else { continue }
      return beginning.first { $0.column.hasSameBytes(as: column) }?.value
    }
    return nil
  }
}
