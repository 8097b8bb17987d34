import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync history: which cloud, which zone")
struct HistoryConnectionTests {
  private static let schema = """
    CREATE TABLE beds(
      id TEXT PRIMARY KEY NOT NULL, name TEXT, made TEXT DEFAULT CURRENT_TIMESTAMP);
    INSERT INTO beds(id, name) VALUES('n', 'north'), ('s', 'south')
    """

  private func run(_ name: String = #function, _ body: (ToolHarness) throws -> Void) throws {
    try ToolHarness.run(name) { bench in
      try bench.sql("a.db", Self.schema, "SELECT 1")
      #expect(bench.tool("history", "init", "@a.db", "--all").code == 0)
      try body(bench)
    }
  }

  private func sync(
    _ bench: ToolHarness,
    _ file: String,
    _ cloud: String = "x.cloud",
    _ more: String...
  ) -> ToolHarness.Outcome {
    bench.run(["history", "sync", "@\(file)", "--cloud", "@\(cloud)"] + more)
  }

  @Test("A zone is created only with --create, a mistyped one is told, and the first one is kept")
  func zones() throws {
    try run { bench in
      // The cloud of another database, without a history.
      try bench.sql("n.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
      #expect(
        bench.tool("sync", "@n.db", "--cloud", "@x.cloud", "--all", "--create").code == 0
      )
      let refused = sync(bench, "a.db")
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.errors.contains("no zone “History”, only “Database”; add --create"))
      let clone = bench.tool("history", "clone", "@c.db", "--cloud", "@x.cloud")
      #expect(clone.errors.hasSuffix("there is no zone “History”, only “Database”\n"), "\(clone)")
      #expect(try bench.files() == ["a.db", "n.db", "x.cloud"])

      #expect(sync(bench, "a.db", "x.cloud", "--zone", "Beds", "--create").code == 0)
      #expect(sync(bench, "a.db").code == 0, "the zone is kept")
      let other = sync(bench, "a.db", "x.cloud", "--zone", "Bedz")
      #expect(other.errors.contains("synced with the zone “Beds”, not “Bedz”; leave --zone out"))
      let mistyped = bench.tool(
        "history",
        "clone",
        "@c.db",
        "--cloud",
        "@x.cloud",
        "--zone",
        "Bdes"
      )
      #expect(mistyped.errors.hasSuffix("did you mean “Beds”?\n"), "\(mistyped)")
    }
  }

  @Test(
    "Another cloud is refused and stays as it is, and --attach joins it without losing a commit"
  )
  func clouds() throws {
    try run { bench in
      #expect(sync(bench, "a.db", "x.cloud", "--create").code == 0)
      try bench.sql("b.db", Self.schema.replacing("'n', 'north'", with: "'e', 'east'"), "SELECT 1")
      #expect(bench.tool("history", "init", "@b.db", "--all").code == 0)
      #expect(sync(bench, "b.db", "y.cloud", "--create").code == 0)

      for extra in ["--create", "--json"] {
        let mistyped = sync(bench, "a.db", "xx.cloud", extra)
        #expect(mistyped.code == 1, "\(mistyped)")
        #expect(mistyped.errors.contains("did you mean “x.cloud”? Otherwise"), "\(mistyped)")
      }
      let refused = sync(bench, "b.db", "x.cloud")
      #expect(refused.code == 1, "\(refused)")
      #expect(refused.errors.contains("synced with another cloud than x.cloud"), "\(refused)")
      #expect(refused.errors.contains("--cloud x.cloud --attach”"), "\(refused)")
      #expect(try bench.files() == ["a.db", "b.db", "x.cloud", "y.cloud"])

      #expect(sync(bench, "b.db", "x.cloud", "--attach").code == 0)
      #expect(sync(bench, "a.db").code == 0)
      #expect(try bench.sql("a.db", "SELECT id FROM beds ORDER BY id") == ["'e'", "'n'", "'s'"])
      #expect(
        bench.tool("history", "log", "@a.db").output == bench.tool("history", "log", "@b.db").output
      )

      // The cloud is gone: a new one gets everything.
      let gone = sync(bench, "a.db", "z.cloud")
      #expect(gone.errors.contains("z.cloud --attach --create”"), "\(gone)")
      #expect(sync(bench, "a.db", "z.cloud", "--attach", "--create").code == 0)
      #expect(bench.tool("history", "clone", "@c.db", "--cloud", "@z.cloud").code == 0)
      #expect(bench.tool("history", "log", "@c.db").output.contains("the first rows"))
      #expect(try bench.sql("c.db", "SELECT id FROM beds ORDER BY id") == ["'e'", "'n'", "'s'"])
    }
  }

  @Test("Integer keys: init warns, and sync refuses before it creates a cloud")
  func integerKeys() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", "CREATE TABLE t(id INTEGER PRIMARY KEY, v)", "SELECT 1")
      let begun = bench.tool("history", "init", "@a.db", "--all")
      #expect(begun.code == 0 && begun.errors.contains("table “t” has an integer key"), "\(begun)")
      let refused = sync(bench, "a.db", "x.cloud", "--create")
      #expect(refused.code == 1 && refused.errors.contains("--unique-integer-keys t"), "\(refused)")
      #expect(try bench.files() == ["a.db"])
      #expect(sync(bench, "a.db", "x.cloud", "--create", "--unique-integer-keys", "t").code == 0)
    }
  }

  @Test(
    "Unique keys of computed columns: init warns, and sync refuses, also of one that came later"
  )
  func computedKeys() throws {
    try ToolHarness.run { bench in
      let schema = """
        CREATE TABLE t(id TEXT NOT NULL PRIMARY KEY, mail TEXT, low TEXT AS (lower(mail)) STORED);
        CREATE UNIQUE INDEX mails ON t(low)
        """
      try bench.sql("a.db", schema, "SELECT 1")
      let begun = bench.tool("history", "init", "@a.db", "--all")
      #expect(
        begun.code == 0 && begun.errors.contains("looks at what is computed (low)"),
        "\(begun)"
      )
      let refused = sync(bench, "a.db", "x.cloud", "--create")
      #expect(refused.code == 1 && refused.errors.contains("remove that key"), "\(refused)")
      #expect(try bench.files() == ["a.db"])
      try bench.sql("a.db", "DROP INDEX mails", "SELECT 1")
      let changed = bench.tool("history", "status", "@a.db")
      #expect(changed.code == 1 && changed.errors.contains("history rescan"), "\(changed)")
      #expect(bench.tool("history", "rescan", "@a.db").code == 0)
      #expect(sync(bench, "a.db", "x.cloud", "--create").code == 0)

      try bench.sql(
        "a.db",
        "CREATE UNIQUE INDEX mails ON t(low); INSERT INTO t VALUES('a', 'A')",
        "SELECT 1"
      )
      #expect(bench.tool("history", "rescan", "@a.db").code == 0)
      #expect(sync(bench, "a.db", "x.cloud").errors.contains("remove that key"))
      try bench.sql("a.db", "DROP INDEX mails", "SELECT 1")
      #expect(bench.tool("history", "rescan", "@a.db").code == 0)
      #expect(sync(bench, "a.db", "x.cloud").code == 0)
    }
  }

  @Test("A database that the tool has migrated can be cloned, with its keys' and times' defaults")
  func migrated() throws {
    try ToolHarness.run { bench in
      let schema = """
        CREATE TABLE plants(
          id INTEGER PRIMARY KEY, name TEXT, made TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
        INSERT INTO plants(name) VALUES('fern')
        """
      try bench.sql("a.db", schema, "SELECT 1")
      #expect(bench.tool("migrate", "@a.db", "--all", "--fix").code == 0)
      #expect(bench.tool("history", "init", "@a.db", "--all").code == 0)
      #expect(sync(bench, "a.db", "x.cloud", "--create").code == 0)
      let clone = bench.tool("history", "clone", "@b.db", "--cloud", "@x.cloud")
      #expect(clone.code == 0, "\(clone)")
      try bench.sql("b.db", "INSERT INTO plants(name) VALUES('mint')", "SELECT 1")
      let new = "SELECT length(id), length(made) FROM plants WHERE name = 'mint'"
      #expect(try bench.sql("b.db", new) == ["36|19"])
      #expect(sync(bench, "b.db").code == 0)
      #expect(sync(bench, "a.db").code == 0)
      #expect(try bench.sql("a.db", new) == ["36|19"])
    }
  }

  @Test("After a sync the files have everything: copies of them alone are a cloud and a database")
  func copies() throws {
    try run { bench in
      #expect(sync(bench, "a.db", "x.cloud", "--create").code == 0)
      try bench.sql("a.db", "UPDATE beds SET name = 'N' WHERE id = 'n'", "SELECT 1")
      #expect(sync(bench, "a.db").code == 0)
      for (name, copy) in [("x.cloud", "y.cloud"), ("a.db", "b.db")] {
        try FileManager.default.copyItem(atPath: bench.path(name), toPath: bench.path(copy))
      }
      let clone = bench.tool("history", "clone", "@c.db", "--cloud", "@y.cloud")
      #expect(clone.output == "c.db: 2 commits, 2 rows\n", "\(clone)")
      try FileManager.default.copyItem(atPath: bench.path("c.db"), toPath: bench.path("d.db"))
      for name in ["b.db", "d.db"] {
        #expect(try bench.sql(name, "SELECT name FROM beds ORDER BY id") == ["'N'", "'south'"])
        #expect(bench.tool("history", "verify", "@\(name)").code == 0)
      }
    }
  }

  @Test("What was undone and restored is told, and names of branches that are mistyped")
  func words() throws {
    try run { bench in
      try bench.sql("a.db", "UPDATE beds SET name = 'N' WHERE id = 'n'", "SELECT 1")
      #expect(bench.tool("history", "commit", "@a.db", "--message", "Shorter").code == 0)
      let undo = bench.tool("history", "undo", "@a.db")
      #expect(undo.output.contains("] undoes "), "\(undo)")
      #expect(undo.output.contains("“Shorter”"), "\(undo)")
      #expect(bench.tool("history", "restore", "@a.db", "HEAD~1").code == 0)
      let log = bench.tool("history", "log", "@a.db").output
      #expect(log.contains("  undoes "), "\(log)")
      #expect(log.contains("  Restore "), "\(log)")
      #expect(log.contains("  the first rows"), "\(log)")
      #expect(bench.tool("history", "branch", "@a.db", "summer").code == 0)
      let wrong = bench.tool("history", "switch", "@a.db", "sumer")
      #expect(wrong.errors.contains("no branch “sumer”; did you mean “summer”?"), "\(wrong)")
    }
  }

  @Test("Large commits travel where files are named from the present folder, as people do")
  func relativePaths() throws {
    try run { bench in
      let rows = "UPDATE beds SET made = hex(randomblob(600000))"
      try bench.sql("a.db", rows, "SELECT 1")
      let root = FileManager.default.currentDirectoryPath.split(separator: "/").map { _ in ".." }
        .joined(separator: "/")
      let path = { root + bench.path($0) }
      let sent = bench.tool(
        "history",
        "sync",
        path("a.db"),
        "--cloud",
        path("x.cloud"),
        "--device",
        "a",
        "--create"
      )
      #expect(sent.code == 0, "\(sent)")
      let clone = bench.tool(
        "history",
        "clone",
        path("b.db"),
        "--cloud",
        path("x.cloud"),
        "--device",
        "b"
      )
      #expect(clone.code == 0, "\(clone)")
      let size = "SELECT length(made) FROM beds"
      #expect(try bench.sql("b.db", size) == ["1200000", "1200000"])
    }
  }
}
