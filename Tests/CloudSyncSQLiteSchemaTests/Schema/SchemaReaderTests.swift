import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("DatabaseSchema.read")
struct SchemaReaderTests {
  @Test("Columns, keys and what no pragma tells are read")
  func columns() throws {
    let schema = try schema(
      """
      CREATE TABLE "items" (
        "id" TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
        title TEXT NOT NULL DEFAULT '', -- NOT NULL ON CONFLICT REPLACE
        [Rank Of] INTEGER CONSTRAINT "nn" NOT NULL ON CONFLICT REPLACE DEFAULT -1 CHECK (title <> ')'),
        doubled INT GENERATED ALWAYS AS ("Rank Of" * 2) STORED,
        halved INT AS (1)
      ) STRICT
      """
    )

    let table = try #require(schema.table(named: "ITEMS"))
    #expect(table.columns.map(\.name) == ["id", "title", "Rank Of", "doubled", "halved"])
    #expect(table.columns.map(\.type) == ["TEXT", "TEXT", "INTEGER", "INT", "INT"])
    #expect(table.columns.map(\.replacesNull) == [true, false, true, false, false])
    #expect(table.columns.map(\.isNotNull) == [true, true, true, false, false])
    #expect(table.columns.map(\.defaultSQL) == ["uuid()", "''", "-1", nil, nil])
    #expect(table.writableColumns.map(\.name) == ["id", "title", "Rank Of"])
    #expect(table.primaryKey == ["id"])
    #expect(table.isStrict)
    #expect(!table.hasIntegerKey)
  }

  @Test("A key is the row's number only where SQLite takes it for that")
  func integerKeys() throws {
    let schema = try schema(
      """
      CREATE TABLE a (id INTEGER PRIMARY KEY);
      CREATE TABLE b (id INT PRIMARY KEY);
      CREATE TABLE c (id INTEGER PRIMARY KEY DESC);
      CREATE TABLE d (id INTEGER, PRIMARY KEY (id AUTOINCREMENT));
      CREATE TABLE e (id INTEGER PRIMARY KEY) WITHOUT ROWID;
      CREATE TABLE f (y INT, x INT, PRIMARY KEY (x, y));
      CREATE TABLE g (x)
      """
    )

    #expect(schema.tables.map(\.hasIntegerKey) == [true, false, false, true, false, false, false])
    #expect(
      schema.tables.map(\.isWithoutRowID) == [false, false, false, false, true, false, false]
    )
    #expect(schema.table(named: "f")?.primaryKey == ["x", "y"])
    #expect(schema.table(named: "g")?.primaryKey == [])
  }

  @Test("Foreign keys come in the order of their declaration, with their parents' names")
  func foreignKeys() throws {
    let schema = try schema(
      """
      CREATE TABLE Parent (A TEXT, b TEXT, PRIMARY KEY (A, b));
      CREATE TABLE child (
        id TEXT PRIMARY KEY, parent TEXT REFERENCES CHILD ON DELETE SET NULL ON UPDATE CASCADE,
        x, y, lost REFERENCES nowhere(z),
        FOREIGN KEY (X, y) REFERENCES parent, FOREIGN KEY (y, x) REFERENCES parent (a, B) ON DELETE RESTRICT
      )
      """
    )

    let keys = try #require(schema.table(named: "child")).foreignKeys
    #expect(keys.map(\.table) == ["child", "nowhere", "Parent", "Parent"])
    #expect(keys.map(\.columns) == [["parent"], ["lost"], ["x", "y"], ["y", "x"]])
    #expect(keys.map(\.referencedColumns) == [["id"], [], ["A", "b"], ["A", "b"]])
    #expect(keys.map(\.onDelete) == [.setNull, .noAction, .noAction, .restrict])
    #expect(keys.map(\.onUpdate) == [.cascade, .noAction, .noAction, .noAction])
  }

  @Test("Unique keys are read with expressions, conditions and collations; the primary key is none")
  func uniqueKeys() throws {
    let schema = try schema(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY, a TEXT COLLATE NOCASE, b, UNIQUE (b, a));
      CREATE UNIQUE INDEX i ON t (lower(a), b DESC) WHERE b > 1;
      CREATE INDEX plain ON t (a);
      CREATE TRIGGER tr AFTER INSERT ON t BEGIN SELECT 1; END
      """
    )

    let table = try #require(schema.table(named: "t"))
    #expect(table.uniqueKeys.map(\.name) == ["i", "sqlite_autoindex_t_2"])
    #expect(table.uniqueKeys.map(\.columns) == [[nil, "b"], ["b", "a"]])
    #expect(table.uniqueKeys.map(\.collations) == [["BINARY", "BINARY"], ["BINARY", "NOCASE"]])
    #expect(table.uniqueKeys.map(\.isPartial) == [true, false])
    #expect(table.uniqueKeys.map(\.isConstraint) == [false, true])
    #expect(
      table.dependentSQL.map { String($0.prefix(14)) } == [
        "CREATE UNIQUE ", "CREATE INDEX p", "CREATE TRIGGER",
      ]
    )
  }

  @Test("What is no ordinary table is told apart by name, whatever case and attached databases")
  func kinds() throws {
    let schema = try schema(
      """
      CREATE TABLE b (x); CREATE TABLE "A b" (x);
      CREATE TABLE counted (id INTEGER PRIMARY KEY AUTOINCREMENT);
      CREATE TABLE CloudSync_outbox (x);
      CREATE VIEW v AS SELECT 1;
      CREATE VIRTUAL TABLE search USING fts5(body);
      CREATE TEMP TABLE b (other INTEGER PRIMARY KEY);
      ATTACH ':memory:' AS side; CREATE TABLE side.elsewhere (x)
      """
    )

    #expect(schema.tables.map(\.name) == ["A b", "b", "counted"])
    #expect(schema.table(named: "b")?.columns.map(\.name) == ["x"])
    let names = [
      "B", "V", "search", "search_data", "cloudsync_OUTBOX", "sqlite_sequence", "elsewhere",
    ]
    #expect(
      names.map(schema.kind) == [
        .table, .view, .virtualTable, .shadowTable, .internalTable, .internalTable, .missing,
      ]
    )
  }

  private func schema(_ sql: String) throws -> DatabaseSchema {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(sql)
    return try DatabaseSchema.read(connection)
  }
}
