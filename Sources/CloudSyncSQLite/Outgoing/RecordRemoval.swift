import CloudSyncCore
import CloudSyncSQLiteSupport

/// Deletes records themselves.
struct RecordRemoval: TransactionPart {
  let transaction: SyncTransaction

  /// The records that are to be deleted themselves, of rows that are deleted; from now on only a fetch may tell what
  /// became of one whose answer is lost.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - names: The names of the records that have been sent and not answered; old tombstones wait for these.
  /// - Returns: The records, and whether there are tombstones now that were marked and have to be sent first.
  /// - Throws: SQLite's reason.
  func begin(
    limit: Int,
    isOnItsWay names: Set<String>
  ) throws(SQLiteError) -> (removals: [SentRemoval], hasMarked: Bool) {
    let removals = try beginDeletions(limit: limit, isOnItsWay: names)
    if !removals.isEmpty || !names.isEmpty { return (removals, false) }
    if try transaction.isFetchingAll() { return ([], false) }
    return try TombstonePurge(transaction: transaction).beginPurges(limit: limit)
  }

  /// The records of tombstones that a full storage does not take.
  private func beginDeletions(
    limit: Int,
    isOnItsWay names: Set<String>
  ) throws(SQLiteError) -> [SentRemoval] {
    let keys = try stored.pending
      .removable(in: tables.inOrder.map(\.id), limit: limit)
    var removals: [SentRemoval] = []
    for rowKey in keys {
      guard let row = try row(rowKey), row.state.hold == .removal(isDue: true),
        !names.contains(row.key.name)
      else { continue }
      try reduce(.purging, of: row.key, in: row.place)
      removals.append(SentRemoval(of: row))
    }
    return removals
  }
}
