import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite(
  "cloudsync: rows that are parked, edits that nobody captured, and tables of the engine's that are gone"
)
struct HeldRowToolTests {
  private static let schema = """
    CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE, name TEXT DEFAULT '');
    INSERT INTO u VALUES('1', 'a@x', 'A'), ('9', 'z@x', 'Z')
    """

  /// Two copies that are in sync.
  private static func pair(_ bench: ToolHarness) throws {
    for (copy, options) in [("a.db", ["--create"]), ("b.db", [])] {
      try bench.sql(copy, schema, "SELECT 1")
      let done = bench.run(
        ["sync", "@\(copy)", "--cloud", "@c", "--all", "--unique-newest", "u"] + options
      )
      #expect(done.code == 0, "\(done)")
    }
  }

  private static func sync(_ bench: ToolHarness, _ copies: [String]) {
    for copy in copies { bench.tool("sync", "@\(copy)", "--cloud", "@c") }
  }

  @Test(
    "A row that a unique key keeps out names the other row and the ways on; status ends as sync does"
  )
  func unique() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench)
      #expect(bench.tool("status", "@a.db").code == 0)
      try bench.sql("a.db", "INSERT INTO u VALUES('2', 'b@x', 'B')", "SELECT 1")
      try bench.sql("b.db", "INSERT INTO u VALUES('3', 'b@x', 'Bea')", "SELECT 1")
      Self.sync(bench, ["a.db", "b.db", "a.db"])
      let words =
        "u '2': row '3' has the same value of the unique key \"mail\", and only one of both can be in the table;"
        + " give row '3' another value and sync, and this row comes back as it was, with those that refer to it; or"
        + " insert this row again, whole, with another value\n"
      for options in [[], ["--json"]] {
        let status = bench.run(["status", "@a.db"] + options)
        #expect(status.code == 3 && status.output.contains(words) == options.isEmpty, "\(status)")
      }
      // What it says works.
      try bench.sql("a.db", "INSERT INTO u VALUES('2', 'c@x', 'B')", "SELECT 1")
      Self.sync(bench, ["a.db", "b.db"])
      for copy in ["a.db", "b.db"] {
        #expect(bench.tool("status", "@\(copy)").code == 0)
        #expect(try bench.sql(copy, "SELECT mail FROM u WHERE id = '2'") == ["'c@x'"])
      }
    }
  }

  @Test("A copy is not detached while rows of it are in no table, unless they are given up")
  func detach() throws {
    try ToolHarness.run("detach-held") { bench in
      try Self.pair(bench)
      try bench.sql("a.db", "INSERT INTO u VALUES('2', 'b@x', 'B')", "SELECT 1")
      try bench.sql("b.db", "INSERT INTO u VALUES('3', 'b@x', 'Bea')", "SELECT 1")
      Self.sync(bench, ["a.db", "b.db", "a.db"])
      let before = try bench.contents("a.db")
      let refused = bench.tool("detach", "@a.db")
      #expect(
        refused.code == 1 && refused.errors.contains("1 row (u '2') would be gone"),
        "\(refused)"
      )
      #expect(bench.tool("status", "@a.db").code == 3)
      #expect(try bench.contents("a.db") == before)
      let done = bench.tool("detach", "@a.db", "--discard")
      #expect(done.code == 0, "\(done)")
      #expect(bench.tool("status", "@a.db").errors.contains("it is not synced"))
    }
  }

  @Test("A comparison tells how many of the cloud's records are those of deleted rows")
  func tombstones() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench)
      try bench.sql("a.db", "DELETE FROM u WHERE id = '9'", "SELECT 1")
      let done = bench.tool("sync", "@a.db", "--cloud", "@c", "--verify")
      #expect(done.output.contains("compared 1 row with 2 records (1 of deleted rows): 0 differ"))
      let json = bench.tool("sync", "@a.db", "--cloud", "@c", "--verify", "--json")
      #expect(json.output.contains("\"tombstones\" : 1"), "\(json)")
    }
  }

  @Test("Edits that nobody captured are found by --verify, and sent by --rescan")
  func rescan() throws {
    try ToolHarness.run { bench in
      try Self.pair(bench)
      // As on a connection that has turned triggers off.
      try bench.sql(
        "a.db",
        "UPDATE cloudsync_clock SET own_table = 1, own_all = 1",
        "UPDATE u SET name = 'Ada' WHERE id = '1'; INSERT INTO u VALUES('5', 'e@x', 'E')",
        "DELETE FROM u WHERE id = '9'",
        "UPDATE cloudsync_clock SET own_table = NULL, own_all = NULL",
        "SELECT 1"
      )
      let verified = bench.tool("sync", "@a.db", "--cloud", "@c", "--verify")
      #expect(verified.code == 1 && verified.output.contains("--rescan finds"), "\(verified)")
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--rescan", "--dry-run").code == 2)
      let done = bench.tool("sync", "@a.db", "--cloud", "@c", "--rescan", "--verify")
      #expect(done.code == 0 && done.output.hasPrefix("sent 3,"), "\(done)")
      Self.sync(bench, ["b.db"])
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
      #expect(try bench.sql("b.db", "SELECT name FROM u ORDER BY id") == ["'Ada'", "'E'"])
    }
  }

  @Test(
    "A table of the engine's that somebody has dropped is named, and detach removes the others",
    arguments: SuiteSize.some(2, of: ["outbox", "known", "facts", "pending", "tables", "clock"])
  )
  func droppedTables(name: String) throws {
    try ToolHarness.run("dropped-\(name)") { bench in
      try Self.pair(bench)
      try bench.sql("a.db", "DROP VIEW cloudsync_status; DROP TABLE cloudsync_\(name)", "SELECT 1")
      let failed = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(failed.code == 1, "\(failed)")
      #expect(
        failed.errors.contains("a.db: the table cloudsync_\(name) of the sync engine is missing"),
        "\(failed)"
      )
      #expect(!failed.errors.contains("SELECT"), "\(failed)")
      #expect(failed.errors.contains("“cloudsync detach a.db”"), "\(failed)")
      #expect(bench.tool("detach", "@a.db").code == 0)
      let again = bench.tool("sync", "@a.db", "--cloud", "@c", "--all", "--unique-newest", "u")
      #expect(again.code == 0, "\(again)")
      #expect(try bench.contents("a.db") == bench.contents("b.db"))
    }
  }
}
