import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// Merges the cells of one row that both sides have changed.
struct CellMerge {
  let rules: TableMergePolicy
  /// Whether the row was there before.
  let hasBase: Bool
  /// What columns began with on both sides, where the row was not there before.
  var starts: [String: SQLiteValue] = [:]
  /// What the cells become, in the order in which they were added.
  private(set) var cells: [CellDelta] = []
  private var kept: [MergeConflict.Cell] = []
  private var lost: [MergeConflict.Cell] = []

  init(rules: TableMergePolicy, hasBase: Bool) {
    self.rules = rules
    self.hasBase = hasBase
  }

  /// Merges one column; nil for a side that has not changed it.
  mutating func add(_ ours: CellDelta?, _ theirs: CellDelta?) {
    guard let ours, let theirs else {
      if let cell = ours ?? theirs { cells.append(cell) }
      return
    }
    if hasBase, !ours.isChange || !theirs.isChange {
      // What has become newer alone gives way to a change.
      let isOurs = ours.isChange == theirs.isChange ? ours.time >= theirs.time : ours.isChange
      cells.append(isOurs ? ours : theirs)
      return
    }
    let policy = rules.policy(for: ours.column)
    let start = hasBase ? ours.old : starts[ours.column]
    // Two additions of the same amount are two; a number that two rows began with is one.
    if ours.new == theirs.new, !policy.isSum || start == nil || start == ours.new {
      var cell = ours
      cell.time = max(ours.time, theirs.time)
      cells.append(cell)
      return
    }
    let conflict = ColumnConflict(
      column: ours.column,
      ancestor: start.map { FieldValue($0) },
      local: FieldValue(ours.new),
      localTime: ours.time,
      server: FieldValue(theirs.new),
      serverTime: theirs.time
    )
    let value = policy.merge(conflict).column ?? .null
    cells.append(Self.cell(value: value, of: ours, theirs))
    if policy.keepsBoth(of: conflict) { return }
    note(ours: ours, theirs, value)
  }

  /// What a handler has said of a column.
  mutating func set(_ value: SQLiteValue, of ours: CellDelta, _ theirs: CellDelta) {
    cells.append(Self.cell(value: value, of: ours, theirs))
    note(ours: ours, theirs, value)
  }

  private static func cell(
    value: SQLiteValue,
    of ours: CellDelta,
    _ theirs: CellDelta
  ) -> CellDelta {
    var cell = ours
    cell.new = value
    cell.time =
      value == ours.new
      ? ours.time : value == theirs.new ? theirs.time : max(ours.time, theirs.time)
    return cell
  }

  private mutating func note(ours: CellDelta, _ theirs: CellDelta, _ value: SQLiteValue) {
    // What nobody has written since it came back with its row is no loss.
    let lost = [ours, theirs].filter { $0.new != value && $0.time > .zero }
    if lost.isEmpty { return }
    let result = Self.cell(value: value, of: ours, theirs)
    kept.append(MergeConflict.Cell(result.column, value, time: result.time))
    self.lost += lost.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) }
  }

  /// What was lost; nil if nothing was.
  func conflict(_ kind: MergeConflict.Kind, table: String, key: RowKey) -> MergeConflict? {
    lost.isEmpty ? nil : MergeConflict(kind, table: table, key: key, kept: kept, lost: lost)
  }
}
