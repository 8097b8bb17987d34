import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Carries out what follows from deletions: rows come back, let go of their parents, or go too.
///
/// All of it are edits of the engine's own: their times follow from what they replace, so every device makes the
/// same, and whoever has chosen another parent since then is right.
struct DeletionSettlement: TransactionPart {
  let transaction: SyncTransaction
  /// Rows that were to let go of their parents, and that SQLite does not have do so.
  private(set) var stuck: Set<RowKey> = []

  mutating func carryOut(
    _ plan: DeletionPlan
  ) throws(SQLiteError) {
    for key in plan.kept { try restore(rowOf: key) }
    for one in plan.detachments { try detach(one) }
    try transaction.writing.writeRows()
    for one in plan.detachments where !one.isOfTable {
      if let row = try transaction.row(one.key), row.state.placement != .inTable {
        stuck.insert(one.key)
      }
    }
    if plan.detachments.contains(where: { stuck.contains($0.key) }) { return }
    for key in plan.deletions { try markDeleted(rowOf: key) }
    for key in plan.deletions where plan.circles.contains(key) { try release(key) }
    for key in plan.deletions {
      try delete(key, isInCircle: plan.circles.contains(key))
    }
  }

  /// Has a row come back in the cloud, as its table has it.
  private func restore(rowOf key: RowKey) throws(SQLiteError) {
    guard let row = try transaction.row(key), let values = row.values else { return }
    let edits = transaction.tables[row.place].edits(of: values)
    if row.state.row == nil {
      let time = try transaction.nextTime()
      return try transaction.edit(.inserted(edits, at: time), of: row)
    }
    try transaction.edit(.restored(edits), of: row)
  }

  private mutating func detach(
    _ one: DeletionPlan.Detachment
  ) throws(SQLiteError) {
    let columns = one.link.columns
    let nothing = columns.map { _ in SQLiteValue.null }
    if one.isOfTable {
      if one.link.reference.canBeNull {
        return try transaction.setInTable(columns, to: nothing, of: one.key)
      }
      // It cannot refer to nobody, and whom it is to refer to may come only when the row is gone, as where both have
      // one unique value: it is beside its table until then.
      if try transaction.removal.evict(one.key) == nil { stuck.insert(one.key) }
      return
    }
    if let values = one.successor {
      guard one.link.isInKeyOfChild else {
        return try transaction.set(columns, to: values, of: one.key)
      }
      guard let row = try transaction.row(one.key) else { return }
      let hasMoved = try RowUnion(transaction: transaction).move(row, from: columns, to: values)
      if !hasMoved { stuck.insert(one.key) }
      return
    }
    let values = one.usesDefaults ? try transaction.foreignKey(of: one.link).defaults() : nothing
    try transaction.set(columns, to: values, of: one.key)
  }

  /// Has a row of a circle let go of its parents where it can: `RESTRICT` waits for nothing, and what the database does
  /// by itself is captured.
  private func release(_ key: RowKey) throws(SQLiteError) {
    guard transaction.tables.enforcesForeignKeys, let row = try transaction.row(key) else { return }
    for link in transaction.tables.links(from: row.place)
    where link.reference.canBeNull {
      let nothing = link.columns.map { _ in SQLiteValue.null }
      try transaction.setInTable(link.columns, to: nothing, of: key)
    }
  }

  /// Notes that a row is to be gone, before the database takes any along.
  private func markDeleted(
    rowOf key: RowKey
  ) throws(SQLiteError) {
    guard let found = try transaction.row(key), let values = found.values else { return }
    let table = transaction.tables[found.place]
    try transaction.adopted(found.key, in: found.place)
    guard let row = try transaction.row(key) else { return }
    transaction.keep(row)
    if row.isDeleted { return }
    let edit = RowEdit.deleted(table.edits(of: values), at: .zero)
    try transaction.reduce(.edited(edit), of: row.key, in: row.place)
  }

  private func delete(
    _ key: RowKey,
    isInCircle: Bool
  ) throws(SQLiteError) {
    guard var row = try transaction.row(key) else { return }
    if isInCircle {
      let rows = transaction.tables[row.place].rows(on: transaction.connection)
      row.values = try rows.values(of: row.key.values)
    }
    transaction.keep(row)
    _ = try transaction.writing.write(key, isInCircle: isInCircle)
  }
}
