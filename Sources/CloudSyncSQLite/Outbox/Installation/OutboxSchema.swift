import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables that an app's own transactions touch, and what is needed to read them.
///
/// Users may read them; only the triggers and the engine write them.
///
/// ```
/// cloudsync_info(key, value)      the version of the metadata
/// cloudsync_clock(last, …)        one row: the latest time given or seen, and what the engine is writing
/// cloudsync_tables(id, name, …)   the tables that are or were captured
/// cloudsync_outbox(id, time, table_id, change, k0, …)
///                                 captured edits, in their order, until the engine has read them
/// cloudsync_activity              a view: whether it is the engine that writes
/// ```
///
/// **An edit's time** is what the system's clock said, as a Julian day. The reader makes it a time of the
/// hybrid clock: the outbox is read to its end before anything else is seen, so reading gives the times that
/// the triggers would, and an edit needs neither the clock's row nor the outbox's last one. A whole number is
/// a time of the hybrid clock already: an engine that leaves an edit of another engine's tables
/// where it is writes it.
///
/// **Left edits**: up to `left_until` the outbox has only edits of tables that are not in `left_for`, the numbers of the
/// tables of the engine that has read it last.
///
/// **A key** is the values of its columns as they are stored, in columns of the outbox's own: so nothing is
/// lost of NULs, malformed text, reals and BLOBs. Tables with wider keys add columns to the outbox.
///
/// **A change** is -1 for a row inserted, -2 for one deleted, -3 for one that may be replaced by another,
/// -4 for one deleted because its row got another key, which is that of the next edit, and else the changed columns
/// as bits, by their numbers: an integer, or for tables of more than ``ColumnBits/perWord`` columns, several joined
/// by commas. Where not all rows are sent, -5 before a deletion says that the row does not match the condition, and -6
/// is -3 of such a row. Where SQLite writes references by itself, -7 says before a change of a key, or a deletion, that it
/// may do so until then; and where it tells no trigger afterwards what the row was, -7 has that.
///
/// **Kept values** are there for columns whose policies need them: `kept` is how many columns of the
/// table's list there were, `o0` and on what they held before, `n0` and on after.
enum OutboxSchema {
  /// The version of the metadata.
  static let version: Int64 = 9

  static let tables = """
    CREATE TABLE main.cloudsync_info(key TEXT PRIMARY KEY NOT NULL, value);
    INSERT INTO main.cloudsync_info VALUES('version', \(version));
    CREATE TABLE main.cloudsync_clock(
      id INTEGER PRIMARY KEY CHECK(id = 1),
      last INTEGER NOT NULL DEFAULT 0,
      left_until INTEGER NOT NULL DEFAULT 0,
      left_for TEXT,
      fixed INTEGER,
      is_synchronizing INTEGER NOT NULL DEFAULT 0,
      own_table INTEGER,
      own_all INTEGER,
      k0
    );
    INSERT INTO main.cloudsync_clock(id) VALUES(1);
    CREATE TABLE main.cloudsync_tables(
      id INTEGER PRIMARY KEY NOT NULL,
      name TEXT NOT NULL COLLATE NOCASE UNIQUE,
      columns TEXT NOT NULL,
      key TEXT NOT NULL,
      kept TEXT NOT NULL,
      sql TEXT NOT NULL,
      triggers TEXT NOT NULL,
      is_synchronized INTEGER NOT NULL,
      filter TEXT
    );
    CREATE TABLE main.cloudsync_outbox(id INTEGER PRIMARY KEY, time, table_id INTEGER, change, k0);
    CREATE VIEW main.cloudsync_activity AS SELECT is_synchronizing FROM cloudsync_clock;
    """

  /// Makes the tables, or checks that they are there in this version.
  static func prepare(on connection: SQLiteConnection) throws(SyncEngineError) {
    let isThere = try checkedVersion(on: connection) != nil
    try sqlite { () throws(SQLiteError) in
      if isThere { try renumber(on: connection) } else { try connection.execute(tables) }
    }
  }

  /// The version of the metadata that is there; nil if there is none, and an error if it is not this one.
  static func checkedVersion(on connection: SQLiteConnection) throws(SyncEngineError) -> Int64? {
    switch try installedVersion(on: connection) {
    case nil: return nil
    case version: return version
    case let found? where found < version:
      throw SyncEngineError(
        .schema,
        "its metadata has version \(found), which this program does not read; detach it with the version of the"
          + " program that made it, then synchronize it anew"
      )
    case let found?:
      throw SyncEngineError(
        .newerVersion,
        "its metadata has version \(found), and this program knows up to \(version); update it"
      )
    }
  }

  /// The version of the metadata that is there; nil if there is none.
  static func installedVersion(on connection: SQLiteConnection) throws(SyncEngineError) -> Int64? {
    try sqlite { () throws(SQLiteError) in
      let isThere = try connection.integer(
        "SELECT count(*) FROM main.sqlite_schema WHERE name = 'cloudsync_info' AND type = 'table'"
      )
      guard isThere == 1 else { return nil }
      let found = try connection.integer(
        "SELECT value FROM main.cloudsync_info WHERE key = 'version'"
      )
      guard found == keylessVersion else { return found }
      return try hasCompoundKeys(on: connection) ? found : version
    }
  }

  /// The version before, of which nothing but keys of several columns was otherwise.
  private static let keylessVersion: Int64 = 8

  private static func hasCompoundKeys(on connection: SQLiteConnection) throws(SQLiteError) -> Bool {
    try columns(of: "cloudsync_outbox", on: connection).contains("k1")
  }

  /// Gives metadata that is as this version's the number of this version.
  private static func renumber(on connection: SQLiteConnection) throws(SQLiteError) {
    try connection.execute(
      "UPDATE main.cloudsync_info SET value = \(version) WHERE key = 'version' AND value <> \(version)"
    )
  }

  // MARK: Width

  /// Makes room for keys of so many columns and for so many kept ones; what is there stays.
  static func widen(
    on connection: SQLiteConnection,
    keys: Int,
    kept: Int
  ) throws(SQLiteError) {
    let keyColumns = (0..<keys).map { "k\($0)" }
    let keptColumns = kept == 0 ? [] : ["kept"] + (0..<kept).flatMap { ["o\($0)", "n\($0)"] }
    try add(keyColumns + keptColumns, to: "cloudsync_outbox", on: connection)
    try add(keyColumns, to: "cloudsync_clock", on: connection)
  }

  private static func add(
    _ wanted: [String],
    to table: String,
    on connection: SQLiteConnection
  ) throws(SQLiteError) {
    let present = try columns(of: table, on: connection)
    for column in wanted where !present.contains(column) {
      try connection.execute("ALTER TABLE main.\(table) ADD COLUMN \(column)")
    }
  }

  /// The columns that a table has now.
  static func columns(
    of table: String,
    on connection: SQLiteConnection
  ) throws(SQLiteError) -> Set<String> {
    let query =
      try connection.fixedStatement("SELECT name FROM pragma_table_info(?1, 'main')")
      .bind(table, at: 1)
    var names: Set<String> = []
    try query.forEachRow { names.insert(query.text(0) ?? "") }
    return names
  }
}
