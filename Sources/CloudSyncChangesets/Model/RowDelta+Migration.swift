import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension RowDelta {
  /// What a migration has made of a row, as new as the edits that it was made of; without any it is older than every edit.
  ///
  /// A value that it has moved was made of the column where it was, another one of what was in its column, and what it has
  /// put into a column that it adds may be made of anything in the row.
  ///
  /// - Parameters:
  ///   - former: What became of the row before.
  ///   - columns: Those that the migration adds.
  /// - Returns: The same change; a row that comes or goes stays as it is.
  func migrated(after former: RowDelta?, adding columns: [String]) -> RowDelta {
    guard kind == .update else { return self }
    let cells = cells.map { cell in
      let sources = self.cells.filter {
        cell.new != .null && $0.new == .null && $0.old == cell.new
      }
      var cell = cell
      cell.time =
        if !sources.isEmpty {
          sources.compactMap { former?.edited($0.column) }.max() ?? .zero
        } else if columns.contains(where: { $0.hasSameBytes(as: cell.column) }) {
          former?.edited(without: columns) ?? .zero
        } else {
          former?.edited(cell.column) ?? .zero
        }
      return cell
    }
    return RowDelta(updating: key, cells: cells) ?? self
  }

  /// When a column was edited last: zero if it has what it had.
  private func edited(_ column: String) -> HybridTime {
    guard let cell = cell(column) else { return kind == .insert ? time : .zero }
    return kind == .insert || cell.isChange ? cell.time : .zero
  }

  /// When anything was edited last but for some columns.
  private func edited(without columns: [String]) -> HybridTime {
    let cells = cells.filter { cell in
      !columns.contains { $0.hasSameBytes(as: cell.column) }
    }
    let latest = cells.map { edited($0.column) }.max() ?? .zero
    return kind == .insert ? max(time, latest) : latest
  }

  /// Whether somebody has edited the row: not if values have become newer alone, or a migration has made them.
  var isEdit: Bool {
    kind != .update || cells.contains { $0.isChange && $0.time > .zero }
  }
}
