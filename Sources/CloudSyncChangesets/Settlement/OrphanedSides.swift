import CloudSyncSQLite
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Sides of a merge that have lost a row's parent themselves and have kept the row, as where foreign keys are off: whoever
/// has made both so wanted it, and the merge has changed nothing of that.
struct OrphanedSides {
  let link: TableReference
  let referenced: ReferencedRows
  let settlement: Settlement

  private var plan: MergePlan { settlement.plan }

  /// Whether a side has a row refer to a parent that the same side has lost.
  ///
  /// - Parameters:
  ///   - parent: The parent.
  ///   - id: The row.
  ///   - values: What it refers to in the merge.
  /// - Returns: Whether there is such a side.
  /// - Throws: SQLite's reason.
  func hadLost(
    parent: RowID,
    of id: RowID,
    referringTo values: [SQLiteValue]
  ) throws(ChangesetError) -> Bool {
    for (net, other) in [(plan.firstNet, plan.secondNet), (plan.secondNet, plan.firstNet)] {
      guard let change = net.table(parent.table)?.row(parent.key),
        try hasLost(values, by: change, to: parent),
        let own = reference(of: id, as: values, in: net, beside: other)
      else { continue }
      if referenced.isSame(own, values) { return true }
    }
    return false
  }

  /// Whether a change has taken from a row what it was referred to by.
  private func hasLost(
    _ values: [SQLiteValue],
    by change: RowDelta,
    to parent: RowID
  ) throws(ChangesetError) -> Bool {
    if change.kind == .insert { return false }
    let present = change.kind == .delete ? nil : try settlement.row(parent)
    let old = referenced.values(of: change.key) { change.cell($0)?.old ?? present?[$0] ?? .null }
    let new = referenced.values(of: change.key) { change.cell($0)?.new ?? present?[$0] ?? .null }
    return referenced.isSame(old, values)
      && (change.kind == .delete || !referenced.isSame(new, values))
  }

  /// What a row referred to on a side; nil if the side had no such row.
  ///
  /// - Parameters:
  ///   - id: The row.
  ///   - values: What it refers to in the merge.
  ///   - net: What the side has changed.
  ///   - other: What the other side has changed.
  /// - Returns: The values of the foreign key's columns.
  private func reference(
    of id: RowID,
    as values: [SQLiteValue],
    in net: StateDelta,
    beside other: StateDelta
  ) -> [SQLiteValue]? {
    let (mine, theirs) = (net.table(id.table)?.row(id.key), other.table(id.table)?.row(id.key))
    if mine?.kind == .delete || mine == nil && theirs?.kind == .insert { return nil }
    return zip(link.key.columns, values)
      .map { name, value in
        let own = mine?.cells.first { $0.column.isSameName(as: name) }
        let others = theirs?.cells.first { $0.column.isSameName(as: name) }
        // A side that has not set a column has it as both had it before.
        return own?.new ?? others?.old ?? value
      }
  }
}
