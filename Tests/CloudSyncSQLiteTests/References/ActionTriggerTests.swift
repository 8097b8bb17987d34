import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@Suite("Foreign-key actions without enforcement")
struct ActionTriggerTests {
  /// A schema, what is done with it, and the tables to be synchronized.
  struct Case: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let schema: String
    let edits: [String]
    let tables: [String]

    init(_ name: String, _ tables: [String], _ schema: String, _ edits: String...) {
      testDescription = name
      self.tables = tables
      self.schema = schema
      self.edits = edits
    }
  }

  private static let compound = Case(
    "compound keys",
    ["p", "c"],
    """
    CREATE TABLE p(x TEXT, y INTEGER, PRIMARY KEY(x, y)) WITHOUT ROWID;
    CREATE TABLE c(
      id TEXT PRIMARY KEY NOT NULL, x TEXT DEFAULT 'd', y INTEGER DEFAULT 0,
      FOREIGN KEY(x, y) REFERENCES p ON DELETE SET DEFAULT ON UPDATE CASCADE
    );
    INSERT INTO p VALUES('a', 1), ('a', 2), ('d', 0), ('e', 9);
    INSERT INTO c VALUES('1', 'a', 1), ('2', 'a', 2), ('3', 'a', NULL), ('4', NULL, 1);
    """,
    "UPDATE p SET y = y + 10 WHERE x = 'a'",
    "DELETE FROM p WHERE y = 11",
    "DELETE FROM p WHERE x = 'd'"
  )

  private static let collation = Case(
    "the parent's collation, and names in any case",
    ["Par ent", "c", "n"],
    """
    CREATE TABLE "Par ent"("Key" TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, a TEXT);
    CREATE TABLE c(
      id TEXT PRIMARY KEY NOT NULL,
      "par ref" TEXT REFERENCES "PAR ENT"(KEY) ON DELETE CASCADE ON UPDATE SET NULL
    );
    CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES "par ent" ON DELETE SET NULL
      ON UPDATE CASCADE);
    INSERT INTO "Par ent" VALUES('Ab', 1), ('x', 2), ('y', 3);
    INSERT INTO c VALUES('1', 'AB'), ('2', 'X'), ('3', 'y');
    INSERT INTO n VALUES('1', 'aB'), ('2', 'Y'), ('3', 'x');
    """,
    "UPDATE \"par ent\" SET key = 'aB' WHERE key = 'AB'",
    "UPDATE \"par ent\" SET key = 'z' WHERE key = 'X'",
    "DELETE FROM \"par ent\" WHERE key = 'ab'",
    "DELETE FROM \"Par ent\" WHERE key = 'y'"
  )

  private static let affinity = Case(
    "numbers that are compared as the parent's column has them",
    ["p", "c"],
    """
    CREATE TABLE p(id INT PRIMARY KEY NOT NULL, a TEXT);
    CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p ON DELETE CASCADE);
    INSERT INTO p VALUES(1, 'a'), (2, 'b'); INSERT INTO c VALUES('1', 1), ('2', '2');
    """,
    "DELETE FROM p WHERE id = 1"
  )

  private static let strict = Case(
    "STRICT tables, and generated columns",
    ["p", "c"],
    """
    CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, n INTEGER) STRICT;
    CREATE TABLE c(
      id TEXT PRIMARY KEY NOT NULL, p TEXT, both TEXT GENERATED ALWAYS AS (id || p) STORED,
      q TEXT GENERATED ALWAYS AS (lower(p)) VIRTUAL REFERENCES p(id) ON DELETE CASCADE,
      FOREIGN KEY(p) REFERENCES p(id) ON DELETE SET NULL ON UPDATE CASCADE
    );
    INSERT INTO p VALUES('a', 1), ('b', 2), ('c', 3);
    INSERT INTO c(id, p) VALUES('1', 'a'), ('2', 'b');
    """,
    "UPDATE p SET n = 4 WHERE id = 'a'",
    "DELETE FROM p WHERE id = 'c'",
    "DELETE FROM p WHERE id = 'a'"
  )

  private static let restrict = Case(
    "RESTRICT, and a row that refers to itself",
    ["p", "c"],
    """
    CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES p ON DELETE RESTRICT);
    CREATE TABLE c(
      id TEXT PRIMARY KEY NOT NULL,
      p TEXT REFERENCES p(id) ON DELETE RESTRICT ON UPDATE RESTRICT
    );
    INSERT INTO p VALUES('a', NULL), ('b', 'a'), ('c', 'c'), ('d', NULL);
    INSERT INTO c VALUES('1', 'd');
    """,
    "DELETE FROM p WHERE id = 'a'",
    "DELETE FROM p WHERE id = 'c'",
    "UPDATE p SET id = 'e' WHERE id = 'd'",
    "UPDATE p SET id = 'f' WHERE id = 'b'",
    "DELETE FROM p WHERE id = 'd'",
    "DELETE FROM p"
  )

  private static let circle = Case(
    "a circle of two tables, with others that hang on it",
    ["a", "b", "x"],
    """
    CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, b TEXT REFERENCES b(id) ON DELETE CASCADE);
    CREATE TABLE b(id TEXT PRIMARY KEY NOT NULL, a TEXT REFERENCES a(id) ON DELETE CASCADE);
    CREATE TABLE x(
      id TEXT PRIMARY KEY NOT NULL, a TEXT REFERENCES a ON DELETE SET NULL,
      b TEXT REFERENCES b ON DELETE CASCADE
    );
    INSERT INTO a VALUES('1', NULL); INSERT INTO b VALUES('2', '1'); INSERT INTO a VALUES('3', '2');
    INSERT INTO b VALUES('4', '3'), ('5', NULL); INSERT INTO a VALUES('6', '5'), ('7', NULL);
    UPDATE a SET b = '4' WHERE id = '1';
    INSERT INTO x VALUES('1', '3', NULL), ('2', '7', '4'), ('3', '7', '5');
    """,
    "DELETE FROM b WHERE id = '5'",
    "DELETE FROM a WHERE id = '3'"
  )

  private static let tenants = Case(
    "a key that is handed down from row to row when it changes",
    ["t"],
    """
    CREATE TABLE t(
      tenant TEXT NOT NULL, id TEXT NOT NULL, up TEXT, PRIMARY KEY(tenant, id),
      FOREIGN KEY(tenant, up) REFERENCES t(tenant, id) ON UPDATE CASCADE ON DELETE CASCADE
    );
    INSERT INTO t VALUES('1', 'a', NULL), ('1', 'b', 'a'), ('1', 'c', 'b'), ('1', 'd', 'c'),
      ('2', 'x', NULL), ('1', 'e', 'a');
    """,
    "UPDATE t SET tenant = '3' WHERE id = 'a'",
    "UPDATE t SET id = 'bb' WHERE id = 'b'",
    "DELETE FROM t WHERE id = 'bb'",
    "UPDATE t SET tenant = '4' WHERE tenant = '3' AND up IS NULL"
  )

  static let cases = [compound, collation, affinity, strict, restrict, circle, tenants]

  private static var options: SyncEngineOptions {
    var options = SyncEngineOptions()
    options.defaultTable.hasUniqueIntegerKeys = true
    return options
  }

  /// Does the edits one by one; returns the tables and what was captured after each.
  private func outcomes(
    of one: Case,
    isEnforced: Bool,
    alsoNative: Bool = false,
    isRecursive: Bool = false
  ) throws -> [[String]] {
    let bench = SyncHarness()
    let device = try bench.device(
      "mac",
      one.schema,
      tables: one.tables,
      options: Self.options,
      enforcesForeignKeys: isEnforced
    )
    try device.execute(
      "PRAGMA foreign_keys = \(isEnforced || alsoNative);"
        + "PRAGMA recursive_triggers = \(isRecursive); DELETE FROM cloudsync_outbox"
    )
    let keys = try device.lines("SELECT name FROM pragma_table_info('cloudsync_outbox')")
      .map { $0.replacing("'", with: "") }.filter { $0.count == 2 && $0.hasPrefix("k") }
    var outcomes: [[String]] = []
    for edit in one.edits {
      var outcome: [String] = [edit]
      do throws(SyncEngineError) { try device.database.execute(edit) } catch {
        outcome.append(
          error.reason.contains("FOREIGN KEY constraint failed") ? "refused" : error.reason
        )
      }
      for table in one.tables {
        outcome += try device.lines("SELECT '\(table)', * FROM \"\(table)\" ORDER BY 2, 3")
      }
      outcome += try device.lines(
        "SELECT table_id, \(keys.joined(separator: ", ")), change FROM cloudsync_outbox"
          + " GROUP BY 1, 2, 3, change ORDER BY 1, 2, 3, change"
      )
      if !isEnforced {
        #expect(try device.lines("SELECT * FROM cloudsync_circle") == [])
      }
      outcomes.append(outcome)
    }
    return outcomes
  }

  @Test(
    "They do what SQLite does where it enforces them, and are captured",
    arguments: SuiteSize.some(2, of: cases)
  )
  func likeSQLite(one: Case) throws {
    let native = try outcomes(of: one, isEnforced: true)

    #expect(try outcomes(of: one, isEnforced: false) == native)
    #expect(try outcomes(of: one, isEnforced: false, isRecursive: true) == native)
  }

  @Test(
    "They do not disturb a connection that enforces foreign keys",
    arguments: SuiteSize.some(2, of: cases)
  )
  func besideSQLite(one: Case) throws {
    let native = try outcomes(of: one, isEnforced: true)

    #expect(try outcomes(of: one, isEnforced: false, alsoNative: true) == native)
  }

  @Test("They are removed when the engine's connection enforces foreign keys, and by tearing down")
  func removal() throws {
    let one = Self.circle
    let bench = SyncHarness()
    let device = try bench.device("mac", one.schema, tables: one.tables, enforcesForeignKeys: false)
    let triggers = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cloudsync_action_%'"
    let made = try device.lines(triggers)
    device.engine = try bench.engine("mac", device.database, one.tables)

    #expect(try device.lines(triggers) == made && made != ["0"])

    try device.execute("PRAGMA foreign_keys = ON")
    device.engine = try bench.engine("mac", device.database, one.tables)

    #expect(try device.lines(triggers) == ["0"])

    try device.execute("PRAGMA foreign_keys = OFF")
    device.engine = try bench.engine("mac", device.database, one.tables)
    try device.engine.tearDown()

    #expect(
      try device.lines("SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'") == []
    )
  }

  @Test("A chain of 10,000 rows goes in one statement", arguments: [true, false])
  func chain(isRecursive: Bool) throws {
    let bench = SyncHarness()
    let schema = """
      CREATE TABLE folders(
        id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES folders ON DELETE CASCADE
      );
      CREATE INDEX folders_up ON folders(up);
      """
    let device = try bench.device(
      "mac",
      schema,
      tables: ["folders"],
      enforcesForeignKeys: false
    )
    try device.execute(
      """
      PRAGMA recursive_triggers = \(isRecursive);
      WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 10000)
      INSERT INTO folders SELECT 'f' || i, nullif('f' || (i - 1), 'f0') FROM n;
      DELETE FROM cloudsync_outbox;
      DELETE FROM folders WHERE id = 'f1'
      """
    )

    #expect(try device.lines("SELECT count(*) FROM folders") == ["0"])
    #expect(try device.lines("SELECT count(*) FROM cloudsync_outbox") == ["10000"])
  }
}
