import CloudSyncCore
import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// Rows that the cloud has deleted and others refer to: they go when everything that has happened there is known.
///
/// The deletion of those others, or their new references, may be on a later page. At the end of the fetch all such
/// rows are looked at together, so that neither the order of the changes nor the size of the pages matters.
struct DeferredDeletions: TransactionPart {
  let transaction: SyncTransaction

  /// Settles the deletions that were put off, at the end of a fetch, and the rows that wait for deleted parents.
  func settle() throws(SQLiteError) {
    var settlement = DeletionSettlement(transaction: transaction)
    var postponed: Set<RowKey> = []
    while true {
      try WaitingRows(transaction: transaction).settle()
      let roots = try roots().filter { !postponed.contains($0) }
      if roots.isEmpty { return }
      let plan = try DeletionPlan(roots, in: transaction, stuck: settlement.stuck)
      postponed.formUnion(plan.postponed)
      let hadStuck = settlement.stuck
      try settlement.carryOut(plan)
      // What was planned did not come about: others have to stay.
      if settlement.stuck == hadStuck { postponed.formUnion(roots) }
    }
  }

  /// The rows whose deletion was put off and that are still there.
  private func roots() throws(SQLiteError) -> [RowKey] {
    let keys = transaction.keys(
      stored: try stored.pending.deferredDeletions(),
      orLoaded: { $0.state.placement == .deletionDeferred }
    )
    var roots: [RowKey] = []
    for key in keys {
      guard var row = try transaction.row(key), row.state.placement == .deletionDeferred else {
        continue
      }
      if row.values == nil { row.place(.inTable, rules: transaction.tables[row.place].rules) }
      transaction.keep(row)
      if row.values != nil { roots.append(key) }
    }
    return roots
  }
}
