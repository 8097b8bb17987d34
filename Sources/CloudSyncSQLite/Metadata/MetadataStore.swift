import CloudSyncCore
import CloudSyncSQLiteSupport

/// Reads and writes the engine's tables, within whatever transaction is open.
struct MetadataStore {
  let connection: SQLiteConnection

  // MARK: Small facts

  func info(_ key: String) throws(SQLiteError) -> SQLiteValue? {
    try value(of: key, in: "cloudsync_info")
  }

  func setInfo(_ key: String, _ value: SQLiteValue?) throws(SQLiteError) {
    try set(value, of: key, in: "cloudsync_info")
  }

  /// A small fact that goes with the rows.
  func fact(_ key: String) throws(SQLiteError) -> SQLiteValue? {
    try value(of: key, in: "cloudsync_facts")
  }

  func setFact(_ key: String, _ value: SQLiteValue?) throws(SQLiteError) {
    try set(value, of: key, in: "cloudsync_facts")
  }

  private func value(
    of key: String,
    in table: String
  ) throws(SQLiteError) -> SQLiteValue? {
    let query = try connection.statement("SELECT value FROM \(table) WHERE key = ?1")
      .bind(key, at: 1)
    defer { query.reset() }
    return try query.step() ? query.value(0) : nil
  }

  private func set(
    _ value: SQLiteValue?,
    of key: String,
    in table: String
  ) throws(SQLiteError) {
    guard let value else {
      return try connection.statement("DELETE FROM \(table) WHERE key = ?1")
        .bind(key, at: 1).run()
    }
    try connection.statement("REPLACE INTO \(table)(key, value) VALUES(?1, ?2)")
      .bind(key, at: 1).bind(value, at: 2).run()
  }

  /// The number of the page that was stored last; 0 if none was.
  func lastPage() throws(SQLiteError) -> Int64 {
    try fact("page")?.integer ?? 0
  }

  // MARK: Clock

  /// Sees to it that whatever is edited from now on is later than this.
  func advanceClock(beyond time: HybridTime) throws(SQLiteError) {
    try connection.fixedStatement("UPDATE cloudsync_clock SET last = max(last, ?1)")
      .bind(time.rawValue, at: 1).run()
  }

  /// Tells the triggers that all rows of a table are the engine's to write.
  func setApplying(allOf table: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      "UPDATE cloudsync_clock SET applying_table = ?1, applying_key = NULL, applying_all = 1"
    )
    .bind(table, at: 1).run()
  }

  /// Tells the triggers which row is the engine's to write; none if nil.
  func setApplying(_ row: (table: Int64, key: SQLiteValue)?) throws(SQLiteError) {
    let statement = try connection.fixedStatement(
      "UPDATE cloudsync_clock SET applying_table = ?1, applying_key = ?2, applying_all = NULL"
    )
    if let row {
      statement.bind(row.table, at: 1).bind(row.key, at: 2)
    } else {
      statement.bindNull(at: 1).bindNull(at: 2)
    }
    try statement.run()
  }

  // MARK: Outbox

  /// The oldest edits that were captured.
  func outbox(limit: Int, after id: Int64) throws(SQLiteError) -> [OutboxEntry] {
    let query =
      try connection.fixedStatement(
        """
        SELECT id, table_id, key, change, adopted FROM cloudsync_outbox
        WHERE id > ?2 ORDER BY id LIMIT ?1
        """
      )
      .bind(Int64(limit), at: 1).bind(id, at: 2)
    var entries: [OutboxEntry] = []
    try query.forEachRow {
      entries.append(
        OutboxEntry(
          id: query.integer(0),
          table: query.integer(1),
          key: query.value(2),
          change: query.isNull(3) ? nil : query.text(3),
          isAdopted: query.integer(4) != 0
        )
      )
    }
    return entries
  }

  func removeOutbox(upTo id: Int64) throws(SQLiteError) {
    try connection.fixedStatement("DELETE FROM cloudsync_outbox WHERE id <= ?1")
      .bind(id, at: 1).run()
  }

  /// Forgets what was captured of a row after an entry.
  func forgetOutbox(of place: RowPlace, after id: Int64) throws(SQLiteError) {
    try connection.fixedStatement(
      "DELETE FROM cloudsync_outbox WHERE id > ?1 AND table_id = ?2 AND key IS ?3"
    )
    .bind(id, at: 1).bind(place.table, at: 2).bind(place.key, at: 3).run()
  }
}

extension StatementID {
  static let rowByKey = StatementID(kind: 1)
  static let saveRow = StatementID(kind: 2)

  /// The statements of a table's rows.
  static func insert(_ table: SyncTable, columns: UInt64) -> StatementID {
    StatementID(kind: 3, table: table.fingerprint, columns: columns)
  }

  static func values(of table: SyncTable) -> StatementID {
    StatementID(kind: 4, table: table.fingerprint)
  }
}
