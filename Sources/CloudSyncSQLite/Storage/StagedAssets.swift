import CloudSyncCore
import CloudSyncSQLiteSupport

/// The files of BLOBs that are on their way to the cloud: `cloudsync_assets`.
struct StagedAssets {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_assets(
      digest BLOB NOT NULL, table_id INTEGER NOT NULL, key NOT NULL,
      PRIMARY KEY(digest, table_id, key)
    ) WITHOUT ROWID;
    """

  /// Notes that a row that is to be sent needs a file.
  func note(_ digest: [UInt8], of key: RowKey) throws(SQLiteError) {
    try connection.fixedStatement("INSERT OR IGNORE INTO cloudsync_assets VALUES(?1, ?2, ?3)")
      .bind(digest, at: 1).bind(key.table, at: 2).bind(key.key, at: 3).run()
  }

  /// The files that no row needs which is still to be sent; they are forgotten here.
  func takeIdle() throws(SQLiteError) -> [[UInt8]] {
    let query = try connection.fixedStatement(
      """
      SELECT DISTINCT digest FROM cloudsync_assets a WHERE NOT EXISTS(
        SELECT 1 FROM cloudsync_assets b
          JOIN cloudsync_pending r ON r.table_id = b.table_id AND r.key IS b.key
        WHERE b.digest = a.digest AND r.is_dirty)
      ORDER BY digest
      """
    )
    let digests = try query.mapRows { $0.bytes(0) }
    for digest in digests {
      try connection.fixedStatement("DELETE FROM cloudsync_assets WHERE digest = ?1")
        .bind(digest, at: 1).run()
    }
    return digests
  }
}
