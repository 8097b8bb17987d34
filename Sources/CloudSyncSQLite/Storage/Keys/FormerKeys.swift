import CloudSyncSQLiteSupport

/// Which row had a key last that others refer to, beside the primary one, and has it no more: `cloudsync_former_keys`.
///
/// Nothing in the cloud tells that: rows which come later and refer to such a key would wait for ever.
struct FormerKeys {
  let connection: SQLiteConnection

  static let table = """
    CREATE TABLE cloudsync_former_keys(
      name TEXT PRIMARY KEY NOT NULL,
      table_id INTEGER NOT NULL,
      key NOT NULL
    ) WITHOUT ROWID;
    """

  /// Notes that a row had a key, whose name is that which rows wait for.
  func note(_ name: String, of row: RowKey) throws(SQLiteError) {
    try connection.fixedStatement(
      "REPLACE INTO cloudsync_former_keys(name, table_id, key) VALUES(?1, ?2, ?3)"
    )
    .bind(name, at: 1).bind(row.table, at: 2).bind(row.key, at: 3).run()
  }

  /// The row that had a key last; nil if none is known.
  func row(of name: String) throws(SQLiteError) -> RowKey? {
    let query =
      try connection.fixedStatement(
        "SELECT table_id, key FROM cloudsync_former_keys WHERE name = ?1"
      )
      .bind(name, at: 1)
    defer { query.reset() }
    return try query.step() ? RowKey(table: query.integer(0), key: query.value(1)) : nil
  }
}
