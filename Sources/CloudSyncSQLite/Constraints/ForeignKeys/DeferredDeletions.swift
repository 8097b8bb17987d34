import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that the cloud has deleted and others refer to: they go when everything that has happened there is known.
///
/// The deletion of those others, or their new references, may be on a later page. At the end of the fetch all such
/// rows are looked at together, so that neither the order of the changes nor the size of the pages matters.
enum DeferredDeletions {
  /// Whether rows refer to a row that is in its table, or wait for it.
  static func isReferredTo(
    _ row: LoadedRow,
    _ transaction: SyncTransaction
  ) throws(SQLiteError) -> Bool {
    let tables = transaction.tables
    let links = tables.links(to: row.place)
    for link in links where tables.consequence(of: link) != nil {
      if try KeyChangePropagation.isKeyTaken(from: row, by: link, transaction) { continue }
      if try transaction.foreignKey(link).isReferredTo(row.key) { return true }
    }
    if links.isEmpty { return false }
    if transaction.awaitedParents.contains(row.key.name) { return true }
    let waiting = try PendingRows(connection: transaction.connection).waiting(for: row.key.name)
    for key in waiting
    where try transaction.row(key)?.state.placement == .awaitsParent(row.key.name) {
      return true
    }
    return false
  }

  /// Settles the deletions that were put off, at the end of a fetch, and the rows that wait for deleted parents.
  static func settle(_ transaction: inout SyncTransaction) throws(SQLiteError) {
    var settlement = Settlement()
    var postponed: Set<RowKey> = []
    while true {
      try WaitingRows.settle(&transaction)
      let roots = try roots(&transaction).filter { !postponed.contains($0) }
      if roots.isEmpty { return }
      let plan = try DeletionPlan(roots, transaction, stuck: settlement.stuck)
      postponed.formUnion(plan.postponed)
      let hadStuck = settlement.stuck
      try settlement.carryOut(plan, &transaction)
      // What was planned did not come about: others have to stay.
      if settlement.stuck == hadStuck { postponed.formUnion(roots) }
    }
  }

  /// The rows whose deletion was put off and that are still there.
  private static func roots(_ transaction: inout SyncTransaction) throws(SQLiteError) -> [RowKey] {
    let stored = try PendingRows(connection: transaction.connection).deferredDeletions()
    let loaded = transaction.rows.values.filter { $0.state.placement == .deletionDeferred }
      .sorted { $0.precedes($1) }.map(\.rowKey)
    var roots: [RowKey] = []
    for key in stored + loaded.filter({ !stored.contains($0) }) {
      guard var row = try transaction.row(key), row.state.placement == .deletionDeferred else {
        continue
      }
      if row.values == nil { row.place(.inTable, transaction.tables[row.place].rules) }
      transaction.keep(row)
      if row.values != nil { roots.append(key) }
    }
    return roots
  }
}
