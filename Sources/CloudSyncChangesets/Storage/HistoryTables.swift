import CloudSyncSQLiteSchema
import CloudSyncSQLiteSupport

/// The tables of a history, in the database that it is of.
enum HistoryTables {
  /// What the names of all of them begin with, and those of its triggers.
  static let prefix = "changesets_"

  /// Whether a name begins as theirs do, in whatever case.
  static func hasPrefix(name: String) -> Bool { name.foldedName.starts(with: prefix.utf8) }

  /// The version of their form.
  static let version: Int64 = 1

  /// HEAD is the row whose number is 0; the others are the heads of branches.
  private static let creation = """
    CREATE TABLE changesets_info(name TEXT PRIMARY KEY NOT NULL, value) WITHOUT ROWID;
    CREATE TABLE changesets_names(number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE);
    CREATE TABLE changesets_schemas(
      number INTEGER PRIMARY KEY, id BLOB NOT NULL UNIQUE, description BLOB NOT NULL);
    CREATE TABLE changesets_log(
      seq INTEGER PRIMARY KEY, id BLOB, parent INTEGER, merged INTEGER, generation INTEGER,
      time INTEGER, branch INTEGER, schema INTEGER, kind INTEGER, remote INTEGER, state BLOB,
      body BLOB);
    CREATE TABLE changesets_ids(id BLOB PRIMARY KEY NOT NULL, seq INTEGER) WITHOUT ROWID;
    CREATE TABLE changesets_heads(
      number INTEGER PRIMARY KEY, branch INTEGER, seq INTEGER, is_head INTEGER, time INTEGER);
    CREATE TABLE changesets_tables(
      number INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, triggers BLOB);
    CREATE TABLE changesets_tags(
      name TEXT NOT NULL, kind INTEGER NOT NULL, id BLOB, time INTEGER, remote INTEGER,
      PRIMARY KEY(kind, name)) WITHOUT ROWID;
    CREATE TABLE changesets_waiting(
      id BLOB PRIMARY KEY NOT NULL, missing BLOB, bytes BLOB) WITHOUT ROWID;
    CREATE TABLE changesets_refused(
      name TEXT PRIMARY KEY NOT NULL, reason TEXT, bytes BLOB) WITHOUT ROWID;
    CREATE TABLE changesets_fills(
      name TEXT NOT NULL, column TEXT NOT NULL, value, PRIMARY KEY(name, column)) WITHOUT ROWID;
    CREATE TABLE changesets_answers(
      ours BLOB NOT NULL, theirs BLOB NOT NULL, name TEXT NOT NULL, key BLOB NOT NULL, answer BLOB,
      PRIMARY KEY(ours, theirs, name, key)) WITHOUT ROWID;
    CREATE TABLE changesets_conflicts(
      id BLOB NOT NULL, number INTEGER NOT NULL, state INTEGER, PRIMARY KEY(id, number)
    ) WITHOUT ROWID;
    """

  /// The version of the tables that are there; nil if there are none.
  static func installedVersion(
    connection: HistoryConnection
  ) throws(ChangesetError) -> Int64? {
    guard try connection.hasTable("changesets_info") else { return nil }
    guard let version = try Info(connection).integer(.version) else {
      throw ChangesetError(
        .damaged,
        "the history has no version; restore a copy of the database, or remove the history"
      )
    }
    return version
  }

  /// Whether the database is to become a clone, which has been begun and not completed.
  static func isUnfinishedClone(connection: HistoryConnection) throws(ChangesetError) -> Bool {
    guard try installedVersion(connection: connection) != nil else { return false }
    return try Info(connection).integer(.cloning) != nil
  }

  /// Throws unless the tables are of this version.
  static func check(version: Int64) throws(ChangesetError) {
    if version > Self.version {
      throw ChangesetError(
        .newerVersion,
        "the history was written by a newer version (\(version)); update this program"
      )
    }
  }

  static func install(connection: HistoryConnection) throws(ChangesetError) {
    for name in own.sorted() where try connection.hasTable(name) {
      throw ChangesetError(
        .misuse,
        "the database has a table \(name.quotedName) already, and a history needs that name; rename it first"
      )
    }
    try connection.execute(creation)
    try Info(connection).set(.version, .integer(version))
    try connection.run("INSERT INTO changesets_names VALUES(1, 'main')")
    try connection.run("INSERT INTO changesets_heads VALUES(0, 1, NULL, 1, 0)")
  }

  /// Takes the triggers and tables of a history away, and nothing of the app's whose name begins likewise.
  static func remove(connection: HistoryConnection) throws(ChangesetError) {
    // Of a history that has lost the table that tells them any may be one.
    let numbers =
      try connection.hasTable("changesets_tables")
      ? connection.rows("SELECT number FROM changesets_tables") { $0.integer(0) } : nil
    for type in ["trigger", "table"] {
      let names = try connection.rows(
        """
        SELECT name FROM main.sqlite_schema
        WHERE type = ?1 AND substr(name, 1, 11) = 'changesets_' ORDER BY name
        """,
        .text(type)
      ) { $0.text(0) ?? "" }
      for name in names where isOwn(name: name, numbers: numbers) {
        try connection.execute("DROP \(type) main.\(name.quotedName)")
      }
    }
  }

  /// Whether a table or a trigger is the history's: it has one of these names, or one with the number of a tracked table.
  private static func isOwn(name: String, numbers: [Int64]?) -> Bool {
    if own.contains(name) { return true }
    let parts = name.dropFirst(prefix.count).split(separator: "_", omittingEmptySubsequences: false)
    guard parts.count == 2, numbered.contains(String(parts[0])), let number = Int64(parts[1]) else {
      return false
    }
    return numbers?.contains(number) ?? true
  }

  private static let own: Set<String> = Set(
    [
      "info", "names", "schemas", "log", "ids", "heads", "tables", "tags", "waiting", "refused",
      "fills", "answers", "conflicts", "gone", "rebased", "roots", "reports", "snapshots",
    ]
    .map { prefix + $0 }
  )

  /// What stands before the number in the names of mirrors and triggers.
  private static let numbered: Set<String> = [
    "old", "inserted", "insert", "delete", "moved", "move", "update", "replace", "displace",
    "number",
    "renumber",
  ]
}

/// Single facts of a history.
struct Info {
  enum Name: String {
    case version, replica, formerReplicas, schema, ids, imported, cloning
    case token, shown, zone, account, horizon, seen, reach, pushed, lines, era, refill, forgets
    case session, wait, declared, squashed, reported, strays, deletions
  }

  private let connection: HistoryConnection

  init(_ connection: HistoryConnection) { self.connection = connection }

  func value(_ name: Name) throws(ChangesetError) -> SQLiteValue? {
    try connection.row("SELECT value FROM changesets_info WHERE name = ?1", .text(name.rawValue)) {
      $0.value(0)
    }
  }

  func integer(_ name: Name) throws(ChangesetError) -> Int64? { try value(name)?.integer }

  func text(name: Name) throws(ChangesetError) -> String? {
    if case .text(let text)? = try value(name) { text } else { nil }
  }

  func bytes(name: Name) throws(ChangesetError) -> [UInt8]? {
    if case .blob(let bytes)? = try value(name) { bytes } else { nil }
  }

  func set(_ name: Name, _ value: SQLiteValue) throws(ChangesetError) {
    try connection.run("REPLACE INTO changesets_info VALUES(?1, ?2)", .text(name.rawValue), value)
  }
}
