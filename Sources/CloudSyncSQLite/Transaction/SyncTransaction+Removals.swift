import CloudSyncCore
import CloudSyncSQLiteSupport

/// A record that is deleted itself, on its way.
struct SentRemoval: Sendable {
  /// The place of its row's table.
  let table: Int
  let key: RecordKey
}

extension SyncTransaction {
  /// The records that are to be deleted themselves, of rows that are deleted; from now on only a fetch may tell what
  /// became of one whose answer is lost.
  ///
  /// - Parameters:
  ///   - limit: How many at most.
  ///   - names: The names of the records that have been sent and not answered; old tombstones wait for these.
  /// - Returns: The records, and whether there are tombstones now that were marked and have to be sent first.
  /// - Throws: SQLite's reason.
  mutating func beginRemovals(
    limit: Int,
    isOnItsWay names: Set<String>
  ) throws(SQLiteError) -> (removals: [SentRemoval], hasMarked: Bool) {
    let removals = try beginDeletions(limit: limit, isOnItsWay: names)
    if !removals.isEmpty || !names.isEmpty { return (removals, false) }
    if try isFetchingAll() { return ([], false) }
    return try beginPurges(limit: limit)
  }

  /// The records of tombstones that a full storage does not take.
  private mutating func beginDeletions(
    limit: Int,
    isOnItsWay names: Set<String>
  ) throws(SQLiteError) -> [SentRemoval] {
    let keys = try PendingRows(connection: connection)
      .removable(in: tables.inOrder.map(\.id), limit: limit)
    var removals: [SentRemoval] = []
    for rowKey in keys {
      guard let row = try row(rowKey), row.state.hold == .removal(isDue: true),
        !names.contains(row.key.name)
      else { continue }
      try reduce(.purging, row.key, in: row.place)
      removals.append(SentRemoval(table: row.place, key: row.key))
    }
    return removals
  }

  /// Takes what became of records that were to be deleted themselves.
  mutating func take(
    _ response: ModifyOperation.Response,
    to removals: [SentRemoval]
  ) throws(SQLiteError) {
    if removals.isEmpty { return }
    var sent: [String: SentRemoval] = [:]
    for removal in removals { sent[removal.key.name] = removal }
    for recordID in response.deletedRecordIDs {
      guard let removal = sent[recordID.name] else { continue }
      try reduce(.vanished, removal.key, in: removal.table)
      counts.sent += 1
    }
    for failure in response.failures {
      guard let removal = sent[failure.recordID.name] else { continue }
      switch failure.error.code {
      case .unknownItem: try reduce(.vanished, removal.key, in: removal.table)
      // Whether it is done, the fetch tells that it waits for.
      case .outcomeUnknown: needsFetch = true
      default: try take(failure, of: removal.key, in: removal.table)
      }
    }
  }
}
