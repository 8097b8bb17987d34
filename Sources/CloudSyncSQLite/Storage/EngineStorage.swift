import CloudSyncSQLiteSupport

/// What the engine keeps in its tables, within one transaction.
struct EngineStorage {
  let connection: SQLiteConnection

  var facts: Facts { Facts(connection: connection) }
  var known: KnownRows { KnownRows(connection: connection) }
  var pending: PendingRows { PendingRows(connection: connection) }
  var seen: SeenRows { SeenRows(connection: connection) }
  var tombstones: Tombstones { Tombstones(connection: connection) }
  var longKeys: LongKeys { LongKeys(connection: connection) }
  var foreign: ForeignRecords { ForeignRecords(connection: connection) }
  var unfetched: UnfetchedRecords { UnfetchedRecords(connection: connection) }

  /// Whether anything is known of a row.
  func knows(_ key: RowKey) throws(SQLiteError) -> Bool {
    try pending.hasRow(key) ? true : try known.row(key) != nil
  }

  /// How many rows of a table are known that are there.
  func count(ofTable id: Int64) throws(SQLiteError) -> Int64 {
    let query =
      try connection.prepare(
        """
        SELECT (SELECT count(*) FROM cloudsync_known WHERE table_id = ?1)
          + (SELECT count(*) FROM cloudsync_pending WHERE table_id = ?1 AND NOT is_tombstone)
        """
      )
      .bind(id, at: 1)
    return try query.mapRows { $0.integer(0) }.first ?? 0
  }
}
