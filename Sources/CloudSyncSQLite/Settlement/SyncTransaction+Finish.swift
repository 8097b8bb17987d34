import CloudSyncCore
import CloudSyncSQLiteSupport

extension SyncTransaction {
  /// Reads the outbox to its end, and settles rows that have gone without enforcement.
  func readOutbox() throws(SQLiteError) {
    try readEdits()
    try settleEdits()
  }

  private func settleEdits() throws(SQLiteError) {
    guard hasUnsettledEdits else { return }
    hasUnsettledEdits = false
    try DepartedRows(transaction: self).settle()
  }

  /// Writes all rows that are to be otherwise, and keeps what is known then.
  func finish() throws(SQLiteError) {
    try MovedRows(transaction: self).carryOut()
    try FollowedReferences(transaction: self).settle()
    try writing.writeRows()
    if hasUnsettledEdits {
      try settleEdits()
      try writing.writeRows()
    }
    if isFetchComplete {
      try DeferredDeletions(transaction: self).settle()
      try writing.writeRows()
      try DisplacedRows(transaction: self).settle()
      try MovedRows(transaction: self).carryOut()
      try writing.writeRows()
    }
    try UniqueKeyResolver(transaction: self).resolve()
    if isFetchComplete { try UniqueKeyResolver(transaction: self).settle() }
    try MovedRows(transaction: self).carryOut()
    try FollowedReferences(transaction: self).settle()
    try writing.writeRows()
    try DanglingRows(transaction: self).evict()
    try AppTriggerGuard(transaction: self).restore()
    try endWriting()
    try RowFiltering(transaction: self).settle()
    let rebuilt = try facts.rebuiltTables()
    // Rows are large, so it is not them that are sorted.
    for one in rows.values.map(\.order).sorted(by: { $0.precedes($1) }) {
      guard var row = rows[one.rowKey] else { continue }
      let table = tables[row.place]
      if hasSideEffects { row.values = try table.rows(on: connection).values(of: row.key.values) }
      noteChange(of: row)
      if row.isAsStored { continue }
      try table.store(on: connection)
        .save(
          row.stateToKeep(in: table, on: connection),
          of: row.rowKey.key,
          named: row.key.name,
          values: row.values,
          source: row.source,
          isSure: row.isSure(in: table, isRebuilt: rebuilt.contains(table.id))
        )
    }
    forgetRows()
    try noteTimes()
    try noteCloudTime()
    guard hasAnswers, let first = tables.inOrder.first else { return }
    try AssetStaging(first, connection)?.removeArrived()
  }
}
