import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The engine's own tables, in the database that it synchronizes.
///
/// Users may read and join them; only the engine writes them.
///
/// ```
/// cloudsync_info(key, value)           the version of these tables, and small facts
/// cloudsync_clock(last, …)             the hybrid logical clock: one row
/// cloudsync_tables(id, name, columns)  the synchronized tables, columns as a JSON array
/// cloudsync_outbox(id, table_id, key, change, adopted)
///                                      edits as the triggers write them, until the engine has read them
/// cloudsync_rows(table_id, key, …)     what is known of every row's record
/// cloudsync_strangers(record_name, …)  records of tables that this database does not have
/// cloudsync_assets(digest, …)          the files of BLOBs that are on their way
/// cloudsync_seen(record_name)          what a fetch of everything has brought so far
/// cloudsync_journal(id, bytes)         the session's snapshot and the events since
/// cloudsync_facts(key, value)          small facts that go with these five
/// cloudsync_staged(…)                  what was merged last, where rows and the five after them are
///                                      in another file: see ``SyncMetadataLocation``
/// cloudsync_status                     a view: the status of every record
/// ```
///
/// A key is the value of the one key column, as it is stored, or of several the SQL literals
/// joined by commas. A time is ``HybridTime``'s number. In the outbox an id is the time of the edit, a
/// change is NULL for a row that is new, '' for one that is gone, 'r' for one that another row may
/// have been written over, and otherwise a 0 or 1 for every column, and adopted is 1 for what was there
/// before anybody captured it. What is void is not known to be in the cloud, because its zone was lost:
/// 1 until a fetch of everything has looked for it, then 2; or 3, because a deletion that was on its
/// way may have taken it away. A row that waits for "?" waits for a fetch to look for it, and one that
/// waits for "*" for the end of a fetch, to be deleted.
package enum MetadataSchema {
  /// The version of the tables.
  static let version: Int64 = 1

  /// What the time is, in ``HybridTime``'s unit, to the millisecond.
  static let now =
    "(CAST(round((julianday('now') - 2440587.5) * 86400000.0) AS INTEGER) << 16)"

  /// The time of an edit that is captured: later than every other that was captured or seen.
  static let nextTime = """
    max(last + 1, coalesce(fixed, \(now)),
      coalesce((SELECT max(id) + 1 FROM cloudsync_outbox), 0))
    """

  // Every page and request writes into the first two: they have a rowid, so that SQLite's update hook
  // tells of them, and ``WrittenTables`` need not take them for something that is observed.
  private static let tables = """
    CREATE TABLE cloudsync_info(key TEXT PRIMARY KEY NOT NULL, value);
    CREATE TABLE cloudsync_clock(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      last INTEGER NOT NULL,
      fixed INTEGER,
      applying_table INTEGER,
      applying_key,
      applying_all INTEGER
    );
    INSERT INTO cloudsync_clock(id, last) VALUES(1, 0);
    CREATE TABLE cloudsync_tables(
      id INTEGER PRIMARY KEY NOT NULL,
      name TEXT NOT NULL UNIQUE,
      columns TEXT NOT NULL
    );
    CREATE TABLE cloudsync_outbox(
      id INTEGER PRIMARY KEY NOT NULL,
      table_id INTEGER NOT NULL,
      key NOT NULL,
      change TEXT,
      adopted INTEGER
    );
    """

  /// The tables that may be in a file of their own.
  static let bulkNames = [
    "cloudsync_rows", "cloudsync_strangers", "cloudsync_assets", "cloudsync_seen",
    "cloudsync_journal", "cloudsync_facts",
  ]

  /// The statements that make those tables.
  static func bulkTables(in schema: String) -> String {
    """
    CREATE TABLE \(schema).cloudsync_rows(
      id INTEGER PRIMARY KEY NOT NULL,
      table_id INTEGER NOT NULL,
      key NOT NULL,
      record_name TEXT NOT NULL,
      tag TEXT,
      server BLOB,
      edits TEXT,
      created_at INTEGER,
      deleted_at INTEGER,
      dirty INTEGER,
      operation INTEGER,
      sent_page INTEGER,
      page INTEGER,
      error_code INTEGER,
      error TEXT,
      waits_for TEXT,
      payload BLOB,
      shelf BLOB,
      shelf_code INTEGER,
      shelf_error TEXT,
      former BLOB,
      void INTEGER,
      first_created INTEGER,
      UNIQUE(table_id, key)
    );
    CREATE UNIQUE INDEX \(schema).cloudsync_rows_by_name ON cloudsync_rows(record_name)
      WHERE record_name >= '~' AND record_name < '~~';
    CREATE INDEX \(schema).cloudsync_rows_dirty ON cloudsync_rows(dirty)
      WHERE dirty IS NOT NULL AND operation IS NULL;
    CREATE INDEX \(schema).cloudsync_rows_operation ON cloudsync_rows(operation)
      WHERE operation IS NOT NULL;
    CREATE INDEX \(schema).cloudsync_rows_waiting ON cloudsync_rows(waits_for)
      WHERE waits_for IS NOT NULL;
    CREATE INDEX \(schema).cloudsync_rows_void ON cloudsync_rows(record_name)
      WHERE void IS NOT NULL;
    CREATE INDEX \(schema).cloudsync_rows_shelved ON cloudsync_rows(record_name)
      WHERE shelf IS NOT NULL;
    CREATE TABLE \(schema).cloudsync_strangers(
      record_name TEXT PRIMARY KEY NOT NULL,
      record_type TEXT NOT NULL,
      record BLOB NOT NULL,
      error TEXT,
      void INTEGER,
      operation INTEGER
    );
    CREATE INDEX \(schema).cloudsync_strangers_refused ON cloudsync_strangers(record_name)
      WHERE error IS NOT NULL;
    CREATE TABLE \(schema).cloudsync_assets(
      digest BLOB NOT NULL, table_id INTEGER NOT NULL, key NOT NULL,
      PRIMARY KEY(digest, table_id, key)
    ) WITHOUT ROWID;
    CREATE TABLE \(schema).cloudsync_seen(record_name TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
    CREATE TABLE \(schema).cloudsync_journal(id INTEGER PRIMARY KEY NOT NULL, bytes BLOB NOT NULL);
    CREATE TABLE \(schema).cloudsync_facts(key TEXT PRIMARY KEY NOT NULL, value);
    """
  }

  /// What the view of the records' status shows.
  static let status = """
    SELECT
      t.name AS table_name,
      r.key AS key,
      r.record_name AS record_name,
      CASE
        WHEN r.error_code IS NOT NULL OR r.shelf_code IS NOT NULL THEN 'parked'
        WHEN r.waits_for IS NOT NULL THEN 'waiting'
        WHEN r.operation IS NOT NULL THEN 'inFlight'
        WHEN r.dirty IS NOT NULL OR EXISTS(
          SELECT 1 FROM cloudsync_outbox o WHERE o.table_id = r.table_id AND o.key IS r.key
        ) THEN 'dirty'
        ELSE 'clean'
      END AS status,
      coalesce(r.error_code, r.shelf_code) AS error_code,
      coalesce(r.error, r.shelf_error) AS error,
      r.waits_for AS waits_for
    FROM cloudsync_rows r JOIN cloudsync_tables t ON t.id = r.table_id
    UNION ALL
    SELECT NULL, NULL, record_name, 'parked', 12, error, NULL
    FROM cloudsync_strangers WHERE error IS NOT NULL
    """

  /// The columns of a row, but for its number, in the order in which the store reads and writes them.
  static let rowColumns = """
    table_id, key, record_name, server, edits, deleted_at, dirty, operation, error_code, error,
    waits_for, payload, sent_page, page, created_at, shelf, shelf_code, shelf_error, tag,
    former, void, first_created
    """

  /// What was merged in the last transaction, where the rows are in another file.
  static let staged = "CREATE TABLE main.cloudsync_staged(\(rowColumns), UNIQUE(table_id, key));"

  /// Makes the tables, or checks that they are there in a version that is known.
  static func prepare(
    _ connection: SQLiteConnection,
    isAttached: Bool = false
  ) throws(SyncEngineError) {
    switch try installedVersion(connection) {
    case nil:
      try sqlite { () throws(SQLiteError) in
        try connection.execute(
          tables + "INSERT INTO cloudsync_info VALUES('version', \(version));"
        )
        if isAttached { return try connection.execute(staged) }
        try connection.execute(
          bulkTables(in: "main") + "CREATE VIEW main.cloudsync_status AS \(status);"
        )
      }
    case version: return
    case let found?: throw .newerMetadata(found)
    }
  }

  /// The version of the tables that are there; nil if there are none.
  static func installedVersion(_ connection: SQLiteConnection) throws(SyncEngineError) -> Int64? {
    try sqlite { () throws(SQLiteError) in
      let isThere = try connection.integer(
        "SELECT count(*) FROM sqlite_schema WHERE name = 'cloudsync_info' AND type = 'table'"
      )
      guard isThere == 1 else { return nil }
      return try connection.integer("SELECT value FROM cloudsync_info WHERE key = 'version'")
    }
  }

  /// Removes everything that belongs to the engine, and nothing else.
  static func remove(_ connection: SQLiteConnection) throws(SQLiteError) {
    var statements: [String] = []
    let query = try connection.prepare(
      """
      SELECT type, name FROM sqlite_schema
      WHERE name LIKE 'cloudsync\\_%' ESCAPE '\\' AND type IN ('trigger', 'view', 'table')
      ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, name
      """
    )
    try query.forEachRow {
      guard let type = query.text(0), let name = query.text(1) else { return }
      statements.append("DROP \(type) \(name.quotedName)")
    }
    for statement in statements { try connection.execute(statement) }
  }
}
