import CloudSyncSQLite
import CloudSyncSQLiteSupport

/// What a handler of the app says of a row, in place of its table's policies.
extension RowMerge {
  /// What an answer makes of the row.
  ///
  /// - Parameters:
  ///   - answer: What the handler has said; not ``RowAnswer/later``.
  ///   - automatic: What the policies make of the row.
  ///   - base: The row that both sides started from; nil if there was none.
  /// - Returns: What becomes of the row.
  func outcome(_ answer: RowAnswer, automatic: Outcome, base: [CellValue]?) -> Outcome {
    switch answer {
    case .automatic, .later: automatic
    case .delete: deleted(automatic: automatic, base: base)
    case .values(let values): replaced(automatic, by: values, base: base)
    }
  }

  /// A decision is as new as the edits that it is about; when a row was deleted counts for nothing.
  private var latest: HybridTime {
    [ours, theirs].filter { $0.kind != .delete }.map(\.time).max() ?? .zero
  }

  private func deleted(automatic: Outcome, base: [CellValue]?) -> Outcome {
    var conflict = MergeConflict(
      automatic.conflict?.kind ?? .cell,
      table: table,
      key: ours.key,
      kept: [],
      lost: []
    )
    let written = [ours, theirs].filter { $0.kind != .delete }
      .flatMap { $0.cells.filter(\.isChange) }
    conflict.lost = written.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) }
      .sorted { $0.column.precedesByBytes($1.column) }
    guard let base else { return Outcome(change: nil, conflict: conflict) }
    let cells = base.map { CellDelta($0.column, old: $0.value, new: .null, time: latest) }
    let change = RowDelta(.delete, ours.key, cells: cells, time: latest)
    return Outcome(change: change, conflict: conflict)
  }

  private func replaced(
    _ automatic: Outcome,
    by values: [CellValue],
    base: [CellValue]?
  ) -> Outcome {
    // A row with values is there.
    let edit = automatic.change?.kind == .delete ? nil : automatic.change
    var cells = edit?.cells ?? [ours, theirs].first { $0.kind == .update }?.cells ?? []
    for value in values {
      let cell = replaced(value, old: base?.value(of: value.column) ?? .null)
      cells.removeAll { $0.column.hasSameBytes(as: cell.column) }
      cells.append(cell)
    }
    cells.sort { $0.column.precedesByBytes($1.column) }
    let change =
      base == nil
      ? RowDelta(inserting: ours.key, cells: cells, time: latest)
      : RowDelta(updating: ours.key, cells: cells)
    return Outcome(change: change, conflict: conflict(automatic: automatic, cells: cells))
  }

  private func replaced(_ value: CellValue, old: SQLiteValue) -> CellDelta {
    let given = given(of: value.column)
    let same = given.first { $0.new == value.value }
    return CellDelta(value.column, old: old, new: value.value, time: same?.time ?? latest)
  }

  /// What the sides have written in a column.
  private func given(of column: String) -> [CellDelta] {
    [ours, theirs].filter { $0.kind != .delete }
      .compactMap { side in
        side.cell(column).flatMap { $0.isChange || side.kind == .insert ? $0 : nil }
      }
  }

  /// What is lost of the sides' values now.
  private func conflict(automatic: Outcome, cells: [CellDelta]) -> MergeConflict? {
    guard let kind = automatic.conflict?.kind else { return nil }
    if automatic.conflict?.isSetAside == true { return automatic.conflict }
    var conflict = MergeConflict(kind, table: table, key: ours.key, kept: [], lost: [])
    for cell in cells {
      let given = given(of: cell.column)
      let lost = given.filter { $0.new != cell.new }
      if lost.isEmpty { continue }
      conflict.kept.append(MergeConflict.Cell(cell.column, cell.new, time: cell.time))
      conflict.lost += lost.map { MergeConflict.Cell($0.column, $0.new, time: $0.time) }
    }
    if kind == .deletion, conflict.kept.isEmpty { conflict.kept = automatic.conflict?.kept ?? [] }
    return conflict.kept.isEmpty && conflict.lost.isEmpty ? nil : conflict
  }
}

extension [CellValue] {
  /// The value of a column; NULL if there is none.
  func value(of column: String) -> SQLiteValue {
    first { $0.column.hasSameBytes(as: column) }?.value ?? .null
  }
}
