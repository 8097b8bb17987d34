import CloudSyncSQLiteSupport

/// Since when rows are deleted in the cloud, by its own dates: `cloudsync_tombstones`, kept only where tombstones are
/// purged.
struct Tombstones {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_tombstones(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      due_after INTEGER NOT NULL,
      PRIMARY KEY(table_id, key)
    ) WITHOUT ROWID;
    CREATE INDEX cloudsync_tombstones_due ON cloudsync_tombstones(due_after);
    """

  /// Notes when a row was deleted in the cloud, in milliseconds since 1970.
  func note(_ key: RowKey, at time: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_tombstones(table_id, key, due_after) VALUES(?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET due_after = ?3
      """
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).bind(time, at: 3).run()
  }

  /// Notes the tombstones that were there before anybody asked since when, as of a time.
  func adopt(at time: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_tombstones(table_id, key, due_after)
      SELECT table_id, key, ?1 FROM cloudsync_pending WHERE is_tombstone AND NOT is_dirty
      ON CONFLICT DO NOTHING
      """
    )
    .bind(time, at: 1).run()
  }

  func remove(_ key: RowKey) throws(SQLiteError) {
    try connection.fixedStatement(
      "DELETE FROM cloudsync_tombstones WHERE table_id = ?1 AND key IS ?2"
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).run()
  }

  /// Those that were deleted before a time, the oldest first.
  func due(before time: Int64, limit: Int) throws(SQLiteError) -> [RowKey] {
    let query =
      try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_tombstones WHERE due_after < ?1
        ORDER BY due_after, table_id, key LIMIT ?2
        """
      )
      .bind(time, at: 1).bind(Int64(limit), at: 2)
    return try query.mapRows { RowKey(table: $0.integer(0), key: $0.value(1)) }
  }
}
