import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Children of rows that lost a key to another row: they go with their own parent, and are not the winner's.
extension Settlement {
  /// Which parent of the merge wrote something; nil in its place if both did.
  private enum Side {
    case first, second, base
  }

  /// Has the children of rows go with these whose key another row of the other side got: an integer that both
  /// gave.
  func settleSharedKeys() throws(ChangesetError) {
    for conflict in plan.conflicts where conflict.kind == .insertion && conflict.isSetAside {
      var row = SettledRow()
      for cell in conflict.lost { row.set(cell.column, cell.value, at: cell.time) }
      let first = plan.firstNet.table(conflict.table)?.row(conflict.key)
      let isFirst = first.map { SettledRow($0).values == row.values } ?? false
      for (number, link) in links.enumerated()
      where link.parent.name.isSameName(as: conflict.table) {
        let old = try referencedRows(of: link).values(of: conflict.key, row)
        try move(
          childrenOf: old,
          by: number,
          of: isFirst ? .first : .second,
          because: .setAside(row.times.values.max() ?? .zero)
        )
      }
    }
  }

  /// Has the children of rows go with these that a unique key has taken values from.
  func settleYielded() throws(ChangesetError) {
    let rows = yielded
    yielded = [:]
    for id in rows.keys.sorted() {
      guard let former = rows[id] else { continue }
      for (number, link) in links.enumerated() where link.parent.name.isSameName(as: id.table) {
        let referenced = try referencedRows(of: link)
        let old = referenced.values(of: id.key, former)
        let now = try row(id).map { referenced.values(of: id.key, $0) }
        if let now, referenced.isSame(now, old) { continue }
        guard let side = side(of: id, link.key.referencedColumns) else { continue }
        try move(
          childrenOf: old,
          by: number,
          of: side,
          because: now.map { .moved($0) } ?? .setAside(former.times.values.max() ?? .zero)
        )
      }
    }
  }

  /// Has the children that a side has given some values follow the row that had these on that side.
  private func move(
    childrenOf values: [SQLiteValue],
    by number: Int,
    of side: Side,
    because loss: ParentLoss
  ) throws(ChangesetError) {
    if values.contains(.null) { return }
    let link = links[number]
    let child = try table(link.child.name)
    for key in try referencedRows(of: link).children(of: values, by: link, in: child) {
      let id = RowID(table: child.tracked.name, key: key)
      guard self.side(of: id, link.key.columns) == side else { continue }
      switch try answer(of: id, link: number, to: loss) {
      case .set(let values): try set(link, to: values, of: id)
      case .setAside: try setAside(id)
      case .delete, .restore: continue
      }
    }
  }

  /// Which side wrote columns of a row.
  private func side(of id: RowID, _ columns: [String]) -> Side? {
    let wrote = [plan.firstNet, plan.secondNet]
      .map { net in
        guard let row = net.table(id.table)?.row(id.key) else { return false }
        return row.kind == .insert
          || row.cells.contains { cell in
            cell.isChange && columns.contains { $0.isSameName(as: cell.column) }
          }
      }
    switch (wrote[0], wrote[1]) {
    case (true, true): return nil
    case (true, false): return .first
    case (false, true): return .second
    case (false, false): return .base
    }
  }
}
