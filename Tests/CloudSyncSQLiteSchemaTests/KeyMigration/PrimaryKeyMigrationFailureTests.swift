import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("PrimaryKeyMigration.run, refused")
struct PrimaryKeyMigrationFailureTests {
  @Test(
    "What stands in the way is named, and nothing is changed",
    arguments: [
      (["nothing"], "There is no table \"nothing\""),
      (["v"], "\"v\" is a view"),
      (["a"], "\"b\", \"c\": migrate them together"),
      (["checked"], "CHECK constraint failed"),
      (["busy"], "Table \"busy\" is being synchronized"),
      (["made", "a", "b", "c"], "\"made\".\"a\" is generated"),
      (["hidden"], "rename the column \"rowid\""),
    ]
  )
  func refused(tables: [String], reason: String) throws {
    let connection = try SQLiteConnection(path: ":memory:")
    let made =
      tables == ["a"] ? "" : "CREATE TABLE made (id TEXT PRIMARY KEY, a INT AS (1) REFERENCES a);"
    try connection.execute(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY, x);
      CREATE TABLE b (id TEXT PRIMARY KEY, a INT REFERENCES a);
      CREATE TABLE c (id TEXT PRIMARY KEY, a INT REFERENCES a);
      CREATE TABLE checked (id INTEGER PRIMARY KEY CHECK (typeof(id) = 'integer'));
      CREATE TABLE busy (id INTEGER PRIMARY KEY);
      CREATE TRIGGER cloudsync_busy AFTER INSERT ON busy BEGIN SELECT 1; END;
      CREATE TABLE hidden (rowid, oid, _rowid_);
      CREATE VIEW v AS SELECT 1; \(made)
      INSERT INTO a VALUES (1, 2); INSERT INTO checked VALUES (3);
      PRAGMA foreign_keys = ON
      """
    )
    let contents = """
      SELECT (SELECT group_concat(sql) FROM sqlite_schema) || (SELECT id || x FROM a)
      || (SELECT id FROM checked)
      """
    let before = try connection.value(contents)

    let error = #expect(throws: KeyMigrationError.self) {
      try PrimaryKeyMigration(tables: tables).run(on: connection)
    }

    #expect(error?.reason?.contains(reason) == true, "\(error?.reason ?? "")")
    #expect(try connection.value(contents) == before)
    #expect(try connection.integer("SELECT count(*) FROM sqlite_temp_schema") == 0)
    #expect(try connection.integer("PRAGMA foreign_keys") == 1)
    #expect(try connection.integer("PRAGMA legacy_alter_table") == 0)
    #expect(!connection.isInTransaction)
  }

  @Test("Within a transaction nothing is begun")
  func transaction() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute("CREATE TABLE t (id INTEGER PRIMARY KEY); BEGIN")

    #expect(throws: KeyMigrationError.self) {
      try PrimaryKeyMigration(tables: ["t"]).run(on: connection)
    }
    #expect(connection.isInTransaction)
  }

  @Test("References that point nowhere already are no reason to refuse")
  func dangling() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, up INT REFERENCES t, gone INT REFERENCES nowhere);
      INSERT INTO t VALUES (1, 2, 3)
      """
    )

    try PrimaryKeyMigration(tables: ["t"]).run(on: connection)

    #expect(try connection.integer("SELECT count(*) FROM pragma_foreign_key_check") == 2)
    let uuid = DerivedUUID(salt: "").text(table: "t", key: "2")
    #expect(try connection.integer("SELECT up = '\(uuid)' AND gone = 3 FROM t") == 1)
  }
}
