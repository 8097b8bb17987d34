import CloudSyncSQLiteSupport

/// The rows that a fetch of everything has told about so far: `cloudsync_seen`.
///
/// What is in the cloud as far as is known, and in no page of such a fetch, is gone. The fetch goes on after a
/// restart, so this is kept.
struct SeenRows {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_seen(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      PRIMARY KEY(table_id, key)
    ) WITHOUT ROWID;
    """

  func insert(_ key: RowKey) throws(SQLiteError) {
    try connection.fixedStatement(
      "INSERT INTO cloudsync_seen(table_id, key) VALUES(?1, ?2) ON CONFLICT DO NOTHING"
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).run()
  }

  func removeAll() throws(SQLiteError) { try connection.execute("DELETE FROM cloudsync_seen") }

  /// The rows of a table of which something is kept, and which have not been told about, in the order of their keys.
  func unseen(in table: Int64) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.fixedStatement(
        """
        SELECT key FROM (
          SELECT key FROM cloudsync_known WHERE table_id = ?1
          UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1
        ) AS k
        WHERE NOT EXISTS(SELECT 1 FROM cloudsync_seen s WHERE s.table_id = ?1 AND s.key IS k.key)
        ORDER BY key
        """
      )
      .bind(table, at: 1)
    return try query.mapRows { $0.value(0) }
  }
}
