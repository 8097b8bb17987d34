import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync migrate: the plan, references that nobody declared, and integer keys that stay")
struct MigrateCommandTests {
  /// A shop whose references nobody declared.
  private static let shop = """
    CREATE TABLE customers(
      id INTEGER PRIMARY KEY AUTOINCREMENT, name TEXT DEFAULT '', mail TEXT UNIQUE
    );
    CREATE TABLE orders(id INTEGER PRIMARY KEY, customer_id INTEGER, quantity INT, made_by INT);
    CREATE TABLE folders(id INTEGER PRIMARY KEY, parent_id INTEGER, name TEXT DEFAULT '');
    CREATE VIEW first AS SELECT name FROM customers WHERE id = 1;
    CREATE TRIGGER log AFTER INSERT ON orders BEGIN
      UPDATE customers SET name = name || last_insert_rowid() WHERE 0;
    END;
    INSERT INTO customers(name) VALUES('Ada'), ('Bob'), ('Cy');
    INSERT INTO orders(customer_id, quantity, made_by) VALUES(1, 2, 9), (2, 3, 9), (2, 1, 9);
    INSERT INTO folders VALUES(1, 0, 'root'), (2, 1, 'a'), (3, 2, 'b');
    """
  private static let joined =
    "SELECT name, quantity FROM customers JOIN orders ON customer_id = customers.id ORDER BY 1, 2"

  @Test("A plan names what looks like a reference, what is dropped and what means something else")
  func plan() throws {
    try ToolHarness.run { bench in
      try bench.sql("s.db", Self.shop, "SELECT 1")
      let before = bench.bytes("s.db")
      let plan = bench.tool("migrate", "@s.db", "--all", "--drop-unique", "--dry-run")
      // As the run would: something is to be decided before.
      #expect(plan.code == 1, "\(plan)")
      for words in [
        "customers (3 rows): id becomes a UUID", "dropped: UNIQUE (mail)",
        "AUTOINCREMENT of \"customers\".\"id\" is dropped",
        "View \"first\" compares \"id\" with a number (id = 1)",
        "Trigger \"log\" calls last_insert_rowid()",
        "ORDER BY a key, last_insert_rowid() and conditions such as id = 1",
        "\"orders\".\"customer_id\" looks like a reference to table \"customers\" without saying so (all 3",
        "\"folders\".\"parent_id\" looks like a reference to table \"folders\" without saying so (2 of 3",
        "--follow orders.customer_id=customers, or --leave orders.customer_id",
        // Three numbers may be keys by chance: nobody has to say anything of them.
        "guess: Column \"orders\".\"quantity\" may refer to table \"customers\" or \"folders\" or \"orders\"",
      ] {
        #expect(plan.output.contains(words), "\(words): \(plan)")
      }
      #expect(!plan.output.contains("made_by"), "\(plan)")
      let json = bench.tool("migrate", "@s.db", "--all", "--dry-run", "--json")
      #expect(json.code == 1 && json.output.contains("\"isOpen\" : true"), "\(json)")
      #expect(json.output.contains("\"droppedUniqueKeys\" : ["))
      let check = bench.tool("check", "@s.db", "--json")
      #expect(check.output.contains("\"code\" : \"undeclaredReference\""), "\(check)")
      #expect(!check.output.contains("quantity"), "\(check)")
      #expect(bench.bytes("s.db") == before)
      #expect(try bench.files() == ["s.db"])
    }
  }

  @Test("Nothing is changed until each of them is named, and what is named follows")
  func references() throws {
    try ToolHarness.run { bench in
      try bench.sql("s.db", Self.shop, "SELECT 1")
      let before = bench.bytes("s.db")
      let rows = try bench.sql("s.db", Self.joined)
      let refused = bench.tool("migrate", "@s.db", "--all")
      #expect(refused.code == 1 && refused.errors.contains("nothing was changed"), "\(refused)")
      #expect(bench.bytes("s.db") == before)
      for (option, words) in [
        ("orders.nothing=customers", "no column \"orders\".\"nothing\""),
        ("orders.customer_id=nobody", "\"nobody\" has no integer key"),
        ("orders", "TABLE.COLUMN=PARENT"),
        ("orders.customer_id=custmers", "--follow names “custmers”; did you mean “customers”?"),
        ("order.customer_id=customers", "--follow names “order”; did you mean “orders”?"),
      ] {
        let wrong = bench.tool("migrate", "@s.db", "--all", "--follow", option)
        #expect(wrong.code != 0 && wrong.errors.contains(words), "\(wrong)")
      }
      let left = bench.tool("migrate", "@s.db", "--all", "--leave", "ordesr.customer_id")
      #expect(
        left.code == 2 && left.errors.contains("--leave names “ordesr”; did you mean “orders”?")
      )
      let done = bench.tool(
        "migrate",
        "@s.db",
        "--all",
        "--follow",
        "orders.customer_id=customers, folders.parent_id=folders",
        "--keep-old-keys",
        "--key-map",
        "@keys.csv",
        "--output",
        "@n.db"
      )
      // Defaults are missing, which is told: the keys are changed all the same.
      #expect(done.code == 1 && done.output.contains("wrote "), "\(done)")
      #expect(bench.bytes("s.db") == before)
      #expect(try bench.sql("n.db", Self.joined) == rows)
      #expect(
        try bench.sql("n.db", "SELECT old_id, length(id) FROM customers ORDER BY 1")
          == ["1|36", "2|36", "3|36"]
      )
      // What is no key stays: here it stands for none.
      #expect(
        try bench.sql(
          "n.db",
          """
          SELECT a.name, coalesce(b.name, a.parent_id) FROM folders a
          LEFT JOIN folders b ON b.id = a.parent_id ORDER BY 1
          """
        ) == ["'a'|'root'", "'b'|'a'", "'root'|'0'"]
      )
      // UNIQUE goes only when that is asked for.
      #expect(throws: (any Error).self) {
        try bench.sql("n.db", "UPDATE customers SET mail = 'x'", "SELECT 1")
      }
      let map = String(decoding: try #require(bench.bytes("keys.csv")), as: UTF8.self)
      let lines = map.split(separator: "\n")
      #expect(lines.count == 10 && lines[0] == "table,old,new", "\(map)")
      let key = try bench.sql("n.db", "SELECT id FROM customers WHERE old_id = 2")[0]
      #expect(lines.contains("customers,2,\(key.dropFirst().dropLast())"), "\(map)")
      let again = bench.tool("migrate", "@s.db", "--all", "--output", "@n.db", "--leave", "x.y")
      #expect(again.code == 1)
    }
  }

  @Test(
    "Whatever its name, a column of many keys waits for a decision, also where several tables have them",
    arguments: ["boss", "owner_id"]
  )
  func values(column: String) throws {
    try ToolHarness.run { bench in
      let count = column == "boss" ? 12 : 3
      try bench.sql(
        "s.db",
        """
        CREATE TABLE person(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE place(id INTEGER PRIMARY KEY, name TEXT);
        CREATE TABLE task(id INTEGER PRIMARY KEY, \(column) INT, minutes INT);
        WITH n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < \(count))
        INSERT INTO person SELECT i, 'p' || i FROM n;
        INSERT INTO place SELECT id, 'here' FROM person;
        INSERT INTO task SELECT id + 100, id, 15 * id FROM person;
        """,
        "SELECT 1"
      )
      let before = bench.bytes("s.db")
      let refused = bench.tool("migrate", "@s.db", "--all")
      #expect(refused.code == 1 && refused.errors.contains("nothing was changed"), "\(refused)")
      #expect(bench.bytes("s.db") == before)
      for words in [
        "table \"person\" or \"place\" without saying so",
        "--follow task.\(column)=person, --follow task.\(column)=place, or --leave task.\(column)",
      ] {
        #expect(refused.output.contains(words), "\(words): \(refused)")
      }
      #expect(!refused.output.contains("minutes"), "\(refused)")
      let done = bench.tool("migrate", "@s.db", "--all", "--follow", "task.\(column)=person")
      #expect(done.code == 0, "\(done)")
      let joined = "SELECT count(*) FROM task JOIN person ON person.id = task.\(column)"
      #expect(try bench.sql("s.db", joined) == ["\(count)"])
    }
  }

  @Test("A column that only looks like a reference keeps its values")
  func left() throws {
    try ToolHarness.run { bench in
      try bench.sql("s.db", Self.shop, "SELECT 1")
      let columns = "orders.customer_id,folders.parent_id"
      let fixes = ["--fix", "--drop-unique"]
      let done = bench.run(["migrate", "@s.db", "--all", "--leave", columns] + fixes)
      #expect(done.code == 0, "\(done)")
      #expect(
        try bench.sql("s.db", "SELECT DISTINCT typeof(customer_id) FROM orders") == ["'integer'"]
      )
    }
  }

  @Test("--fix adds defaults and drops nothing")
  func fix() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "s.db",
        "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL, n INT NOT NULL, m TEXT UNIQUE)",
        "SELECT 1"
      )
      let done = bench.tool("migrate", "@s.db", "--all", "--fix")
      #expect(done.code == 1 && done.output.contains("a: n gets a default"), "\(done)")
      #expect(done.errors.contains("UNIQUE"), "\(done)")
      let sql = try bench.sql("s.db", "SELECT sql FROM sqlite_schema WHERE name = 'a'")[0]
      #expect(sql.contains("UNIQUE") && sql.contains("DEFAULT 0"), "\(sql)")
      #expect(bench.tool("check", "@s.db", "--sql").output.isEmpty)
      let dropping = bench.tool("check", "@s.db", "--sql", "--drop-unique").output
      #expect(dropping.contains("CREATE TABLE") && !dropping.contains("UNIQUE"), "\(dropping)")
    }
  }

  @Test(
    "Integer keys stay: each copy counts in ranges of its own, and an app's queries work as before"
  )
  func integerKeys() throws {
    try ToolHarness.run { bench in
      try bench.sql("s.db", Self.shop, "SELECT 1")
      let keep = "--keep-integer-keys"
      let plan = bench.tool("migrate", "@s.db", "--all", keep, "--dry-run")
      #expect(
        plan.output.contains("orders (3 rows): id stays, and becomes AUTOINCREMENT"),
        "\(plan)"
      )
      #expect(bench.tool("migrate", "@s.db", "--all", keep, "--key-map", "@m").code == 2)
      #expect(bench.tool("sync", "@s.db", "--cloud", "@c", "--create", "--all", keep).code == 1)
      #expect(bench.tool("migrate", "@s.db", "--all", keep, "--drop-unique").code == 0)
      try FileManager.default.copyItem(atPath: bench.path("s.db"), toPath: bench.path("t.db"))
      func sync(_ names: String...) {
        for name in names {
          let result = bench.tool("sync", "@\(name)", "--cloud", "@c", "--create", "--all", keep)
          #expect(result.code == 0, "\(result)")
        }
      }
      sync("s.db", "t.db")
      var last = try bench.sql("s.db", "SELECT max(id) FROM customers")[0]
      for round in 1...3 {
        // Both insert without having seen each other's row.
        for name in ["s.db", "t.db"] {
          let inserted = try bench.sql(
            name,
            "INSERT INTO customers(name) VALUES('\(name) \(round)')",
            "INSERT INTO orders(customer_id, quantity) VALUES(last_insert_rowid(), \(round))",
            "SELECT name FROM customers WHERE id = (SELECT customer_id FROM orders ORDER BY id DESC)"
          )
          #expect(inserted == ["'\(name) \(round)'"])
        }
        sync("s.db", "t.db", "s.db")
        let greatest = try bench.sql("s.db", "SELECT max(id) FROM customers")[0]
        #expect(try #require(Int64(greatest)) > #require(Int64(last)))
        last = greatest
      }
      #expect(try bench.contents("s.db") == bench.contents("t.db"))
      #expect(try bench.sql("s.db", "SELECT count(*) FROM customers") == ["9"])
      #expect(try bench.sql("s.db", "SELECT count(*) FROM (\(Self.joined))") == ["9"])
      // What a later round has inserted comes later.
      let names = try bench.sql(
        "t.db",
        "SELECT substr(name, -1) FROM customers WHERE id > 3 ORDER BY id"
      )
      #expect(names == ["'1'", "'1'", "'2'", "'2'", "'3'", "'3'"])
      #expect(try bench.sql("t.db", "SELECT name FROM first") == ["'Ada'"])
    }
  }

  // MARK: Two files

  private static let two = """
    CREATE TABLE customers(id INTEGER PRIMARY KEY, name TEXT DEFAULT '');
    INSERT INTO customers(name) VALUES('Ada');
    """

  @Test(
    "Rows of two files that have the same number stay two rows with keys of their own"
  )
  func separateFiles() throws {
    try ToolHarness.run { bench in
      for (file, name) in [("a.db", "Bob"), ("b.db", "Eve")] {
        try bench.sql(file, Self.two, "INSERT INTO customers(name) VALUES('\(name)')", "SELECT 1")
      }
      for areOwn in [true, false] {
        let cloud = areOwn ? "@own.cloud" : "@shared.cloud"
        for file in ["a", "b"] {
          let arguments =
            ["migrate", "@\(file).db", "--all", "--output", "@\(file)-\(cloud.dropFirst()).db"]
            + (areOwn ? ["--own-keys"] : [])
          let done = bench.run(arguments)
          #expect(done.code == 0, "\(done)")
          #expect(done.errors.contains("keys are this file's own") == areOwn, "\(done)")
        }
        let first = bench.tool(
          "sync",
          "@a-\(cloud.dropFirst()).db",
          "--cloud",
          cloud,
          "--create",
          "--all"
        )
        #expect(first.code == 0 && first.errors.isEmpty, "\(first)")
        let second = bench.tool("sync", "@b-\(cloud.dropFirst()).db", "--cloud", cloud, "--all")
        #expect(second.code == 0, "\(second)")
        let names = try bench.sql(
          "b-\(cloud.dropFirst()).db",
          "SELECT name FROM customers ORDER BY 1"
        )
        #expect(
          names == (areOwn ? ["'Ada'", "'Ada'", "'Bob'", "'Eve'"] : ["'Ada'", "'Bob'"])
        )
        // What is lost where the files are no copies is told, with a row.
        let isTold = second.errors.contains("1 row had other values than the cloud")
        #expect(isTold != areOwn, "\(second)")
      }
    }
  }

  @Test("The salt that a run names gives another copy the same keys")
  func salt() throws {
    try ToolHarness.run { bench in
      for file in ["a.db", "b.db"] { try bench.sql(file, Self.two, "SELECT 1") }
      let first = bench.tool("migrate", "@a.db", "--all", "--own-keys")
      let salt = try #require(first.errors.split(separator: " ").last).filter { !$0.isNewline }
      #expect(bench.tool("migrate", "@b.db", "--all", "--salt", String(salt)).code == 0)
      #expect(bench.tool("migrate", "@a.db", "--all", "--own-keys", "--salt", "s").code == 2)
      let keys = "SELECT id FROM customers"
      #expect(try bench.sql("a.db", keys) == bench.sql("b.db", keys))
    }
  }

  @Test(
    "A map of keys has its name when it is whole, and what a killed run has left is not written over"
  )
  func interruptedKeyMap() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.two, "SELECT 1")
      let left = Data("table,old,new\n".utf8)
      #expect(FileManager.default.createFile(atPath: bench.path("k.csv.part"), contents: left))
      let before = bench.bytes("a.db")
      let refused = bench.tool("migrate", "@a.db", "--all", "--key-map", "@k.csv")
      #expect(
        refused.code == 1 && refused.errors.contains("k.csv.part: a run that was"),
        "\(refused)"
      )
      #expect(bench.bytes("a.db") == before && bench.bytes("k.csv.part") == left)
      try FileManager.default.removeItem(atPath: bench.path("k.csv.part"))
      #expect(bench.tool("migrate", "@a.db", "--all", "--key-map", "@k.csv").code == 0)
      #expect(try bench.files() == ["a.db", "k.csv"])
    }
  }

  @Test("An index of texts that needs the keys stops the migration, and its plan")
  func textIndex() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "s.db",
        """
        CREATE TABLE d(id INTEGER PRIMARY KEY, title TEXT DEFAULT '');
        CREATE VIRTUAL TABLE f USING fts5(title, content='d', content_rowid='id');
        CREATE VIRTUAL TABLE places USING rtree(id, x, y);
        INSERT INTO d VALUES(1, 'a'); INSERT INTO places VALUES(1, 2, 3)
        """,
        "SELECT 1"
      )
      for options in [["--dry-run"], []] {
        let refused = bench.run(["migrate", "@s.db", "--all"] + options)
        #expect(
          refused.code == 1 && refused.errors.contains("Virtual table \"f\" (fts5)"),
          "\(refused)"
        )
      }
      try bench.sql("s.db", "DROP TABLE f", "SELECT 1")
      let open = bench.tool("migrate", "@s.db", "--all")
      #expect(open.code == 1 && open.errors.contains("--leave places.rowid"), "\(open)")
      #expect(open.output.contains("decide: Virtual table \"places\" seems"), "\(open)")
      let check = bench.tool("check", "@s.db")
      #expect(check.output.contains("They cannot follow when the key is migrated."), "\(check)")
      #expect(bench.tool("migrate", "@s.db", "--all", "--leave", "places.rowid").code == 0)
    }
  }
}
