import CloudSyncSQLiteSupport

/// A record that is looked up, and what was known of it when that was asked.
struct LookUp: Sendable {
  let name: String
  let tag: String?
}

/// Records that the cloud has and a page could not bring: `cloudsync_unfetched`.
///
/// The token passes them by, so that one bad record does not stop the others; they are looked up by
/// name, with waits that grow from a second to ten minutes, until the cloud gives them or says that
/// there are none.
struct UnfetchedRecords {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_unfetched(
      record_name TEXT PRIMARY KEY NOT NULL,
      error TEXT NOT NULL,
      attempts INTEGER NOT NULL,
      due INTEGER NOT NULL
    ) WITHOUT ROWID;
    """

  func isEmpty() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement("SELECT 1 FROM cloudsync_unfetched LIMIT 1")
    defer { query.reset() }
    let isThere = try query.step()
    return !isThere
  }

  /// Keeps a record to be looked up.
  ///
  /// - Parameters:
  ///   - name: The record's name.
  ///   - error: Why the cloud could not give it.
  ///   - now: The time, in milliseconds since 1970.
  /// - Throws: SQLite's reason.
  func keep(named name: String, because error: String, at now: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_unfetched(record_name, error, attempts, due)
      VALUES(?1, ?3, 0, ?2 + 1000)
      ON CONFLICT DO UPDATE SET error = ?3
      """
    )
    .bind(name, at: 1).bind(now, at: 2).bind(error, at: 3).run()
  }

  /// Whether a record is still to be looked up.
  func hasRecord(named name: String) throws(SQLiteError) -> Bool {
    let query =
      try connection.fixedStatement("SELECT 1 FROM cloudsync_unfetched WHERE record_name = ?1")
      .bind(name, at: 1)
    defer { query.reset() }
    return try query.step()
  }

  func remove(named name: String) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_unfetched WHERE record_name = ?1")
      .bind(name, at: 1).run()
  }

  func removeAll() throws(SQLiteError) { try connection.execute("DELETE FROM cloudsync_unfetched") }

  /// Takes the names of the records that are to be looked up now, and sets when they are the next time:
  /// an answer that never comes costs no more than a wait.
  func takeDue(limit: Int, at now: Int64) throws(SQLiteError) -> [String] {
    let query =
      try connection.fixedStatement(
        """
        SELECT record_name FROM cloudsync_unfetched WHERE due <= ?1
        ORDER BY due, record_name LIMIT ?2
        """
      )
      .bind(now, at: 1).bind(Int64(limit), at: 2)
    let names = try query.mapRows { query in query.text(0) ?? "" }
    for name in names {
      try connection.fixedStatement(
        """
        UPDATE cloudsync_unfetched SET attempts = attempts + 1,
          due = ?2 + min(1000 << min(attempts, 20), 600000)
        WHERE record_name = ?1
        """
      )
      .bind(name, at: 1).bind(now, at: 2).run()
    }
    return names
  }

  /// When the next one is looked up, in milliseconds since 1970; nil if there is none.
  func nextDue(after now: Int64) throws(SQLiteError) -> Int64? {
    let query =
      try connection.fixedStatement("SELECT min(due) FROM cloudsync_unfetched WHERE due > ?1")
      .bind(now, at: 1)
    defer { query.reset() }
    return try query.step() && !query.isNull(0) ? query.integer(0) : nil
  }

  /// All of them, in the order of their names; none where no engine has made the table yet.
  func all() throws(SQLiteError) -> [SyncMetadata.UnreadableRecord] {
    let isThere = try connection.integer(
      "SELECT count(*) FROM main.sqlite_schema WHERE name = 'cloudsync_unfetched'"
    )
    if isThere == 0 { return [] }
    let query = try connection.prepare(
      "SELECT record_name, error FROM cloudsync_unfetched ORDER BY record_name"
    )
    return try query.mapRows { query in
      SyncMetadata.UnreadableRecord(
        recordName: query.text(0) ?? "",
        reason: "the cloud could not give it, and is asked again: \(query.text(1) ?? "")"
      )
    }
  }
}
