import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("PrimaryKeyMigration.run, with virtual tables and triggers that need integer keys")
struct VirtualTableMigrationTests {
  private static let documents = """
    CREATE TABLE d (id INTEGER PRIMARY KEY, title TEXT, owner INT REFERENCES people);
    CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
    INSERT INTO people VALUES (70, 'Ada'); INSERT INTO d VALUES (1, 'hello', 70), (2, 'world', 70);
    """
  private static let triggers = """
    CREATE TRIGGER d_ai AFTER INSERT ON d BEGIN INSERT INTO f(rowid, title) VALUES (new.id, new.title); END;
    CREATE TRIGGER d_ad AFTER DELETE ON d BEGIN
      INSERT INTO f(f, rowid, title) VALUES ('delete', old.id, old.title);
    END;
    """

  private static func database(_ sql: String) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(documents + sql)
    return connection
  }

  private static let contents = """
    SELECT (SELECT group_concat(sql) FROM sqlite_schema) || (SELECT group_concat(id || title) FROM d)
    """

  private static func refusal(
    of migration: PrimaryKeyMigration,
    on connection: SQLiteConnection
  ) throws -> String {
    let before = try connection.value(contents)
    let error = #expect(throws: KeyMigrationError.self) { try migration.run(on: connection) }
    #expect(try connection.value(contents) == before)
    return error?.reason ?? ""
  }

  @Test(
    "An index that finds rows by the key stands in the way, with its table, its triggers and what to do",
    arguments: [
      (
        "USING fts5(title, content = 'd', content_rowid = 'id')", true,
        "triggers \"d_ai\", \"d_ad\""
      ),
      ("USING fts5(title, content=d)", false, "or drop \"f\", migrate"),
      ("USING fts4(content=\"d\", title)", false, "(fts4) finds the rows of table \"d\""),
      ("USING fts5(title, content='shown')", false, "of table \"d\" by their integer key"),
      // Its texts are its own, but a trigger gives it the numbers.
      ("USING fts5(title)", true, "Keep the integers (--keep-integer-keys)"),
    ]
  )
  func obstacles(declaration: String, hasTriggers: Bool, words: String) throws {
    let connection = try Self.database(
      "CREATE VIEW shown AS SELECT id AS rowid, title FROM d; CREATE VIRTUAL TABLE f \(declaration);"
        + (hasTriggers ? Self.triggers : "")
    )
    let migration = PrimaryKeyMigration(tables: ["d", "people"])
    let reason = try Self.refusal(of: migration, on: connection)
    #expect(reason.contains("Virtual table \"f\"") && reason.contains(words), "\(reason)")
    // A plan says so too.
    #expect(throws: KeyMigrationError.self) { try migration.report(on: connection) }
  }

  @Test("With integer keys that stay such an index goes on working")
  func kept() throws {
    let connection = try Self.database(
      """
      CREATE VIRTUAL TABLE f USING fts5(title, content='d', content_rowid='id'); \(Self.triggers)
      INSERT INTO f(f) VALUES ('rebuild')
      """
    )
    var migration = PrimaryKeyMigration(tables: ["d", "people"])
    migration.keepsIntegerKeys = true
    try migration.run(on: connection)
    try connection.execute(
      "INSERT INTO d(title) VALUES ('three'); DELETE FROM d WHERE title = 'hello'"
    )
    #expect(try connection.integer("SELECT rowid FROM f('three')") == 3)
    #expect(try connection.integer("SELECT count(*) FROM f('hello')") == 0)
  }

  @Test("An index of a column that follows is computed anew")
  func rebuilt() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, name TEXT);
      CREATE TABLE d (id TEXT PRIMARY KEY NOT NULL, owner INT REFERENCES people);
      INSERT INTO people VALUES (70, 'Ada'); INSERT INTO d VALUES ('x', 70);
      CREATE VIRTUAL TABLE f USING fts5(owner, content='d'); INSERT INTO f(f) VALUES ('rebuild')
      """
    )
    try PrimaryKeyMigration(tables: ["d", "people"]).run(on: connection)
    try connection.execute("INSERT INTO f(f, rank) VALUES ('integrity-check', 1)")
    #expect(
      try connection.integer("SELECT count(*) FROM f, people WHERE f MATCH '\"' || id || '\"'") == 1
    )
  }

  @Test("What could be written before and could not after undoes everything, and says what failed")
  func rehearsal() throws {
    let connection = try Self.database(
      """
      CREATE TABLE lengths (item INTEGER NOT NULL, length INTEGER) STRICT;
      CREATE TRIGGER measured AFTER INSERT ON d BEGIN
        INSERT INTO lengths VALUES (new.id, length(new.title));
      END
      """
    )
    let reason = try Self.refusal(
      of: PrimaryKeyMigration(tables: ["d", "people"]),
      on: connection
    )
    #expect(reason.contains("inserting a row into \"d\" (cannot store TEXT value"), "\(reason)")
    #expect(try connection.integer("SELECT count(*) FROM lengths") == 0)
  }

  @Test(
    "Triggers that fail before, or would end the transaction, do not stand in the way",
    arguments: ["SELECT unknown(new.id)", "SELECT RAISE(ROLLBACK, 'never')"]
  )
  func failingBefore(body: String) throws {
    let connection = try Self.database(
      "CREATE TRIGGER odd AFTER INSERT ON d BEGIN \(body); END; CREATE TRIGGER o2 AFTER DELETE ON d BEGIN \(body.replacing("new", with: "old")); END"
    )
    try PrimaryKeyMigration(tables: ["d", "people"]).run(on: connection)
    #expect(try connection.integer("SELECT count(*) FROM d WHERE length(id) = 36") == 2)
  }

  @Test("An index whose row numbers are all keys of a table is told of, whatever writes it")
  func values() throws {
    let connection = try Self.database(
      """
      CREATE VIRTUAL TABLE people_places USING rtree(id, x, y);
      INSERT INTO people_places VALUES (70, 1, 2);
      CREATE VIRTUAL TABLE own USING fts5(body); INSERT INTO own(rowid, body) VALUES (5, 'hers');
      """
    )
    let report = try PrimaryKeyMigration(tables: ["d", "people"]).report(on: connection)
    let found = try #require(report.undeclaredReferences.first)
    #expect(report.undeclaredReferences.count == 1 && !found.canFollow)
    #expect(
      found.reason == "Virtual table \"people_places\" seems to find the rows of table \"people\""
        + " by their integer keys (1 row number is a key there)."
    )
  }
}
