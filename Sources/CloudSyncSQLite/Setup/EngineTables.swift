import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables that the engine keeps for itself, in the database that it synchronizes.
///
/// Users may read them; only the triggers and the engine write them. Beside those of the outbox
/// (``OutboxSchema``) there are:
///
/// ```
/// cloudsync_known(table_id, key, …)    rows that the table and the cloud have alike
/// cloudsync_pending(table_id, key, …)  rows that are to be sent, that wait, were refused, or are deleted
/// cloudsync_seen(table_id, key)        what a fetch of everything has told about so far
/// cloudsync_tombstones(table_id, key, …)  since when rows are deleted in the cloud
/// cloudsync_foreign_records(…)         records that no table of this database can hold
/// cloudsync_unfetched(record_name, …)  records that a page could not bring, to be looked up
/// cloudsync_assets(digest, …)          the files of BLOBs that are on their way
/// cloudsync_former_keys(name, …)       which row had a key last that others refer to
/// cloudsync_long_keys(table_id, …)     the keys that are too long for the names of records, by their digests
/// cloudsync_facts(key, value)          small facts: the zone, the token, what the session has learnt
/// cloudsync_status                     a view: the status of every row
/// ```
///
/// A key is the value of the one key column in the spelling that stands for all equal ones, or the text of
/// several (``CompoundKey``).
enum EngineTables {
  /// Makes the tables, or checks that they are there in this version.
  static func prepare(on connection: SQLiteConnection) throws(SyncEngineError) {
    let isNew = try OutboxSchema.installedVersion(on: connection) == nil
    try OutboxSchema.prepare(on: connection)
    try sqlite { () throws(SQLiteError) in try connection.execute(LongKeys.table) }
    guard isNew else { return }
    try sqlite { () throws(SQLiteError) in
      for table in [
        KnownRows.table, PendingRows.table, SeenRows.table, ForeignRecords.table,
        StagedAssets.table, Tombstones.table, Facts.table, FormerKeys.table,
        ActionTriggers.departed, UnfetchedRecords.table,
      ] {
        try connection.execute(table)
      }
    }
  }

  /// The names of an engine's tables and views.
  ///
  /// Others that begin as they do are somebody's own.
  private static let names = [
    "cloudsync_activity", "cloudsync_assets", "cloudsync_circle", "cloudsync_clock",
    "cloudsync_departed", "cloudsync_facts", "cloudsync_foreign_records", "cloudsync_former_keys",
    "cloudsync_info", "cloudsync_known", "cloudsync_long_keys", "cloudsync_outbox",
    "cloudsync_pending",
    "cloudsync_seen", "cloudsync_status", "cloudsync_tables", "cloudsync_tombstones",
    "cloudsync_unfetched",
  ]

  private static func isOfThisVersion(on connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    let isThere = try connection.integer(
      "SELECT count(*) FROM main.sqlite_schema WHERE name = 'cloudsync_info' AND type = 'table'"
    )
    guard isThere == 1 else { return true }
    let query = try connection.prepare(
      "SELECT 1 FROM main.cloudsync_info WHERE key = 'version' AND value = \(OutboxSchema.version)"
    )
    return try query.step()
  }

  /// Refuses to remove an engine while the app's own triggers and views ask its tables: without these every statement that
  /// fires such a trigger would fail.
  static func checkNobodyAsks(on connection: SQLiteConnection) throws(SyncEngineError) {
    let asked = names.map { "instr(lower(sql), '\($0)')" }.joined(separator: " OR ")
    let found = try sqlite { () throws(SQLiteError) in
      try connection.prepare(
        """
        SELECT type, name FROM main.sqlite_schema
        WHERE type IN ('trigger', 'view') AND name NOT LIKE 'cloudsync\\_%' ESCAPE '\\' AND (\(asked))
        ORDER BY type, name
        """
      )
      .mapRows { query in "\(query.text(0) ?? "") \((query.text(1) ?? "").quotedName)" }
    }
    if found.isEmpty { return }
    throw SyncEngineError(
      .schema,
      "\(found.joined(separator: ", ")) of the app names a table of the sync engine, which would go; drop it first"
    )
  }

  /// Removes everything that belongs to an engine, of whatever version, and nothing else.
  static func remove(from connection: SQLiteConnection) throws(SQLiteError) {
    let names = names.map { "'\($0)'" }.joined(separator: ", ")
    let own = """
      type IN ('view', 'table') AND name IN (\(names))
        OR type = 'trigger' AND (name LIKE 'cloudsync\\_capture\\_%' ESCAPE '\\'
          OR name LIKE 'cloudsync\\_action\\_%' ESCAPE '\\')
      """
    // What another version has made is known by how its names begin, and by nothing else.
    let isOfThisVersion = try isOfThisVersion(on: connection)
    let query = try connection.prepare(
      """
      SELECT type, name FROM main.sqlite_schema
      WHERE name LIKE 'cloudsync\\_%' ESCAPE '\\' AND type IN ('trigger', 'view', 'table')
        AND (\(isOfThisVersion ? own : "1"))
      ORDER BY CASE type WHEN 'trigger' THEN 0 WHEN 'view' THEN 1 ELSE 2 END, name
      """
    )
    let found = try query.mapRows { query in (query.text(0) ?? "", query.text(1) ?? "") }
    for (type, name) in found { try connection.execute("DROP \(type) main.\(name.quotedName)") }
  }
}
