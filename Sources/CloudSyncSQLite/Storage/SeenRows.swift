import CloudSyncSQLiteSupport

/// The rows that a fetch of everything has told about so far: `cloudsync_seen`.
///
/// What is in the cloud as far as is known, and in no page of such a fetch, is gone, unless the cloud has said meanwhile
/// that it has saved it: the pages may be older than that. The fetch goes on after a restart, so this is kept.
struct SeenRows {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_seen(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      is_answer INTEGER NOT NULL,
      PRIMARY KEY(table_id, key)
    ) WITHOUT ROWID;
    """

  /// Notes a row that a page has told about, or only an answer.
  func insert(_ key: RowKey, isAnswer: Bool = false) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_seen(table_id, key, is_answer) VALUES(?1, ?2, ?3)
      ON CONFLICT DO UPDATE SET is_answer = 0 WHERE is_answer > excluded.is_answer
      """
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).bind(isAnswer ? 1 : 0, at: 3).run()
  }

  func removeAll() throws(SQLiteError) { try connection.execute("DELETE FROM cloudsync_seen") }

  /// The rows of a table of which something is kept, and which have not been told about, in the order of their keys.
  ///
  /// - Parameters:
  ///   - table: The table.
  ///   - countsAnswers: Whether answers count too: of a zone that is another one now they do not.
  /// - Returns: Their keys.
  /// - Throws: SQLite's reason.
  func unseen(in table: Int64, countsAnswers: Bool = false) throws(SQLiteError) -> [SQLiteValue] {
    let query =
      try connection.fixedStatement(
        """
        SELECT key FROM (
          SELECT key FROM cloudsync_known WHERE table_id = ?1
          UNION ALL SELECT key FROM cloudsync_pending WHERE table_id = ?1
        ) AS k
        WHERE NOT EXISTS(
          SELECT 1 FROM cloudsync_seen s
          WHERE s.table_id = ?1 AND s.key IS k.key AND s.is_answer <= ?2
        )
        ORDER BY key
        """
      )
      .bind(table, at: 1).bind(countsAnswers ? 1 : 0, at: 2)
    return try query.mapRows { $0.value(0) }
  }
}
