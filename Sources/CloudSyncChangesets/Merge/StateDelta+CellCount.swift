import CloudSyncSQLiteSupport

extension StateDelta {
  /// How many cells differ; a row that came or went counts as one more.
  ///
  /// What rows that come or go hold as a constant default does not count: whoever does not know a column yet that
  /// others have added has no cell there.
  func cellCount(without constants: [Fills]) -> Int {
    tables.reduce(0) { sum, table in
      table.rows.reduce(sum) { sum, row in
        if row.kind == .update { return sum + row.cells.count(where: \.isChange) }
        let cells = row.cells.filter { cell in
          let value = row.kind == .insert ? cell.new : cell.old
          return cell.isChange
            && !constants.contains { $0.value(of: cell.column, in: table.name) == value }
        }
        return sum + cells.count + 1
      }
    }
  }
}
