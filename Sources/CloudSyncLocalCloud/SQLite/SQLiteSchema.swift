import CloudSyncSQLiteSupport

/// The tables of a store's file, and how a file is told from others.
///
/// ```
/// documents(key, body)            small values by key: accounts, zones, schema, last answers
/// items(place, zone, name, body)  records and tombstones; the place is zone · 2^40 + position
/// links(zone, target, source)     the record `source` is deleted together with `target`
/// ```
///
/// A zone is the number of one of its lives. Bodies are in the binary form of coded values: that of
/// an item is ``StoredItem/bytes``. Since places rise, a change is added at the end of `items`, and
/// a page of the feed is one range of it. `application_id` is "LCld", `user_version` is 3.
enum SQLiteSchema {
  static let applicationID: Int64 = 0x4c43_6c64
  /// Version 1 had no branch in its counters and tokens, version 2 no marks in accounts; both are read, and become
  /// version 3.
  static let version: Int64 = 3

  private static let tables = """
    CREATE TABLE documents(key TEXT PRIMARY KEY NOT NULL, body BLOB NOT NULL) WITHOUT ROWID;
    CREATE TABLE items(
      place INTEGER PRIMARY KEY NOT NULL,
      zone INTEGER NOT NULL,
      name TEXT NOT NULL,
      body BLOB NOT NULL
    );
    CREATE UNIQUE INDEX items_by_name ON items(zone, name);
    CREATE TABLE links(
      zone INTEGER NOT NULL,
      target TEXT NOT NULL,
      source TEXT NOT NULL,
      PRIMARY KEY(zone, target, source)
    ) WITHOUT ROWID;
    PRAGMA application_id = \(applicationID);
    PRAGMA user_version = \(version);
    """

  /// Above this size a file is not read through when it is opened.
  private static let checkedByteCount: Int64 = 16_000_000

  /// Makes a new file a store, or checks that a file is one.
  static func prepare(
    _ database: SQLiteConnection,
    path: String
  ) throws(LocalCloudStoreError) {
    let header = try LocalCloudStoreError.mapping(path: path) { () throws(SQLiteError) in
      try fillIfEmpty(database: database)
      return try Header(of: database)
    }
    guard header.applicationID == applicationID else {
      throw LocalCloudStoreError(
        .foreign,
        path: path,
        "it is the database of something else, not of a local cloud; choose another file"
      )
    }
    guard (1...version).contains(header.version) else {
      throw LocalCloudStoreError(
        .unknownVersion,
        path: path,
        "it has version \(header.version), and this program knows versions up to \(version); update it"
      )
    }
    guard header.tableCount == 4 else {
      throw LocalCloudStoreError(damagedDatabase: "tables are missing", path: path)
    }
    if header.byteCount <= checkedByteCount { try checkEverything(database: database, path: path) }
    guard header.version < version else { return }
    try LocalCloudStoreError.mapping(path: path) { () throws(SQLiteError) in
      try database.execute("PRAGMA user_version = \(version)")
    }
  }

  private static func fillIfEmpty(database: SQLiteConnection) throws(SQLiteError) {
    guard try isEmpty(database: database) else { return }
    try database.useWriteAheadLog()
    try database.transaction { () throws(SQLiteError) in
      // Somebody else may have been faster.
      if try isEmpty(database: database) { try database.execute(tables) }
    }
  }

  private static func isEmpty(database: SQLiteConnection) throws(SQLiteError) -> Bool {
    let count = try database.integer("SELECT count(*) FROM sqlite_schema")
    let application = try database.integer("PRAGMA application_id")
    let version = try database.integer("PRAGMA user_version")
    return count == 0 && application == 0 && version == 0
  }

  /// Reads the whole file and compares its parts.
  static func checkEverything(
    database: SQLiteConnection,
    path: String
  ) throws(LocalCloudStoreError) {
    let finding = try LocalCloudStoreError.mapping(path: path) { () throws(SQLiteError) in
      let statement = try database.prepare("PRAGMA quick_check(1)")
      return try statement.step() ? statement.text(0) ?? "unknown" : "ok"
    }
    guard finding == "ok" else { throw LocalCloudStoreError(damagedDatabase: finding, path: path) }
  }
}

extension SQLiteSchema {
  /// What tells a store's file from others.
  private struct Header {
    let applicationID: Int64
    let version: Int64
    /// How many of the tables and indexes there are.
    let tableCount: Int64
    let byteCount: Int64

    init(of database: SQLiteConnection) throws(SQLiteError) {
      applicationID = try database.integer("PRAGMA application_id")
      version = try database.integer("PRAGMA user_version")
      let names = "'documents', 'items', 'items_by_name', 'links'"
      tableCount = try database.integer(
        "SELECT count(*) FROM sqlite_schema WHERE name IN (\(names))"
      )
      let pages = try database.integer("PRAGMA page_count")
      byteCount = try pages * database.integer("PRAGMA page_size")
    }
  }
}
