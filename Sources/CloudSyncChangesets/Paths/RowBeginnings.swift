import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Finds what rows were inserted with.
struct RowBeginnings {
  private enum Insertion {
    case found(commit: LogRow, cells: [CellDelta])
    /// There is no row.
    case none
    /// It was inserted by a commit that all have in common, or that has no changes any more.
    case unknown
  }

  let work: HistoryWork
  /// The commits that all have in common, with those that they descend from.
  let bases: [Int64]
  let names: PresentNames

  /// What a row that is there at a commit was inserted with; nil if that is not to be known.
  func beginning(
    of key: RowKey,
    in table: String,
    at seq: Int64
  ) throws(ChangesetError) -> [CellValue]? {
    let upgrade = try SchemaUpgrade(work.connection, to: work.tables.description, names: names)
    var found: [CellValue]?
    var next: Int64? = seq
    while let seq = next {
      next = nil
      switch try insertion(of: key, in: table, at: seq, upgrade) {
      case .found(let commit, let cells):
        found = cells.filter { $0.new != .null }.map { CellValue($0.column, $0.new) }
        // What a merge has of its second side was inserted there.
        if commit.kind == .merge { next = commit.merged }
      case .none: break
      case .unknown: return nil
      }
    }
    return found
  }

  /// The commit on the way of first parents that has inserted a row which is there.
  private func insertion(
    of key: RowKey,
    in table: String,
    at seq: Int64,
    _ upgrade: SchemaUpgrade
  ) throws(ChangesetError) -> Insertion {
    var next: Int64? = seq
    while let seq = next {
      let row = try work.log.row(seq)
      guard try work.log.body(seq: seq) != nil else { return .unknown }
      let changes = try work.log.commit(row, upgrade: upgrade).changes
      if let change = changes.table(table)?.row(key), change.kind != .update {
        if change.kind == .delete { return .none }
        for base in bases where try work.log.isAncestor(ancestor: seq, of: base) {
          return .unknown
        }
        return .found(commit: row, cells: change.cells)
      }
      next = row.parent
    }
    return .none
  }
}
