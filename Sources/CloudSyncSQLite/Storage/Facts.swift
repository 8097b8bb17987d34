import CloudSyncSQLiteSupport

/// Small facts of the engine's: `cloudsync_facts`.
struct Facts {
  let connection: SQLiteConnection

  static let table = "CREATE TABLE cloudsync_facts(key TEXT PRIMARY KEY NOT NULL, value);"

  /// What is kept under a name.
  enum Name: String {
    /// The version of the engine's tables.
    case version
    /// The number of this database, which its counters' shares have.
    case writer
    /// What the file was when the number was given: another file takes another one.
    case file
    /// The incarnation of the zone that tags and tokens are of.
    case zone
    /// The token of the last page that was stored.
    case token
    /// What a full fetch has told so far; there if one is under way.
    case fullFetch = "full_fetch"
    /// The session's decisions and limits.
    case essence
    /// When everything was fetched last, in milliseconds since 1970.
    case lastSync = "last_sync"
  }

  func value(_ name: Name) throws(SQLiteError) -> SQLiteValue? {
    let query =
      try connection.fixedStatement("SELECT value FROM cloudsync_facts WHERE key = ?1")
      .bind(name.rawValue, at: 1)
    defer { query.reset() }
    return try query.step() ? query.value(0) : nil
  }

  /// Keeps a value, or forgets the one there is.
  func set(_ name: Name, _ value: SQLiteValue?) throws(SQLiteError) {
    guard let value else {
      return try connection.fixedStatement("DELETE FROM cloudsync_facts WHERE key = ?1")
        .bind(name.rawValue, at: 1).run()
    }
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_facts(key, value) VALUES(?1, ?2)
      ON CONFLICT DO UPDATE SET value = ?2
      """
    )
    .bind(name.rawValue, at: 1).bind(value, at: 2).run()
  }
}
