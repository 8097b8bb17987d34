import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Which row of a history's tables it is.
struct RowID: Hashable, Comparable {
  /// The table's name as it is declared.
  var table: String
  var key: RowKey

  static func < (lhs: Self, rhs: Self) -> Bool {
    lhs.table.hasSameBytes(as: rhs.table)
      ? lhs.key < rhs.key : lhs.table.precedesByBytes(rhs.table)
  }
}

/// A whole row, with the times of what a merge has written into it.
struct SettledRow: Equatable {
  /// By column, without NULLs and the columns of the key.
  private(set) var values: [String: SQLiteValue] = [:]
  /// By column, of what the merge writes.
  private(set) var times: [String: HybridTime] = [:]

  init() {}

  init(_ row: RowDelta) {
    for cell in row.cells { values[cell.column] = cell.new == .null ? nil : cell.new }
  }

  subscript(column: String) -> SQLiteValue { values[column] ?? .null }

  mutating func set(_ column: String, _ value: SQLiteValue, at time: HybridTime) {
    values[column] = value == .null ? nil : value
    times[column] = time
  }

  /// The row after a change.
  func changed(by change: RowDelta) -> SettledRow {
    var row = change.kind == .insert ? SettledRow() : self
    for cell in change.cells { row.set(cell.column, cell.new, at: cell.time) }
    return row
  }

  /// The row before a change.
  func takenBack(_ change: RowDelta) -> SettledRow {
    var row = self
    for cell in change.cells { row.set(cell.column, cell.old, at: .zero) }
    return row
  }

  /// All of it, as written into a table.
  var cells: [CellDelta] {
    values.map { CellDelta($0.key, old: .null, new: $0.value, time: .zero) }
  }

  /// All of it, as what was lost or kept.
  func cells(time: (String) -> HybridTime) -> [MergeConflict.Cell] {
    values.keys.sortedByBytes().map { MergeConflict.Cell($0, self[$0], time: time($0)) }
  }
}
