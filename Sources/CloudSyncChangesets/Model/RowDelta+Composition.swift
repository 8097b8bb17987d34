import CloudSyncSQLiteSupport

extension RowDelta {
  /// Both changes of one row, one after the other, as one; nil if they cancel out.
  ///
  /// - Parameter next: What comes after this change.
  /// - Returns: The one change.
  /// - Throws: That the next one cannot follow this one.
  package func followed(by next: RowDelta) throws(ByteFault) -> RowDelta? {
    switch (kind, next.kind) {
    case (.insert, .update):
      // A column that was set to NULL since is not as old as the row.
      let cells = cells.joined(with: next.cells)
        .map { CellDelta($0.column, old: .null, new: $0.new, time: $0.time) }
      return RowDelta(inserting: key, cells: cells, time: time)
    case (.insert, .delete): return nil
    case (.update, .update):
      return RowDelta(updating: key, cells: cells.followed(by: next.cells))
    case (.update, .delete):
      let cells = cells.joined(with: next.cells)
        .map { CellDelta($0.column, old: $0.old, new: .null, time: next.time) }
        .filter { $0.old != .null }
      return RowDelta(.delete, key, cells: cells, time: next.time)
    case (.delete, .insert):
      // What the new row does not hold became NULL when it was inserted.
      let cleared = cells.map { CellDelta($0.column, old: $0.old, new: .null, time: next.time) }
      return RowDelta(updating: key, cells: cleared.joined(with: next.cells).filter(\.isChange))
    case (.insert, .insert), (.update, .insert), (.delete, .update), (.delete, .delete):
      throw ByteFault("two changes of one row do not follow each other")
    }
  }
}

extension CellDelta {
  package var isChange: Bool { old != new }
}

extension [CellDelta] {
  /// Both lists of updates as one: changes that cancel out are none, and what has become newer alone stays.
  fileprivate func followed(by next: [CellDelta]) -> [CellDelta] {
    let changed = Set((self + next).filter(\.isChange).map(\.column))
    let (mine, theirs) = (Set(map(\.column)), Set(next.map(\.column)))
    return joined(with: next)
      .filter { cell in
        cell.isChange || !changed.contains(cell.column)
          || !(mine.contains(cell.column) && theirs.contains(cell.column))
      }
  }

  /// Both lists as one: the old values of the first, the new ones and times of the second.
  ///
  /// Both are in the order of their columns' names, and so is the result.
  fileprivate func joined(with next: [CellDelta]) -> [CellDelta] {
    var result: [CellDelta] = []
    result.reserveCapacity(count + next.count)
    var (mine, other) = (0, 0)
    while mine < count, other < next.count {
      if self[mine].column.hasSameBytes(as: next[other].column) {
        var cell = next[other]
        cell.old = self[mine].old
        result.append(cell)
        (mine, other) = (mine + 1, other + 1)
      } else if self[mine].column.precedesByBytes(next[other].column) {
        result.append(self[mine])
        mine += 1
      } else {
        result.append(next[other])
        other += 1
      }
    }
    result += self[mine...]
    result += next[other...]
    return result
  }
}
