import CloudSyncSQLite
import CloudSyncSQLiteSupport

extension StateDelta {
  /// What leads back to the state before a commit, with what others had written beside it.
  ///
  /// - Parameters:
  ///   - beside: What they bring to the state before the commit.
  ///   - present: What has become of the commit's state since: where that is another value, it is no matter of the
  ///     commit any more.
  ///   - rules: How rows are merged: what is counted has both sides in it already.
  /// - Returns: What leads to the state as if the commit had never been made, as far as its rows go.
  /// - Throws: That the changes do not follow each other.
  func leadingBack(
    beside: StateDelta,
    present: StateDelta,
    rules: MergeRules
  ) throws(ByteFault) -> StateDelta {
    if beside.isEmpty { return self }
    var tables: [TableDelta] = []
    for table in self.tables {
      guard let others = beside.table(table.name) else {
        tables.append(table)
        continue
      }
      let now = present.table(table.name)
      let rule = rules.table(table.name)
      var rows: [RowDelta] = []
      for row in table.rows {
        guard let other = others.row(row.key) else {
          rows.append(row)
          continue
        }
        let back = try row.leadingBack(beside: other, present: now?.row(row.key)) {
          rule.merging.policy(for: $0).isSum
        }
        if let back { rows.append(back) }
      }
      if !rows.isEmpty || !table.fills.isEmpty {
        tables.append(TableDelta(table.name, fills: table.fills, rows: rows))
      }
    }
    return StateDelta(tables: tables)
  }
}

extension RowDelta {
  fileprivate func leadingBack(
    beside: RowDelta,
    present: RowDelta?,
    isSum: @escaping (String) -> Bool
  ) throws(ByteFault) -> RowDelta? {
    // A row that is not there any more, or is there again, has become what others made it.
    guard present.map({ $0.kind == .update }) ?? true else { return self }
    let isFree = { (column: String) in
      !isSum(column) && present?.cell(column)?.isChange != true
    }
    switch (kind, beside.kind) {
    case (.delete, .insert):
      // Both had made a row of one key, and it is theirs.
      guard let row = try followed(by: beside) else { return nil }
      return RowDelta(updating: key, cells: row.cells.filter { isFree($0.column) })
    case (.insert, .update), (.update, .update):
      let cells = beside.cells.filter { cell in
        cell.isChange && isFree(cell.column) && (kind == .insert || self.cell(cell.column) != nil)
      }
      guard let change = RowDelta(updating: key, cells: cells) else { return self }
      return try followed(by: change)
    default:
      // Whoever takes an edit back wants the row, also if others had deleted it beside the edit.
      return self
    }
  }
}
