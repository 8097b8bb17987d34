import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite("cloudsync check and migrate")
struct SchemaCommandTests {
  private static let shop = """
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT NOT NULL, mail TEXT UNIQUE);
    CREATE TABLE "order lines"(
      customer INTEGER NOT NULL REFERENCES customers(id), line INT NOT NULL, note TEXT,
      PRIMARY KEY(customer, line)
    );
    CREATE VIEW names AS SELECT name FROM customers;
    INSERT INTO customers VALUES(1, 'Ann', 'a@x'), (2, 'Bob', NULL);
    INSERT INTO "order lines" VALUES(1, 1, 'tea'), (2, 1, NULL);
    """

  @Test("A schema that stands in the way is explained, with the SQL, and nothing is written")
  func check() throws {
    try ToolHarness.run { bench in
      try bench.sql("shop.db", Self.shop, "SELECT 1")
      let before = bench.bytes("shop.db")
      let result = bench.tool("check", "@shop.db")

      #expect(result.code == 1)
      #expect(result.errors.isEmpty)
      for words in [
        "The primary key \"customers\".\"id\" is an integer",
        "Column \"customers\".\"name\" is NOT NULL without a default",
        "A UNIQUE constraint on \"customers\".\"mail\"", "shop.db --sql --drop-unique",
        "3 errors and 0 warnings in 2 tables", "cloudsync migrate shop.db --all --fix --dry-run",
      ] {
        #expect(result.output.contains(words), "\(words)")
      }
      #expect(bench.bytes("shop.db") == before)
      #expect(try bench.files() == ["shop.db"])
      let json = bench.tool("check", "@shop.db", "--json")
      #expect(json.code == 1 && json.output.contains("\"code\" : \"integerPrimaryKey\""))
      #expect(bench.tool("check", "@shop.db", "--sql").output.hasPrefix("--"))
    }
  }

  @Test("Rows that refer to no row are named before the first sync, and where they wait")
  func dangling() throws {
    try ToolHarness.run { bench in
      let schema = """
        CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL);
        CREATE TABLE c(id TEXT PRIMARY KEY NOT NULL, p TEXT REFERENCES p(id));
        """
      let rows =
        "PRAGMA foreign_keys = OFF; INSERT INTO c VALUES('c1', ''), ('c2', 'x'), ('c3', NULL)"
      try bench.sql("a.db", schema + rows, "SELECT 1")
      try bench.sql("b.db", schema, "SELECT 1")
      let words = "Rows 'c1', 'c2' of \"c\" refer by \"p\" to no row of \"p\""
      let check = bench.tool("check", "@a.db")
      #expect(check.code == 0 && check.output.contains("warning: \(words)"), "\(check)")
      #expect(check.output.contains("2 tables can be synced, with 1 warning"), "\(check)")

      let first = bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all")
      #expect(first.code == 0 && first.errors.contains(words), "\(first)")
      let next = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(next.code == 0 && next.errors.isEmpty, "\(next)")
      let verified = bench.tool("sync", "@a.db", "--cloud", "@c", "--verify")
      #expect(verified.code == 0 && verified.errors.contains(words), "\(verified)")
      let other = bench.tool("sync", "@b.db", "--cloud", "@c", "--all")
      #expect(other.output.contains("which is not in the cloud: correct the reference"), "\(other)")
    }
  }

  @Test("The SQL that check prints fixes what it was printed for")
  func fixBySQL() throws {
    try ToolHarness.run { bench in
      try bench.sql("shop.db", Self.shop, "SELECT 1")
      let rows = try bench.contents("shop.db")
      try bench.sql(
        "shop.db",
        bench.tool("check", "@shop.db", "--sql", "--drop-unique").output,
        "SELECT 1"
      )

      let result = bench.tool("check", "@shop.db", "--unique-integer-keys", "customers")
      #expect(result.code == 0)
      #expect(result.output == "passed: 2 tables can be synced\n")
      #expect(try bench.contents("shop.db") == rows)
    }
  }

  @Test("Policies make rules milder")
  func policies() throws {
    try ToolHarness.run { bench in
      try bench.sql("x.db", "CREATE TABLE a(id INTEGER PRIMARY KEY, b TEXT NOT NULL)", "SELECT 1")
      #expect(bench.tool("check", "@x.db").code == 1)
      let mild = bench.tool(
        "check",
        "@x.db",
        "--allow-missing-defaults",
        "--unique-integer-keys",
        "A"
      )
      #expect(mild.code == 0)
      #expect(mild.output.contains("with 1 warning"))
      let wrong = bench.tool("check", "@x.db", "--unique-integer-keys", "b")
      #expect(wrong.code == 2 && wrong.errors.contains("“b”, which is none of the tables"))
    }
  }

  @Test("A computed default is warned of, and lets the database be synchronized")
  func warnings() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "x.db",
        "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, at TEXT DEFAULT CURRENT_TIMESTAMP)",
        "SELECT 1"
      )
      let result = bench.tool("check", "@x.db")
      #expect(result.code == 0)
      #expect(result.output.contains("warning: The default of \"a\".\"at\" is computed"))
      #expect(result.output.hasSuffix("passed: 1 table can be synced, with 1 warning\n"))
      let json = bench.tool("check", "@x.db", "--json").output
      #expect(json.contains("\"code\" : \"computedDefault\""))
      #expect(json.contains("\"severity\" : \"warning\""))
      #expect(bench.tool("sync", "@x.db", "--cloud", "@c", "--create", "--all").code == 0)
    }
  }

  @Test("A migrated copy can be synchronized, has the same rows, and takes new ones")
  func migrate() throws {
    try ToolHarness.run { bench in
      try bench.sql("shop.db", Self.shop, "SELECT 1")
      let before = bench.bytes("shop.db")
      let result = bench.tool(
        "migrate",
        "@shop.db",
        "--all",
        "--fix",
        "--drop-unique",
        "--output",
        "@new.db"
      )

      #expect(result.code == 0, "\(result)")
      #expect(result.output.hasSuffix("wrote new.db\npassed: all of them can be synced\n"))
      #expect(bench.bytes("shop.db") == before)
      #expect(try bench.files() == ["new.db", "shop.db"])
      #expect(bench.tool("check", "@new.db").code == 0)
      let joined = """
        SELECT name, line, note FROM customers JOIN "order lines" ON customer = id ORDER BY name
        """
      #expect(try bench.sql("new.db", joined) == ["'Ann'|1|'tea'", "'Bob'|1|NULL"])
      let ids = try bench.sql(
        "new.db",
        "INSERT INTO customers(name) VALUES('Cid'), ('Dan')",
        "SELECT DISTINCT id FROM customers WHERE id LIKE '________-____-____-____-____________'"
      )
      #expect(ids.count == 4)
    }
  }

  @Test("A migration in place says what it did, and has nothing to do the second time")
  func migrateInPlace() throws {
    try ToolHarness.run { bench in
      try bench.sql("shop.db", Self.shop, "SELECT 1")
      let first = bench.tool("migrate", "@shop.db", "--all", "--drop-unique", "--salt", "s")
      #expect(first.code == 1)
      #expect(first.output.contains("customers (2 rows): id becomes a UUID\n"))
      #expect(first.output.contains("    customer follows customers\n"))
      #expect(first.errors.contains("cannot be synced yet: Column \"customers\".\"name\""))
      let second = bench.tool("migrate", "@shop.db", "--all", "--fix")
      #expect(
        second.output.contains("customers: name gets a default: by its type '', 0"),
        "\(second)"
      )
      #expect(bench.tool("migrate", "@shop.db", "--all").output.hasPrefix("no table needs it"))
      #expect(try bench.files() == ["shop.db"])
    }
  }

  @Test("A migration that fails leaves the database as it was, and no copy behind")
  func migrationFails() throws {
    try ToolHarness.run { bench in
      try bench.sql("shop.db", Self.shop, "SELECT 1")
      let before = try bench.contents("shop.db")
      let alone = bench.tool("migrate", "@shop.db", "--tables", "customers")
      #expect(alone.code == 1)
      #expect(
        alone.errors.contains("shop.db: The key of table \"customers\" cannot be migrated alone")
      )
      #expect(bench.tool("migrate", "@shop.db", "--all", "--output", "@shop.db").code == 1)
      let copy = bench.tool("migrate", "@shop.db", "--tables", "none", "--output", "@new.db")
      #expect(copy.code == 1 && copy.errors.contains("There is no table \"none\""))
      #expect(try bench.contents("shop.db") == before)
      #expect(try bench.files() == ["shop.db"])
    }
  }

  @Test("A unique key that no policy can settle is to be dropped, and no policy is advised")
  func computedUniqueKey() throws {
    try ToolHarness.run("computed-unique") { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE t(id TEXT PRIMARY KEY, a INT DEFAULT 0, b INT AS (a * 2), UNIQUE(b))",
        "SELECT 1"
      )
      let check = bench.tool("check", "@a.db")
      #expect(check.output.contains("drop UNIQUE: “cloudsync check"), "\(check)")
      #expect(check.output.contains("--sql --drop-unique”"), "\(check)")
      #expect(!check.output.contains("--unique-newest"), "\(check)")

      let sync = bench.tool("sync", "@a.db", "--cloud", "@c.db", "--create", "--all")
      #expect(sync.code == 1 && sync.errors.contains("which no policy can settle"), "\(sync)")
      #expect(!sync.errors.contains("--unique-newest"), "\(sync)")

      let dropping = bench.tool("check", "@a.db", "--sql", "--drop-unique").output
      try bench.sql("a.db", dropping, "SELECT 1")
      #expect(bench.tool("check", "@a.db").code == 0)
    }
  }
}
