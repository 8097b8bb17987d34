import CloudSyncCore

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
/// a page of the feed is one range of it. `application_id` is "LCld", `user_version` is 1.
enum SQLiteSchema {
  static let applicationID: Int64 = 0x4c43_6c64
  static let version: Int64 = 1

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
  static func prepare(_ database: SQLiteDatabase) throws(LocalCloudStoreError) {
    if try isEmpty(database) {
      try database.execute("PRAGMA journal_mode = WAL")
      try database.execute("BEGIN IMMEDIATE")
      // Somebody else may have been faster.
      if try isEmpty(database) { try database.execute(tables) }
      try database.execute("COMMIT")
    }
    guard try database.integer("PRAGMA application_id") == applicationID else {
      throw LocalCloudStoreError(
        .foreign,
        path: database.path,
        "it is the database of something else, not of a local cloud; choose another file"
      )
    }
    let found = try database.integer("PRAGMA user_version")
    guard found == version else {
      throw LocalCloudStoreError(
        .unknownVersion,
        path: database.path,
        "it has version \(found), and this program knows version \(version) only; update it"
      )
    }
    try checkTables(database)
    let pages = try database.integer("PRAGMA page_count")
    let size = try database.integer("PRAGMA page_size")
    if pages * size <= checkedByteCount { try checkEverything(database) }
  }

  private static func isEmpty(_ database: SQLiteDatabase) throws(LocalCloudStoreError) -> Bool {
    let count = try database.integer("SELECT count(*) FROM sqlite_schema")
    let application = try database.integer("PRAGMA application_id")
    let version = try database.integer("PRAGMA user_version")
    return count == 0 && application == 0 && version == 0
  }

  private static func checkTables(_ database: SQLiteDatabase) throws(LocalCloudStoreError) {
    let names = "'documents', 'items', 'items_by_name', 'links'"
    let count = try database.integer(
      "SELECT count(*) FROM sqlite_schema WHERE name IN (\(names))"
    )
    guard count == 4 else { throw damaged(database, "tables are missing") }
  }

  /// Reads the whole file and compares its parts.
  static func checkEverything(_ database: SQLiteDatabase) throws(LocalCloudStoreError) {
    let statement = try database.prepare("PRAGMA quick_check(1)")
    guard try statement.step() else { return }
    let text = statement.text(0) ?? "unknown"
    guard text == "ok" else { throw damaged(database, text) }
  }

  private static func damaged(
    _ database: SQLiteDatabase,
    _ reason: String
  ) -> LocalCloudStoreError {
    LocalCloudStoreError(
      .damaged,
      path: database.path,
      "the database is damaged (\(reason)); restore a copy, or delete the file to begin anew"
    )
  }
}
