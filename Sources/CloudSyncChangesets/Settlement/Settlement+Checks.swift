import CloudSyncSQLite

/// Rows that break a rule of their table's by themselves: CHECK, NOT NULL, the types of a strict table.
extension Settlement {
  /// Settles rows of cells from both sides: each is as the newer side has it, else as the other, else set aside.
  func settleChecks() throws(ChangesetError) {
    for id in waiting.keys.sorted() {
      guard let row = waiting[id], try holds(id: id, row) == false else { continue }
      // What one side has as it is its own tables take.
      let isShared = plan.sharedRows[id.table]?.contains(id.key) == true
      if !isShared || versions(of: id).contains(where: { $0.values == row.values }) {
        park(id, row)
      } else {
        try settleCheck(id: id, row)
      }
    }
  }

  private func holds(id: RowID, _ row: SettledRow) throws(ChangesetError) -> Bool {
    let table = try table(id.table)
    switch try table.insert(id.key, row) {
    case nil:
      try table.delete(id.key)
      return true
    // What is in the way is another matter; that it is says that the row itself holds.
    case .unique: return true
    case .check: return false
    }
  }

  private func settleCheck(id: RowID, _ row: SettledRow) throws(ChangesetError) {
    for version in versions(of: id) where try holds(id: id, version) {
      let columns = Set(row.values.keys).union(version.values.keys).sortedByBytes()
        .filter { row[$0] != version[$0] }
      note(
        MergeConflict(
          .check,
          table: id.table,
          key: id.key,
          kept: columns.map { .init($0, version[$0], time: version.times[$0] ?? .zero) },
          lost: columns.map { .init($0, row[$0], time: row.times[$0] ?? time(of: id, $0)) }
        )
      )
      waiting[id] = version
      return
    }
    setAside(id, row, because: .check)
  }

  /// The row as each side has it, that of the newer side first.
  private func versions(of id: RowID) -> [SettledRow] {
    let mine = plan.firstNet.table(id.table)?.row(id.key)
    let other = plan.secondNet.table(id.table)?.row(id.key)
    let first = before[id] ?? nil
    var versions: [(row: SettledRow, time: HybridTime, isFirst: Bool)] = []
    if let first { versions.append((first, mine?.time ?? .zero, true)) }
    let base = mine.map { (first ?? SettledRow()).takenBack($0) } ?? first
    if let other, other.kind != .delete {
      versions.append(((base ?? SettledRow()).changed(by: other), other.time, false))
    }
    return
      versions.sorted {
        // Of two at one time that of the parent with the smaller identifier.
        $0.time != $1.time ? $0.time > $1.time : $0.isFirst == (plan.parents[0] == plan.ours)
      }
      .map { version in
        var row = version.row
        // Whatever is not as it was at the first parent is the merge's to write.
        for column in Set(row.values.keys).union(waiting[id]?.values.keys.map { $0 } ?? []) {
          let cell = (version.isFirst ? mine : other)?.cell(column)
          row.set(column, row[column], at: cell?.time ?? time(of: id, column))
        }
        return row
      }
  }
}
