import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite("cloudsync: unique keys, rows that become one, and rows that are taken out of their tables")
struct UnitedRowToolTests {
  private static let schema = """
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, email TEXT UNIQUE);
    CREATE TABLE orders(id TEXT PRIMARY KEY NOT NULL, person TEXT REFERENCES people(id), what TEXT);
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, about TEXT REFERENCES orders(id));
    """

  /// Two copies with a person each of the same address, none of which the other has seen.
  private static func pair(
    _ bench: ToolHarness,
    policy: String,
    first: String = "2",
    second: String = "3"
  ) throws {
    for (copy, options) in [("a.db", ["--create"]), ("b.db", [])] {
      try bench.sql(copy, schema, "SELECT 1")
      let done = bench.run(
        ["sync", "@\(copy)", "--cloud", "@c", "--all", policy, "people"] + options
      )
      #expect(done.code == 0, "\(done)")
    }
    try bench.sql(
      "a.db",
      "INSERT INTO people VALUES('\(first)', 'Bob', 'b@x')",
      "INSERT INTO orders VALUES('o2', '\(first)', 'tea'), ('o3', '\(first)', 'rum')",
      "INSERT INTO notes VALUES('n2', 'o2')",
      "SELECT 1"
    )
    try bench.sql(
      "b.db",
      "INSERT INTO people VALUES('\(second)', 'Cyd', 'b@x')",
      "INSERT INTO orders VALUES('o4', '\(second)', 'ale')",
      "SELECT 1"
    )
    bench.tool("sync", "@a.db", "--cloud", "@c")
  }

  @Test("Rows that become one are told with their keys, in words, as a warning and for scripts")
  func united() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench, policy: "--unique-merge")
      let plan = bench.tool("sync", "@b.db", "--cloud", "@c", "--dry-run")
      #expect(plan.output.contains("would be united: people '3' into '2'"), "\(plan)")
      let done = bench.tool("sync", "@b.db", "--cloud", "@c")
      #expect(done.output.contains("parked 0, united 1\n"), "\(done)")
      #expect(done.output.contains("  united: people '3' into '2'\n"), "\(done)")
      #expect(
        done.errors.contains("warning: b.db: 1 row became one with another")
          && done.errors.contains("(people '3' into '2')"),
        "\(done)"
      )
      let again = bench.tool("sync", "@b.db", "--cloud", "@c")
      #expect(!again.output.contains("united") && again.errors.isEmpty, "\(again)")
      #expect(try bench.sql("b.db", "SELECT DISTINCT person FROM orders") == ["'2'"])
    }
  }

  @Test("Who has made the row that is gone is told too, though another copy has united the two")
  func unitedElsewhere() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench, policy: "--unique-merge", first: "3", second: "2")
      for copy in ["b.db", "a.db"] {
        let done = bench.tool("sync", "@\(copy)", "--cloud", "@c")
        #expect(done.output.contains("  united: people '3' into '2'\n"), "\(done)")
        #expect(done.errors.contains("became one with another"), "\(done)")
      }
      let json = bench.tool("sync", "@a.db", "--cloud", "@c", "--json")
      #expect(json.output.contains("\"united\" : ["), "\(json)")
      #expect(try bench.contents("a.db") == bench.contents("b.db"))
    }
  }

  @Test("Rows that refer to each other and get one unique value tell so, and how they come back")
  func circle() throws {
    try ToolHarness.run { bench in
      let policy = ["--unique-newest", "person", "--cloud", "@c"]
      let table =
        "CREATE TABLE person(id TEXT PRIMARY KEY NOT NULL, spouse REFERENCES person, badge UNIQUE)"
      try bench.sql("b.db", table, "SELECT 1")
      try bench.sql(
        "a.db",
        table,
        "INSERT INTO person VALUES('ada', NULL, '1'), ('bob', 'ada', '2')",
        "UPDATE person SET spouse = 'bob' WHERE id = 'ada'",
        "SELECT 1"
      )
      bench.run(["sync", "@a.db", "--create", "--all"] + policy)
      bench.run(["sync", "@b.db", "--all"] + policy)
      try bench.sql("a.db", "UPDATE person SET badge = '7' WHERE id = 'ada'", "SELECT 1")
      try bench.sql("b.db", "UPDATE person SET badge = '7' WHERE id = 'bob'", "SELECT 1")
      for copy in ["@a.db", "@b.db", "@a.db"] { bench.run(["sync", copy] + policy) }
      let held = bench.run(["sync", "@b.db"] + policy)
      #expect(held.output.contains("waiting 2\n"), "\(held)")
      let words = "refer to each other, and cannot all be in their tables"
      #expect(held.output.contains(words), "\(held)")
      #expect(bench.tool("status", "@b.db").output.contains(words))
      // What it says works.
      try bench.sql("b.db", "INSERT INTO person VALUES('ada', 'bob', '8')", "SELECT 1")
      for copy in ["@b.db", "@a.db"] { bench.run(["sync", copy] + policy) }
      let rows = try bench.sql("a.db", "SELECT * FROM person ORDER BY id")
      #expect(rows == ["'ada'|'bob'|'8'", "'bob'|'ada'|'7'"])
      #expect(try bench.sql("b.db", "SELECT * FROM person ORDER BY id") == rows)
    }
  }

  @Test(
    "Rows that are taken out are counted, and what is said of them and their children brings them back"
  )
  func takenOut() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench, policy: "--unique-newest")
      for copy in ["b.db", "a.db"] { bench.tool("sync", "@\(copy)", "--cloud", "@c") }
      let held = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(held.code == 3, "\(held)")
      #expect(held.output.contains("merged 0, parked 1, waiting 3\n"), "\(held)")
      for words in [
        "parked: people '2': row '3' has the same value of the unique key \"email\"",
        "give row '3' another value and sync, and this row comes back as it was",
        "waiting: orders 'o2': it refers to people '2', which is parked: it comes back with that row",
        "waiting: notes 'n2': it refers to orders 'o2', which waits too: it comes back with that row",
      ] {
        #expect(held.output.contains(words), "\(words): \(held)")
        let status = bench.tool("status", "@a.db")
        #expect(status.output.contains(words.drop { $0 != " " }), "\(words): \(status)")
      }
      let json = bench.tool("sync", "@a.db", "--cloud", "@c", "--json")
      #expect(json.output.contains("\"parked\" : 1") && json.output.contains("\"waiting\" : 3"))
      // What it says works.
      try bench.sql("a.db", "UPDATE people SET email = 'c@x' WHERE id = '3'", "SELECT 1")
      for copy in ["a.db", "b.db"] {
        let done = bench.tool("sync", "@\(copy)", "--cloud", "@c")
        #expect(done.code == 0 && done.output.contains("parked 0\n"), "\(done)")
        #expect(try bench.sql(copy, "SELECT name FROM people WHERE id = '2'") == ["'Bob'"])
        #expect(try bench.sql(copy, "SELECT count(*) FROM orders, notes") == ["3"])
      }
    }
  }

  @Test("A column of a unique key gets no default: rows that lack it would become one")
  func defaults() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        """
        CREATE TABLE people(id INTEGER PRIMARY KEY, name TEXT NOT NULL, email TEXT NOT NULL UNIQUE);
        INSERT INTO people VALUES(1, 'Ann', 'a@x')
        """,
        "SELECT 1"
      )
      let words =
        "Column \"people\".\"email\" is NOT NULL without a default, so rows of app versions that do not know it cannot be"
        + " stored; a default would make such rows equal in the UNIQUE key (email)"
      let plan = bench.tool("migrate", "@a.db", "--all", "--fix", "--dry-run")
      #expect(plan.output.contains("people: name gets a default"), "\(plan)")
      #expect(!plan.output.contains("email gets a default"), "\(plan)")
      #expect(plan.errors.contains("cannot be synced afterwards: \(words)"), "\(plan)")
      let dropping = bench.tool("migrate", "@a.db", "--all", "--fix", "--drop-unique", "--dry-run")
      #expect(dropping.output.contains("email gets a default"), "\(dropping)")
      let done = bench.tool("migrate", "@a.db", "--all", "--fix")
      #expect(done.code == 1 && done.errors.contains("cannot be synced yet: \(words)"), "\(done)")
      #expect(throws: (any Error).self) {
        try bench.sql("a.db", "INSERT INTO people(name) VALUES('Bob')", "SELECT 1")
      }
      let sync = [
        "sync", "@a.db", "--cloud", "@c", "--create", "--all", "--unique-merge", "people",
      ]
      let refused = bench.run(sync)
      #expect(
        refused.code == 1 && refused.errors.contains("sync with --allow-missing-defaults"),
        "\(refused)"
      )
      #expect(bench.run(sync + ["--allow-missing-defaults"]).code == 0)
    }
  }

  @Test("Constant defaults in all columns of a unique key are warned of")
  func defaultWarning() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, mail TEXT NOT NULL DEFAULT '' UNIQUE)",
        "SELECT 1"
      )
      let check = bench.tool("check", "@a.db", "--unique-merge", "t")
      #expect(
        check.code == 0 && check.output.contains("inserted without mail all get ''"),
        "\(check)"
      )
      let sync = ["sync", "@a.db", "--cloud", "@c", "--create", "--all", "--unique-merge", "t"]
      for isFirst in [true, false] {
        let done = bench.run(sync)
        #expect(done.code == 0 && done.errors.contains("all get ''") == isFirst, "\(done)")
      }
    }
  }
}
