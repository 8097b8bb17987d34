import CloudSyncSQLiteSupport

/// Pending rows that stay on this device, because of a row filter.
extension PendingRows {
  /// The rows that need a record in the cloud which stays on this device.
  func filtered(by name: String) throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in:
        try connection.fixedStatement(
          """
          SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_filtered
          WHERE filtered_by = ?1 ORDER BY table_id, key
          """
        )
        .bind(name, at: 1)
    )
  }

  /// All rows that stay on this device.
  func filtered() throws(SQLiteError) -> [RowKey] {
    try Self.keys(
      in: try connection.fixedStatement(
        """
        SELECT table_id, key FROM cloudsync_pending INDEXED BY cloudsync_pending_filtered
        WHERE filtered_by IS NOT NULL ORDER BY table_id, key
        """
      )
    )
  }

  /// The numbers of the tables with rows that stay on this device.
  func filteredTables() throws(SQLiteError) -> [Int64] {
    try connection.fixedStatement(
      """
      SELECT DISTINCT table_id FROM cloudsync_pending INDEXED BY cloudsync_pending_filtered
      WHERE filtered_by IS NOT NULL
      """
    )
    .mapRows { $0.integer(0) }
  }

  /// Whether any row needs a record that stays on this device.
  func hasFilteredByRecord() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement(
      """
      SELECT 1 FROM cloudsync_pending INDEXED BY cloudsync_pending_filtered
      WHERE filtered_by > '' LIMIT 1
      """
    )
    defer { query.reset() }
    return try query.step()
  }

  /// How many rows stay on this device with their edits, those that are deleted left out.
  func filteredCount() throws(SQLiteError) -> Int {
    Int(
      clamping: try connection.integer(
        """
        SELECT count(*) FROM cloudsync_pending INDEXED BY cloudsync_pending_filtered
        WHERE filtered_by IS NOT NULL AND NOT is_tombstone
        """
      )
    )
  }
}
