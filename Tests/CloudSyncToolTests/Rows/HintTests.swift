import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite("cloudsync: what it says to do names the command to type")
struct HintTests {
  @Test(
    "Keys that may be NULL, or are missing, keep no history: the command that it names mends them"
  )
  func history() throws {
    try ToolHarness.run("history-hint") { bench in
      for (name, column) in [("a b.db", "id TEXT PRIMARY KEY"), ("c.db", "title TEXT")] {
        try bench.sql(
          name,
          "CREATE TABLE t(\(column), n INT)",
          "INSERT INTO t(n) VALUES(1)",
          "SELECT 1"
        )
        let refused = bench.tool("history", "init", "@\(name)", "--all")
        let path = name.argument
        #expect(refused.code == 1, "\(refused)")
        #expect(
          refused.errors.contains(
            "“cloudsync migrate \(path) --tables t --fix --keep-integer-keys” does that"
          ),
          "\(refused)"
        )
        let done = bench.tool(
          "migrate",
          "@\(name)",
          "--tables",
          "t",
          "--fix",
          "--keep-integer-keys"
        )
        #expect(done.code == 0, "\(done)")
        let begun = bench.tool("history", "init", "@\(name)", "--all")
        #expect(begun.code == 0 && begun.output.contains("1 row"), "\(begun)")
      }
      try bench.sql("e.db", "CREATE TABLE t(id INTEGER PRIMARY KEY)", "SELECT 1")
      let warned = bench.tool("history", "init", "@e.db", "--all")
      #expect(warned.code == 0, "\(warned)")
      for command in ["history remove e.db", "migrate e.db --all"] {
        #expect(warned.errors.contains("“cloudsync \(command)”"), "\(warned)")
        #expect(
          bench.run(command.split(separator: " ").map { $0 == "e.db" ? "@e.db" : String($0) }).code
            == 0
        )
      }
      try bench.sql("d.db", "CREATE VIEW v AS SELECT 1", "SELECT 1")
      #expect(!bench.tool("history", "init", "@d.db", "--tables", "v").errors.contains("migrate"))
    }
  }

  @Test(
    "A synced table is not migrated, and the way to do it begins with the command that ends its sync"
  )
  func migrate() throws {
    try ToolHarness.run("migrate-hint") { bench in
      try bench.sql("a.db", "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INT)", "SELECT 1")
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
      for options in [[], ["--dry-run"], ["--fix"]] {
        let refused = bench.run(["migrate", "@a.db", "--all"] + options)
        #expect(refused.code == 1, "\(refused)")
        for words in [
          "a.db: nothing was changed: table \"t\" is synced.", "“cloudsync detach a.db”",
          "“cloudsync sync a.db --cloud NEW --create --all”",
        ] {
          #expect(refused.errors.contains(words), "\(words): \(refused)")
        }
      }
      let stopped = bench.tool("sync", "@a.db", "--cloud", "@c", "--stop", "t")
      #expect(stopped.code == 2 && stopped.errors.contains("“cloudsync detach a.db”"), "\(stopped)")
    }
  }

  @Test("A column is dropped in the way that the help names, and edits are captured again")
  func dropColumn() throws {
    try ToolHarness.run("drop-hint") { bench in
      let help = bench.tool("sync", "--help").output
      #expect(
        help.contains("“PRAGMA legacy_alter_table = ON;”") && help.contains("“.timeout 5000”")
      )
      try bench.sql(
        "a.db",
        "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, n INT, m INT)",
        "INSERT INTO t VALUES('x', 1, 2)",
        "SELECT 1"
      )
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
      try bench.sql(
        "a.db",
        "PRAGMA legacy_alter_table = ON",
        "ALTER TABLE t DROP COLUMN n",
        "SELECT 1"
      )
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c").code == 0)
      try bench.sql("a.db", "UPDATE t SET m = 3", "SELECT 1")
      let done = bench.tool("sync", "@a.db", "--cloud", "@c", "--verify")
      #expect(done.code == 0 && done.output.hasPrefix("sent 1,"), "\(done)")
    }
  }
}
