import CloudSyncSQLiteSupport
import Testing

@testable import CloudSyncSQLiteSchema

@Suite("SchemaRules.violations")
struct SchemaRulesTests {
  @Test("The schema of the documents keeps all rules; that uuid() is missing is said")
  func documented() throws {
    let schema = try schema(
      """
      CREATE TABLE lists (id TEXT PRIMARY KEY NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()),
        title TEXT NOT NULL DEFAULT '');
      CREATE TABLE items (id TEXT PRIMARY KEY NOT NULL, note TEXT,
        list TEXT NOT NULL REFERENCES lists (id) ON DELETE CASCADE)
      """
    )

    let violations = SchemaRules.violations(in: schema, tables: ["items", "LISTS", "lists"])

    #expect(violations.map(\.code) == [.uuidFunctionMissing])
    #expect(violations.map(\.table) == ["lists"])
    #expect(violations.filter(\.isWarning) == violations)
  }

  @Test("Names that are no tables are refused")
  func kinds() throws {
    let schema = try schema(
      "CREATE VIEW v AS SELECT 1; CREATE VIRTUAL TABLE f USING fts5(x); CREATE TABLE cloudsync_x (y)"
    )

    let violations = SchemaRules.violations(
      in: schema,
      tables: ["v", "f", "f_data", "cloudsync_x", "sqlite_schema", "nothing"]
    )

    #expect(
      violations.map(\.code) == Array(repeating: .notATable, count: 5) + [.missingTable]
    )
    #expect(violations.map(\.reason).contains { $0.contains("\"f\" is a virtual table") })
  }

  @Test("Keys must be there and must not be integers, unless the app gives unique ones")
  func keys() throws {
    let schema = try schema(
      """
      CREATE TABLE none (x); CREATE TABLE number (id BIGINT PRIMARY KEY NOT NULL);
      CREATE TABLE detail (id INTEGER PRIMARY KEY REFERENCES number);
      CREATE TABLE pair (a INT NOT NULL, b INT NOT NULL, PRIMARY KEY (a, b));
      """
    )
    let tables = ["none", "number", "detail", "pair"]

    #expect(
      SchemaRules.violations(in: schema, tables: tables).map(\.code) == [
        .missingPrimaryKey, .integerPrimaryKey,
      ]
    )
    let settled = SchemaRules.violations(in: schema, tables: tables) { _ in
      SchemaPolicy(allowsIntegerKeys: true)
    }
    #expect(settled.map(\.code) == [.missingPrimaryKey])
  }

  @Test("Circles, compound keys and every action are fine; unknown parents are not")
  func references() throws {
    let schema = try schema(
      """
      CREATE TABLE a (id TEXT PRIMARY KEY NOT NULL, up REFERENCES a, b REFERENCES b ON DELETE RESTRICT,
        c REFERENCES outside, d REFERENCES nowhere);
      CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL, a REFERENCES a, x, y, FOREIGN KEY (x, y) REFERENCES p);
      CREATE TABLE p (x, y, PRIMARY KEY (x, y)); CREATE TABLE outside (id TEXT PRIMARY KEY NOT NULL)
      """
    )

    let violations = SchemaRules.violations(in: schema, tables: ["a", "b"])

    #expect(
      violations.map(\.code) == Array(repeating: .foreignKeyToUnsynchronizedTable, count: 3)
    )
    #expect(violations.map(\.column) == ["c", "d", "x, y"])
  }

  @Test("A column that the app does not default is an error, or a warning where it says so")
  func defaults() throws {
    let schema = try schema(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a NOT NULL, b INT NOT NULL DEFAULT NULL, c DEFAULT 1,
        d INT NOT NULL AS (1))
      """
    )

    let strict = SchemaRules.violations(in: schema, tables: ["t"])
    let mild = SchemaRules.violations(in: schema, tables: ["t"]) { _ in
      SchemaPolicy(requiresDefaults: false)
    }

    #expect(strict.map(\.column) == ["a", "b"])
    #expect(Set(strict.map(\.code)) == [.nonNullColumnMustHaveDefault])
    #expect(strict.filter(\.isWarning).isEmpty)
    #expect(mild.count == 2)
    #expect(mild.filter(\.isWarning) == mild)
  }

  @Test("Unique keys need a policy, unless they hold the primary key")
  func uniqueKeys() throws {
    let schema = try schema(
      """
      CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a UNIQUE, b, UNIQUE (b, id));
      CREATE UNIQUE INDEX i ON t (lower(a)) WHERE b
      """
    )

    let violations = SchemaRules.violations(in: schema, tables: ["t"])

    #expect(violations.map(\.column) == ["(expression)", "a"])
    let settled = SchemaRules.violations(in: schema, tables: ["t"]) { _ in
      SchemaPolicy(allowsUniqueKeys: true)
    }
    #expect(settled.isEmpty)
  }

  @Test(
    "A column that a unique key looks at is given no default, unless the key goes",
    arguments: ["UNIQUE (mail)", "UNIQUE (mail, x)"]
  )
  func defaultInUniqueKey(key: String) throws {
    let schema = try schema(
      "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL, x, \(key))"
    )
    let found = SchemaRules.violations(in: schema, tables: ["t"])
    #expect(found.map(\.code) == [.nonNullColumnMustHaveDefault, .uniqueConstraintDisallowed])
    #expect(found[0].sql == nil && found[0].reason.contains("--allow-missing-defaults"))
    #expect(found[1].sql?.contains("DEFAULT ''") == true)
    let merged = SchemaRules.violations(in: schema, tables: ["t"]) { _ in
      SchemaPolicy(requiresDefaults: false, allowsUniqueKeys: true)
    }
    #expect(merged.map(\.code) == [.nonNullColumnMustHaveDefault] && merged[0].isWarning)
  }

  @Test("An expression of an index counts as all that it names; its condition alone does not")
  func defaultInIndex() throws {
    let columns = "id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL, gone INT NOT NULL, b"
    for (index, fixed) in [
      ("(lower(mail), b)", ["gone"]), ("(b) WHERE gone = 0", ["mail", "gone"]),
    ] {
      let schema = try schema("CREATE TABLE t (\(columns)); CREATE UNIQUE INDEX i ON t \(index)")
      let found = SchemaRules.violations(in: schema, tables: ["t"])
        .filter { $0.code == .nonNullColumnMustHaveDefault && $0.sql != nil }
      #expect(found.map(\.column) == fixed)
    }
  }

  @Test("Constant defaults in all columns of a unique key are warned of, others are not")
  func constantDefaults() throws {
    for (columns, isWarned) in [
      ("a NOT NULL DEFAULT '' UNIQUE", true), ("a DEFAULT NULL UNIQUE", false),
      ("a DEFAULT (hex(randomblob(8))) UNIQUE", false), ("a DEFAULT 1, b, UNIQUE (a, b)", false),
      ("a DEFAULT 1, b DEFAULT 2, UNIQUE (a, b)", true),
    ] {
      let schema = try schema("CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, \(columns))")
      let codes = SchemaRules.violations(in: schema, tables: ["t"]).map(\.code)
      #expect(codes.contains(.defaultInUniqueKey) == isWarned, "\(columns)")
    }
  }

  @Test("Of a unique key over a computed column it is said at once that no policy settles it")
  func computedUniqueKeys() throws {
    let schema = try schema(
      "CREATE TABLE t (id TEXT PRIMARY KEY NOT NULL, a, b AS (lower(a))); CREATE UNIQUE INDEX i ON t (b)"
    )
    for isSettled in [false, true] {
      let found = SchemaRules.violations(in: schema, tables: ["t"]) { _ in
        SchemaPolicy(allowsUniqueKeys: isSettled)
      }
      #expect(found.map(\.column) == ["b"])
      #expect(found.first?.reason.contains("no policy can settle: remove it.") == true)
      #expect(found.first?.reason.contains("give the table a policy") == false)
    }
  }

  @Test("What the caller asks beside the rules comes with each table, first")
  func furtherCheck() throws {
    let schema = try schema("CREATE TABLE a (x); CREATE TABLE b (id TEXT PRIMARY KEY NOT NULL)")

    let violations = SchemaRules.violations(
      in: schema,
      tables: ["b", "a"],
      alsoChecking: { [SchemaViolation(.invalidTableName, table: $0.name, reason: "bad")] }
    )

    #expect(violations.map(\.table) == ["b", "a", "a"])
    #expect(
      violations.map(\.code) == [.invalidTableName, .invalidTableName, .missingPrimaryKey]
    )
  }

  @Test("The SQL repairs a table and keeps its rows, numbers, indexes, triggers and comments")
  func repairs() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE parents (id TEXT PRIMARY KEY NOT NULL, code TEXT UNIQUE);
      CREATE TABLE [my table] (
        id INTEGER PRIMARY KEY AUTOINCREMENT, -- the key
        "the name" TEXT CONSTRAINT must NOT NULL ON CONFLICT FAIL COLLATE NOCASE, -- its name
        rank REAL NOT NULL DEFAULT NULL /* never empty */ CONSTRAINT once UNIQUE,
        data NOT NULL, size INT NOT NULL, mark TEXT NOT NULL ON CONFLICT REPLACE DEFAULT (uuid()), code REFERENCES parents (code), -- refers
        UNIQUE (rank, data) CHECK (rank > 0), -- last
        UNIQUE ("the name")
      );
      CREATE UNIQUE INDEX one ON [my table] (data);
      CREATE INDEX two ON [my table] (rank);
      CREATE TRIGGER three AFTER INSERT ON [my table] BEGIN SELECT 1; END;
      CREATE VIEW four AS SELECT * FROM [my table];
      INSERT OR ABORT INTO [my table] VALUES (7, 'a', 1.5, x'00', 3, 'm', NULL), (9, 'b', 2, 'z', 4, 'n', NULL);
      DELETE FROM [my table] WHERE id = 9
      """
    )
    let tables = ["my table", "parents"]
    let policy = { (_: String) in SchemaPolicy(allowsIntegerKeys: true) }
    let before = SchemaRules.violations(
      in: try DatabaseSchema.read(connection),
      tables: tables,
      policy: policy
    )
    let isUnique = { (violation: SchemaViolation) in
      violation.isOfUniqueKey
    }
    // Only what a unique key asks for drops it, and where it stays its columns get no default.
    let keeping = Set(before.filter { !isUnique($0) }.compactMap(\.sql))
    #expect(keeping.count == 1 && keeping.allSatisfy { $0.contains("UNIQUE (rank, data)") })
    #expect(keeping.allSatisfy { $0.contains("REPLACE DEFAULT 0") && !$0.contains("DEFAULT 0.0") })
    #expect(
      before.filter { $0.sql == nil }.compactMap(\.column).prefix(3) == [
        "the name", "rank", "data",
      ]
    )
    let scripts = Set(before.filter(isUnique).compactMap(\.sql))

    #expect(before.count == 11)
    #expect(before.last?.sql == nil, "a foreign key needs the parents' unique key")
    for script in scripts { try connection.execute(script) }
    let schema = try DatabaseSchema.read(connection)
    let after = SchemaRules.violations(in: schema, tables: tables, policy: policy)

    #expect(scripts.count == 1)
    #expect(
      after.map(\.code) == [.uuidFunctionMissing, .computedDefault, .uniqueConstraintDisallowed]
    )
    #expect(schema.tables[0].dependentSQL.count == 3)
    try connection.execute(
      "INSERT OR ABORT INTO [my table] (mark, rank, data, \"the name\") VALUES ('o', 1, '', '')"
    )
    let rows = "SELECT group_concat(id || quote(\"the name\") || quote(data), ' ') FROM four"
    #expect(try connection.value(rows) == .text("7'a'X'00' 10''''"))
    for comment in ["-- the key\n", "-- its name\n", "/* never empty */", "-- refers", "-- last"] {
      #expect(schema.tables[0].sql.contains(comment))
    }
    #expect(schema.tables[0].sql.contains("CHECK (rank > 0)"))
  }

  @Test("The schema's check warns of such keys, and its SQL repairs them, rows included")
  func nullableKeys() throws {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(
      """
      CREATE TABLE notes(id TEXT PRIMARY KEY, title TEXT);
      CREATE TABLE pairs(a TEXT, b INTEGER, title TEXT, PRIMARY KEY(a, b));
      INSERT INTO notes VALUES(NULL, 'x'), ('k', 'y');
      INSERT INTO pairs VALUES(NULL, NULL, 'z')
      """
    )
    let tables = ["notes", "pairs"]

    let violations = SchemaRules.violations(
      in: try DatabaseSchema.read(connection),
      tables: tables
    )
    #expect(violations.map(\.code) == Array(repeating: .nullablePrimaryKey, count: 3))
    #expect(violations.map(\.column) == ["id", "a", "b"])
    #expect(violations.filter(\.isWarning) == violations)
    for sql in [violations[0].sql, violations[1].sql] {
      try connection.execute(try #require(sql))
    }

    let schema = try DatabaseSchema.read(connection)
    #expect(SchemaRules.violations(in: schema, tables: tables) == [])
    #expect(try connection.integer("SELECT count(*) FROM notes WHERE id IS NOT NULL") == 2)
    #expect(try connection.integer("SELECT count(*) FROM pairs WHERE b IS NOT NULL") == 1)
  }

  private func schema(_ sql: String) throws -> DatabaseSchema {
    let connection = try SQLiteConnection(path: ":memory:")
    try connection.execute(sql)
    return try DatabaseSchema.read(connection)
  }
}
