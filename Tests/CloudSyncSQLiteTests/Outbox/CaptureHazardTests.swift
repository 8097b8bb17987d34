import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("Statements that capture must not miss")
struct CaptureHazardTests {
  static let schema = """
    CREATE TABLE t(
      id TEXT PRIMARY KEY NOT NULL, u TEXT COLLATE NOCASE UNIQUE, p INTEGER,
      d TEXT NOT NULL DEFAULT 'default', g TEXT AS (d || p) STORED, CHECK(p <> 13)
    );
    CREATE UNIQUE INDEX some ON t(p) WHERE u = 'red';
    CREATE UNIQUE INDEX computed ON t(g);
    CREATE UNIQUE INDEX expression ON t(length(u) + p);
    """
  static let rows = "INSERT INTO t(id, u, p, d) VALUES('a', 'red', 1, 'x'), ('b', 'blue', 20, 'y')"

  @Test(
    "Whatever is done about conflicts, what came of it is read",
    arguments: SuiteSize.pairs(
      4,
      ["", "OR IGNORE", "OR REPLACE", "OR FAIL", "OR ABORT", "OR ROLLBACK"],
      ["", "PRAGMA recursive_triggers = ON", "PRAGMA foreign_keys = ON"]
    )
  )
  func conflicts(clause: String, pragma: String) throws {
    for kept in [[], ["p"]] {
      for sql in [
        "INSERT \(clause) INTO t(id, u, p, d) VALUES('c', 'RED', 5, 'z')",
        "INSERT \(clause) INTO t(id, u, p, d) VALUES('c', 'new', 20, 'y')",
        "INSERT \(clause) INTO t(id, u, p, d) VALUES('c', 'x', 23, 'z'), ('d', 'blue', 3, 'w')",
        "INSERT \(clause) INTO t(id, u, p, d) VALUES('a', 'blue', 5, 'z')",
        "INSERT \(clause) INTO t(id, u, p, d) VALUES('e', 'e', 13, 'z'), ('f', 'red', 2, 'w')",
        "UPDATE \(clause) t SET u = 'Blue' WHERE id = 'a'",
        "UPDATE \(clause) t SET id = 'b' WHERE id = 'a'",
        "UPDATE \(clause) t SET p = 20, d = 'y' WHERE id = 'a'",
        "UPDATE \(clause) t SET id = 'n' || p, u = 'same'",
        "UPDATE \(clause) t SET p = 13",
      ] {
        let harness = try CaptureHarness(pragma + ";" + Self.schema, kept: kept)
        try harness.execute(Self.rows)
        try harness.read()
        let plain = try SQLiteConnection(path: ":memory:")
        // With recursive triggers, any trigger for deletions makes SQLite refuse what REPLACE does to some
        // rows at once in an index of expressions.
        let trigger = "; CREATE TRIGGER any AFTER DELETE ON t BEGIN SELECT 1; END"
        try plain.execute(pragma + ";" + Self.schema + Self.rows + trigger)
        let (own, expected) = (failure(harness.connection, sql), failure(plain, sql))
        #expect(own == expected, "\(sql)")
        let query =
          "SELECT count(*), group_concat(id || u || p || d) FROM (SELECT * FROM t ORDER BY id)"
        #expect(try harness.connection.value(query) == plain.value(query), "\(sql)")
        try harness.read()
        #expect(try harness.isSame(), "\(sql)")
      }
    }
  }

  private func failure(_ connection: SQLiteConnection, _ sql: String) -> String? {
    do throws(SQLiteError) { try connection.execute(sql) } catch { return error.message }
    return nil
  }

  @Test(
    "The row that OR REPLACE meets by the default of a column that must not be NULL is missed by no one"
  )
  func defaults() throws {
    let harness = try CaptureHarness(
      "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, u TEXT NOT NULL DEFAULT 'one' UNIQUE)"
    )
    for (sql, left) in [
      ("INSERT INTO t(id) VALUES('a')", ["'a'"]),
      ("INSERT OR REPLACE INTO t VALUES('b', NULL)", ["'b'"]),
      (
        "INSERT INTO t VALUES('c', 'two'); UPDATE OR REPLACE t SET u = NULL WHERE id = 'c'", ["'c'"]
      ),
    ] {
      try harness.execute(sql)
      try harness.read()
      #expect(try harness.lines("SELECT id FROM t") == left)
      #expect(try harness.isSame())
    }
  }

  @Test(
    "The row with the number -1 is missed by no one that gets a number of SQLite's choice and removes it",
    arguments: ["", "PRAGMA recursive_triggers = ON;"]
  )
  func chosenNumber(pragma: String) throws {
    let harness = try CaptureHarness(pragma + "CREATE TABLE t(id INTEGER PRIMARY KEY, u UNIQUE)")
    for (sql, left) in [
      ("INSERT INTO t VALUES(-1, 'one'), (2, 'two')", ["-1", "2"]),
      ("INSERT OR REPLACE INTO t(u) VALUES('one')", ["2", "3"]),
      ("INSERT OR REPLACE INTO t VALUES(-1, 'two')", ["-1", "3"]),
      ("REPLACE INTO t VALUES(-1, 'one')", ["-1"]),
    ] {
      try harness.execute(sql)
      try harness.read()
      #expect(try harness.lines("SELECT id FROM t ORDER BY id") == left)
      #expect(try harness.isSame(), "\(sql)")
    }
  }

  @Test(
    "REPLACE is an edit of all columns, unless the connection calls triggers for what it removes"
  )
  func replace() throws {
    let harness = try CaptureHarness("CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a)")
    try harness.execute("INSERT INTO t VALUES('x', 1)")
    try harness.read()
    try harness.execute("REPLACE INTO t VALUES('x', 2)")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' +id=x,a=2@1000.2"])
    try harness.execute("PRAGMA recursive_triggers = ON; REPLACE INTO t VALUES('x', 3)")
    #expect(CaptureHarness.text(try harness.read()) == ["'x' -@1000.4 +id=x,a=3@1000.6"])
  }

  @Test(
    "Tables of every kind are captured",
    arguments: [
      "CREATE TABLE t(id INTEGER PRIMARY KEY, a TEXT, b)",
      "CREATE TABLE t(id INT PRIMARY KEY NOT NULL, a ANY, b REAL) STRICT",
      "CREATE TABLE t(id INT, a TEXT, b, PRIMARY KEY(id, a)) WITHOUT ROWID",
      "CREATE TABLE t(id REAL PRIMARY KEY NOT NULL, a TEXT, b, c AS (a || b), d AS (b) STORED)",
      "CREATE TABLE \"T\"(id INT PRIMARY KEY DESC NOT NULL, a UNIQUE, b NOT NULL ON CONFLICT REPLACE DEFAULT 3)",
    ]
  )
  func tables(schema: String) throws {
    let harness = try CaptureHarness(schema)
    try harness.execute(
      """
      INSERT INTO t(id, a, b) VALUES(1, 'a', 1.5), (2, 'b', 2), (3, 'c', 3);
      UPDATE t SET b = 4 WHERE id = 2; UPDATE t SET id = id + 10, a = 'x' || a WHERE id > 1;
      DELETE FROM t WHERE a = 'xb';
      INSERT OR REPLACE INTO t(id, a, b) VALUES(1, 'a', 7), (5, 'xc', 7);
      INSERT INTO t(id, a, b) VALUES(1, 'a', 8) ON CONFLICT DO UPDATE SET b = 9
      """
    )
    try harness.read()
    #expect(try harness.isSame())
    try harness.execute("DELETE FROM t")
    try harness.read()
    #expect(try harness.isSame() && harness.copy.isEmpty)
  }

  @Test("Names with quotes, and words of SQL")
  func names() throws {
    let harness = try CaptureHarness(
      """
      CREATE TABLE "it's ""a"" table"(
        "select" TEXT, "o""'k" TEXT, "new" TEXT UNIQUE, "k0" INT, PRIMARY KEY("select", "o""'k")
      )
      """,
      tables: ["it's \"a\" table"],
      kept: ["k0", "new"]
    )
    try harness.execute(
      """
      INSERT INTO "it's ""a"" table" VALUES('a', 'b', 'c', 1), ('d', 'e', 'f', 2);
      UPDATE "it's ""a"" table" SET "new" = 'g', "o""'k" = 'x' WHERE "select" = 'a';
      REPLACE INTO "it's ""a"" table" VALUES('q', 'r', 'g', 3)
      """
    )
    try harness.read()
    #expect(try harness.isSame())
  }

  @Test("Temporary tables that hide a synchronized one, or the outbox, change nothing")
  func hidden() throws {
    let harness = try CaptureHarness(
      Self.schema + "CREATE TEMP TABLE t(id TEXT, u); CREATE TEMP TABLE cloudsync_outbox(x);"
        + "CREATE TEMP TABLE cloudsync_clock(x); CREATE TEMP TABLE cloudsync_tables(x);",
      kept: ["p"]
    )
    try harness.execute("INSERT INTO t VALUES('hidden', 'h')")
    try harness.execute("INSERT INTO main.t(id, u) VALUES('a', 'b'), ('c', 'd')")
    try harness.execute(
      "UPDATE main.t SET u = 'e' WHERE id = 'a'; DELETE FROM main.t WHERE id = 'c'"
    )
    try harness.execute("INSERT OR REPLACE INTO main.t(id, u) VALUES('f', 'e')")
    try harness.install()
    try harness.read()
    #expect(harness.copy.count == 1)
    #expect(try harness.isSame())
  }

  @Test(
    "What follows from foreign keys is captured",
    arguments: ["CASCADE", "SET NULL", "SET DEFAULT"]
  )
  func foreignKeys(action: String) throws {
    let harness = try CaptureHarness(
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a);
      CREATE TABLE c(
        id TEXT PRIMARY KEY NOT NULL,
        parent TEXT DEFAULT 'd' REFERENCES t ON DELETE \(action) ON UPDATE \(action)
      );
      """,
      tables: ["t", "c"]
    )
    try harness.execute("INSERT INTO t(id) VALUES('d'), ('p'), ('q')")
    try harness.execute("INSERT INTO c VALUES('1', 'p'), ('2', 'q')")
    try harness.execute("UPDATE t SET id = 'r' WHERE id = 'p'; DELETE FROM t WHERE id = 'q'")
    try harness.read()
    #expect(try harness.isSame())
  }

  /// SQLite looks for such rows by the value as the reference's column would hold it, and tells triggers that one.
  @Test("Keys that a reference of another type would hold otherwise are captured as they are")
  func convertedKeys() throws {
    let harness = try CaptureHarness(
      """
      PRAGMA foreign_keys = ON;
      CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v);
      CREATE TABLE c(id TEXT, p INTEGER REFERENCES t(id) DEFERRABLE INITIALLY DEFERRED);
      CREATE INDEX i ON c(p);
      """
    )
    for sql in [
      "INSERT INTO t(id) VALUES('007'), ('7'), ('1e3'), ('x')",
      "DELETE FROM t WHERE id = '007'",
      "UPDATE t SET id = '008' WHERE id = '1e3'",
      // The reference waits for its row, which comes as '01'.
      "BEGIN; INSERT INTO c VALUES('a', 1); INSERT INTO t VALUES('01', 1); UPDATE c SET p = NULL; COMMIT",
      "DELETE FROM t",
    ] {
      try harness.execute(sql)
      try harness.read()
      #expect(try harness.isSame(), "\(sql)")
    }
  }
}
