import CloudSyncCore
import CloudSyncSQLiteSupport

/// What is kept of a row that the table and the cloud have alike.
struct KnownRow: Sendable, Hashable {
  var tag: String
  /// The row's clock in its coded form.
  var clock: [UInt8]
  /// A digest of the row as SQLite reads it back: tells whether somebody has changed it unseen.
  var digest: Int64
  /// What the table cannot hold of the record, in its coded form; nil for most rows.
  var rest: [UInt8]?

  func with(tag: String) -> KnownRow {
    var row = self
    row.tag = tag
    return row
  }

  func with(digest: Int64) -> KnownRow {
    var row = self
    row.digest = digest
    return row
  }
}

/// The rows that are clean: `cloudsync_known`, one b-tree entry each.
struct KnownRows {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_known(
      table_id INTEGER NOT NULL,
      key NOT NULL,
      zone INTEGER NOT NULL,
      tag TEXT NOT NULL,
      clock BLOB NOT NULL,
      digest INTEGER NOT NULL,
      rest BLOB,
      PRIMARY KEY(table_id, key)
    ) WITHOUT ROWID;
    """

  /// Whether there is none.
  func isEmpty() throws(SQLiteError) -> Bool {
    let query = try connection.fixedStatement("SELECT 1 FROM cloudsync_known LIMIT 1")
    defer { query.reset() }
    return try query.step() == false
  }

  func row(_ key: RowKey) throws(SQLiteError) -> KnownRow? {
    let query =
      try connection.fixedStatement(
        "SELECT tag, clock, digest, rest FROM cloudsync_known WHERE table_id = ?1 AND key IS ?2"
      )
      .bind(key.table, at: 1).bind(key.key, at: 2)
    defer { query.reset() }
    guard try query.step() else { return nil }
    return try Self.row(in: query)
  }

  /// Notes that a row is clean, whatever was known of it before.
  ///
  /// - Parameters:
  ///   - row: What is kept.
  ///   - key: Whose it is.
  ///   - zone: The number of its zone; 0 is the engine's own.
  /// - Throws: SQLite's reason.
  func save(_ row: KnownRow, of key: RowKey, zone: Int64 = 0) throws(SQLiteError) {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_known(table_id, key, zone, tag, clock, digest, rest)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7)
      ON CONFLICT DO UPDATE SET zone = ?3, tag = ?4, clock = ?5, digest = ?6, rest = ?7
      """
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).bind(zone, at: 3).bind(row.tag, at: 4)
    .bind(row.clock, at: 5).bind(row.digest, at: 6)
    .bind(row.rest.map { .blob($0) } ?? .null, at: 7).run()
  }

  /// Notes that a row is clean of which nothing was known; false if something is.
  func insert(_ row: KnownRow, of key: RowKey, zone: Int64 = 0) throws(SQLiteError) -> Bool {
    try connection.fixedStatement(
      """
      INSERT INTO cloudsync_known(table_id, key, zone, tag, clock, digest, rest)
      VALUES(?1, ?2, ?3, ?4, ?5, ?6, ?7) ON CONFLICT DO NOTHING
      """
    )
    .bind(key.table, at: 1).bind(key.key, at: 2).bind(zone, at: 3).bind(row.tag, at: 4)
    .bind(row.clock, at: 5).bind(row.digest, at: 6)
    .bind(row.rest.map { .blob($0) } ?? .null, at: 7).run()
    return connection.changeCount > 0
  }

  func remove(_ key: RowKey) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_known WHERE table_id = ?1 AND key IS ?2")
      .bind(key.table, at: 1).bind(key.key, at: 2).run()
  }

  /// The clean rows of a table after a key, in the order of the keys.
  func rows(
    of table: Int64,
    after key: SQLiteValue?,
    limit: Int
  ) throws(SQLiteError) -> [(key: SQLiteValue, row: KnownRow)] {
    let query = try connection.statement(
      "SELECT tag, clock, digest, rest, key FROM cloudsync_known WHERE table_id = ?1"
        + (key == nil ? "" : " AND key > ?3") + " ORDER BY key LIMIT ?2"
    )
    query.bind(table, at: 1).bind(Int64(limit), at: 2)
    if let key { query.bind(key, at: 3) }
    return try query.mapRows { (query) throws(SQLiteError) in
      (query.value(4), try Self.row(in: query))
    }
  }

  private static func row(in query: SQLiteStatement) throws(SQLiteError) -> KnownRow {
    guard let tag = query.text(0) else {
      throw SQLiteError(code: 11, message: "a row in cloudsync_known has no tag", sql: query.sql)
    }
    let rest = query.isNull(3) ? nil : query.bytes(3)
    return KnownRow(tag: tag, clock: query.bytes(1), digest: query.integer(2), rest: rest)
  }
}
