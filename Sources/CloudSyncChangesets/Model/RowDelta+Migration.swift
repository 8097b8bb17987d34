import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension RowDelta {
  /// What a migration has made of a row, as new as the edits that it was made of: of the same value in a column that it has
  /// emptied, else of the row; without any it is older than every edit.
  ///
  /// - Parameter former: What became of the row before.
  /// - Returns: The same change; a row that comes or goes stays as it is.
  func migrated(after former: RowDelta?) -> RowDelta {
    guard kind == .update else { return self }
    let row = former?.latest ?? .zero
    let cells = cells.map { cell in
      var cell = cell
      if cell.new == .null {
        cell.time = former?.time(of: cell.column) ?? .zero
      } else {
        let sources = self.cells.filter { $0.new == .null && $0.old == cell.new }
        cell.time = sources.map { former?.time(of: $0.column) ?? .zero }.max() ?? row
      }
      return cell
    }
    return RowDelta(updating: key, cells: cells) ?? self
  }

  /// When anything of it was written last.
  private var latest: HybridTime { max(time, cells.map(\.time).max() ?? .zero) }

  /// When a column was written; nil if it was not.
  private func time(of column: String) -> HybridTime? {
    cell(column)?.time ?? (kind == .insert ? time : nil)
  }

  /// Whether somebody has edited the row: not if values have become newer alone, or a migration has made them.
  var isEdit: Bool {
    kind != .update || cells.contains { $0.isChange && $0.time > .zero }
  }
}
