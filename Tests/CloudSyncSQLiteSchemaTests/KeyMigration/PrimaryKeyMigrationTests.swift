import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("PrimaryKeyMigration.run")
struct PrimaryKeyMigrationTests {
  @Test("Keys and what refers to them become UUIDs; comments, quotes, rules and spelling stay")
  func texts() throws {
    let connection = try database(
      """
      CREATE TABLE [Parents]( -- one
        [Id]INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT /* key */,
        "na""me" TEXT COLLATE NOCASE NOT NULL DEFAULT 'x'
      );
      create table children (
        "id" integer not null, -- the key
        parent integer constraint belongs references parents on delete cascade default 1,
        Other, `note` TEXT,
        constraint pk primary key (id autoincrement) -- behind
        , check (note <> ')'), foreign key (other) references Parents (id)
      );
      INSERT INTO Parents VALUES (1, 'a'), (7, 'b');
      INSERT INTO children VALUES (3, 7, '1', 'n'), (4, NULL, NULL, NULL)
      """
    )

    let changed = try PrimaryKeyMigration(tables: ["parents", "CHILDREN"]).run(on: connection)

    #expect(changed == ["Parents", "children"])
    let one = DerivedUUID(salt: "").text(table: "Parents", key: "1")
    #expect(
      try connection.value("SELECT sql FROM sqlite_schema WHERE name = 'Parents'")
        == .text(
          """
          CREATE TABLE [Parents]( -- one
            [Id]TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()) /* key */,
            "na""me" TEXT COLLATE NOCASE NOT NULL DEFAULT 'x'
          )
          """
        )
    )
    #expect(
      try connection.value("SELECT sql FROM sqlite_schema WHERE name = 'children'")
        == .text(
          """
          CREATE TABLE children (
            "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), -- the key
            parent TEXT constraint belongs references parents on delete cascade default '\(one)',
            Other TEXT, `note` TEXT -- behind
            , check (note <> ')'), foreign key (other) references Parents (id)
          )
          """
        )
    )
    let join = """
      SELECT group_concat(c.rowid || p."na""me" || q."na""me" || note)
      FROM children c JOIN Parents p ON c.parent = p.id JOIN Parents q ON c.other = q.id
      """
    #expect(try connection.value(join) == .text("3ban"))
    #expect(try connection.integer("SELECT count(*) FROM sqlite_sequence") == 0)
    #expect(try connection.value("SELECT other FROM children") == .text(one))
  }

  @Test("Identifiers depend on table, key and salt alone")
  func deterministic() throws {
    func key(_ salt: String) throws -> SQLiteValue? {
      let connection = try database(
        "CREATE TABLE t (id INTEGER PRIMARY KEY); INSERT INTO t VALUES (5)"
      )
      try PrimaryKeyMigration(tables: ["t"], salt: salt).run(on: connection)
      return try connection.value("SELECT id FROM t")
    }

    #expect(try key("a") == key("a"))
    #expect(try key("a") != key("b"))
    let uuid = DerivedUUID(salt: "a").text(table: "t", key: "5")
    #expect(try key("a") == .text(uuid))
    #expect(uuid.utf8.count == 36)
    #expect(Array(uuid.utf8)[14] == UInt8(ascii: "8"))
    #expect("89ab".utf8.contains(Array(uuid.utf8)[19]))
  }

  @Test("Tables without a key get one in front, under a name that is free")
  func missingKeys() throws {
    let connection = try database(
      """
      CREATE TABLE a (x TEXT, y);
      CREATE TABLE b(
          ID TEXT, -- not a key
          y INT
      );
      CREATE TABLE c ( /* why */ x);
      INSERT INTO a VALUES ('one', 1), ('two', 2); INSERT INTO b VALUES ('i', 1)
      """
    )

    try PrimaryKeyMigration(tables: ["a", "b", "c"]).run(on: connection)

    let key = "TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),"
    let texts = try ["a", "b", "c"]
      .map { try connection.value("SELECT sql FROM sqlite_schema WHERE name = '\($0)'") }
    #expect(
      texts == [
        .text("CREATE TABLE a (\"id\" \(key) x TEXT, y)"),
        .text(
          "CREATE TABLE b(\n    \"uuid_id\" \(key)\n    ID TEXT, -- not a key\n    y INT\n)"
        ),
        .text("CREATE TABLE c ( \"id\" \(key) /* why */ x)"),
      ]
    )
    #expect(
      try connection.value("SELECT id FROM a WHERE x = 'two'")
        == .text(DerivedUUID(salt: "").text(table: "a", row: 2))
    )
    #expect(try connection.value("SELECT ID || y FROM b") == .text("i1"))
  }

  @Test("Self-references, circles, shared keys and join tables keep all that refers to each other")
  func references() throws {
    let connection = try database(
      """
      CREATE TABLE people (id INTEGER PRIMARY KEY, boss INT REFERENCES people, team REFERENCES teams);
      CREATE TABLE teams (id INTEGER PRIMARY KEY, lead INT NOT NULL REFERENCES people (id));
      CREATE TABLE details (id INTEGER PRIMARY KEY REFERENCES people ON DELETE CASCADE, x TEXT) STRICT;
      CREATE TABLE photos (id INTEGER PRIMARY KEY, detail INT REFERENCES details);
      CREATE TABLE members (person INT, team INT, rank INT, PRIMARY KEY (team, person),
        FOREIGN KEY (person) REFERENCES people, FOREIGN KEY (team) REFERENCES teams) WITHOUT ROWID;
      CREATE TABLE days (person INT, team INT, day INT, PRIMARY KEY (person, team, day),
        FOREIGN KEY (team, person) REFERENCES members);
      INSERT INTO people VALUES (1, NULL, 1), (2, 1, 1), (3, 3, NULL);
      INSERT INTO teams VALUES (1, 2); INSERT INTO details VALUES (2, 'd');
      INSERT INTO photos VALUES (9, 2); INSERT INTO members VALUES (2, 1, 5);
      INSERT INTO days VALUES (2, 1, 20)
      """
    )
    try connection.execute("PRAGMA foreign_keys = ON")
    let tables = ["people", "teams", "details", "photos", "members", "days"]

    let changed = try PrimaryKeyMigration(tables: tables).run(on: connection)

    #expect(changed.count == 6)
    #expect(try connection.integer("PRAGMA foreign_keys") == 1)
    #expect(try connection.integer("PRAGMA legacy_alter_table") == 0)
    #expect(try connection.value("SELECT count(*) FROM pragma_foreign_key_check") == .integer(0))
    let join = """
      SELECT p.rowid || b.rowid || t.rowid || d.x || ph.rowid || m.rank || y.day
      FROM people p JOIN people b ON p.boss = b.id JOIN teams t ON t.id = p.team AND t.lead = p.id
      JOIN details d ON d.id = p.id JOIN photos ph ON ph.detail = d.id
      JOIN members m ON m.person = p.id AND m.team = t.id
      JOIN days y ON y.person = p.id AND y.team = t.id
      """
    #expect(try connection.value(join) == .text("211d9520"))
    let schema = try DatabaseSchema.read(connection)
    #expect(schema.table(named: "details")?.isStrict == true)
    #expect(schema.table(named: "details")?.column(named: "id")?.defaultSQL == nil)
    #expect(schema.table(named: "members")?.isWithoutRowID == true)
    #expect(schema.table(named: "members")?.primaryKey == ["team", "person"])
    #expect(
      SchemaRules.violations(in: schema, tables: tables).filter { !$0.isWarning }.map(\.code)
        .isEmpty
    )
    #expect(try PrimaryKeyMigration(tables: tables).run(on: connection).isEmpty)
  }

  @Test("Indexes, triggers and views stay as they were written, and triggers do not run")
  func dependents() throws {
    let connection = try database(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT UNIQUE, up INT REFERENCES t);
      CREATE TABLE log (id TEXT PRIMARY KEY, x);
      CREATE INDEX "an index" ON t (x COLLATE NOCASE DESC) WHERE id IS NOT NULL;
      CREATE UNIQUE /* really */ INDEX only ON T (up);
      CREATE TRIGGER inserted AFTER INSERT ON t BEGIN INSERT INTO log VALUES (new.id, new.x); END;
      CREATE TRIGGER logged AFTER INSERT ON log BEGIN UPDATE t SET x = 'y' WHERE id = 0; END;
      CREATE VIEW v AS SELECT id, x FROM t;
      CREATE TRIGGER instead INSTEAD OF INSERT ON v BEGIN INSERT INTO t (x) VALUES (new.x); END;
      INSERT INTO t VALUES (1, 'one', NULL), (2, 'two', 1);
      DELETE FROM log
      """
    )
    let others = """
      SELECT group_concat(type || name || tbl_name || sql, char(10)) FROM
      (SELECT * FROM sqlite_schema WHERE name NOT IN ('t', 'sqlite_autoindex_t_1') ORDER BY name)
      """
    let before = try connection.value(others)

    try PrimaryKeyMigration(tables: ["t"]).run(on: connection)

    #expect(try connection.value(others) == before)
    #expect(try connection.integer("SELECT count(*) FROM log") == 0)
    #expect(try connection.integer("SELECT count(*) FROM v JOIN t USING (id)") == 2)
    let isUnique = "SELECT count(*) FROM pragma_index_list('t') WHERE \"unique\" AND origin <> 'pk'"
    #expect(try connection.integer(isUnique) == 2)
  }

  @Test("Unique keys go on request, but for those that a foreign key needs")
  func uniqueKeys() throws {
    let connection = try database(
      """
      CREATE TABLE t (id INTEGER PRIMARY KEY, x TEXT UNIQUE, code CONSTRAINT c UNIQUE NOT NULL, UNIQUE (x, code));
      CREATE UNIQUE INDEX i ON t (x);
      CREATE TABLE user (id INTEGER PRIMARY KEY, code REFERENCES t (code))
      """
    )

    try PrimaryKeyMigration(tables: ["t", "user"], dropsUniqueKeys: true).run(on: connection)

    let table = try #require(try DatabaseSchema.read(connection).table(named: "t"))
    #expect(table.uniqueKeys.map(\.columns) == [["code"]])
    #expect(table.dependentSQL == ["CREATE INDEX i ON t (x)"])
  }

  @Test("Keys that are text, NULL or nowhere else are kept apart and followed")
  func oddValues() throws {
    let connection = try database(
      """
      CREATE TABLE t (id INT PRIMARY KEY, x);
      CREATE TABLE u (id INTEGER PRIMARY KEY, t TEXT REFERENCES t);
      INSERT INTO t VALUES (NULL, 'a'), (NULL, 'b'), ('word', 'c'), (1.5, 'd'), (x'01', 'e');
      INSERT INTO u VALUES (1, 'word'), (2, '1.5'), (3, '77'), (4, 'lost')
      """
    )

    try PrimaryKeyMigration(tables: ["t", "u"]).run(on: connection)

    let join =
      "SELECT group_concat(y) FROM (SELECT u.rowid || x AS y FROM u JOIN t ON u.t = t.id ORDER BY 1)"
    #expect(try connection.value("SELECT count(DISTINCT id) FROM t") == .integer(5))
    #expect(try connection.value(join) == .text("1c,2d"))
    let lost = DerivedUUID(salt: "").text(table: "t", key: "77")
    #expect(try connection.integer("SELECT count(*) FROM u WHERE t = '\(lost)'") == 1)
  }

  private func database(_ sql: String) throws -> SQLiteConnection {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(sql)
    return connection
  }
}
