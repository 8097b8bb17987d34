import CloudSyncSQLiteSupport

/// The keys of rows that are too long for the names of their records, by the digests that these have: `cloudsync_long_keys`.
///
/// A name is often all that tells of a record, such as of one that is gone.
struct LongKeys {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE IF NOT EXISTS main.cloudsync_long_keys(
      table_id INTEGER NOT NULL,
      digest INTEGER NOT NULL,
      key NOT NULL,
      PRIMARY KEY(table_id, digest, key)
    ) WITHOUT ROWID;
    """

  /// The first bits of the digest that a name has; nil for one that tells its key.
  private static func digest(in name: String) -> Int64? {
    guard RecordName.isDigest(name) else { return nil }
    return UInt64(RecordName.key(of: name).dropFirst(2).prefix(16), radix: 16)
      .map { Int64(bitPattern: $0) }
  }

  /// Notes a row of which something is known, by its record's name.
  func note(_ key: RowKey, named name: String) throws(SQLiteError) {
    guard let digest = Self.digest(in: name) else { return }
    try connection.fixedStatement(
      "INSERT OR IGNORE INTO cloudsync_long_keys(table_id, digest, key) VALUES(?1, ?2, ?3)"
    )
    .bind(key.table, at: 1).bind(digest, at: 2).bind(key.key, at: 3).run()
  }

  /// Forgets a row.
  func remove(_ key: RowKey, named name: String) throws(SQLiteError) {
    guard let digest = Self.digest(in: name) else { return }
    try connection.fixedStatement(
      "DELETE FROM cloudsync_long_keys WHERE table_id = ?1 AND digest = ?2 AND key IS ?3"
    )
    .bind(key.table, at: 1).bind(digest, at: 2).bind(key.key, at: 3).run()
  }

  /// The keys of a table that may have the digest of a name; of some nothing may be known any more.
  func keys(named name: String, in table: Int64) throws(SQLiteError) -> [SQLiteValue] {
    guard let digest = Self.digest(in: name) else { return [] }
    return
      try connection.fixedStatement(
        "SELECT key FROM cloudsync_long_keys WHERE table_id = ?1 AND digest = ?2 ORDER BY key"
      )
      .bind(table, at: 1).bind(digest, at: 2).mapRows { $0.value(0) }
  }
}
