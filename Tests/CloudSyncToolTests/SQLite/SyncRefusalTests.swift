import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync sync, refused")
struct SyncRefusalTests {
  private static let good = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)"

  /// Expects one clear line, and that the tables are as they were.
  private func expect(
    _ result: ToolHarness.Outcome,
    _ words: String,
    code: Int32 = 1,
    _ place: SourceLocation = #_sourceLocation
  ) {
    #expect(result.code == code, "\(result)", sourceLocation: place)
    #expect(result.errors.hasPrefix("cloudsync: error: "), "\(result)", sourceLocation: place)
    #expect(result.errors.contains(words), "\(result)", sourceLocation: place)
    // Of a wrong call the usage line comes second.
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == (code == 2 ? 2 : 1), "\(result)", sourceLocation: place)
    #expect(lines.last?.hasPrefix("usage: ") == (code == 2), "\(result)", sourceLocation: place)
  }

  @Test("Wrong usage ends with 2")
  func usage() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.good, "SELECT 1")
      expect(bench.tool("sync", "@a.db", "--all"), "needs --cloud", code: 2)
      expect(bench.tool("sync", "@a.db", "--cloud", "@c"), "name tables with --tables", code: 2)
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@a.db", "--create", "--all"),
        "is the database itself",
        code: 2
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all", "--device", ""),
        "--device needs a name",
        code: 2
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all", "--zone", "_x"),
        "--zone cannot be “_x”",
        code: 2
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all", "--interval", "5"),
        "--interval is for --watch",
        code: 2
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all", "--dry-run", "--watch"),
        "does not go with --watch",
        code: 2
      )
      #expect(try bench.files() == ["a.db"])
    }
  }

  @Test("A schema that stands in the way is told, with what to do")
  func schema() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        Self.good,
        "CREATE TABLE n(id INTEGER PRIMARY KEY)",
        "CREATE TABLE r(id TEXT PRIMARY KEY NOT NULL, t TEXT REFERENCES t(id))",
        "CREATE VIEW v AS SELECT 1",
        "SELECT 1"
      )
      for (table, words) in [
        ("n", "is an integer"), ("n", "cloudsync migrate a.db --all --fix --dry-run"),
        ("r", "which is not synchronized"), ("v", "a.db: \"v\" is a view"),
        ("x", "a.db: There is no table \"x\""),
      ] {
        expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--tables", table), words)
      }
      #expect(try bench.files() == ["a.db"])
      let policy = bench.tool(
        "sync",
        "@a.db",
        "--cloud",
        "@c",
        "--create",
        "--tables",
        "n",
        "--unique-integer-keys",
        "n"
      )
      #expect(policy.code == 0, "\(policy)")
    }
  }

  @Test("Files that cannot be used are named")
  func files() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.good, "SELECT 1")
      try Data("a letter, and no database at all".utf8)
        .write(to: URL(fileURLWithPath: bench.path("letter")))
      expect(
        bench.tool("sync", "@none", "--cloud", "@c", "--create", "--all"),
        "none: it cannot be opened"
      )
      expect(
        bench.tool("sync", "@letter", "--cloud", "@c", "--create", "--all"),
        "letter: it is no SQLite"
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@letter", "--create", "--all"),
        "letter: it is no SQLite"
      )
      try bench.sql("b.db", Self.good, "SELECT 1")
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@b.db", "--create", "--all"),
        "b.db: it is the database of something else"
      )
      expect(
        bench.tool("sync", "@a.db", "--cloud", "/nowhere/c", "--create", "--all"),
        "/nowhere/c: "
      )
    }
  }

  @Test("Metadata of a newer version is left alone")
  func newerVersion() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.good, "SELECT 1")
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
      try bench.sql(
        "a.db",
        "UPDATE cloudsync_info SET value = 99 WHERE key = 'version'",
        "SELECT 1"
      )
      for command in ["sync", "status", "detach"] {
        let result =
          command == "sync"
          ? bench.tool(command, "@a.db", "--cloud", "@c") : bench.tool(command, "@a.db")
        expect(result, "a.db: its metadata has version 99")
      }
    }
  }

  @Test("Metadata of the first version is refused, and removed by who asks for it")
  func firstVersion() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        Self.good,
        "CREATE TABLE cloudsync_info(key TEXT PRIMARY KEY NOT NULL, value)",
        "INSERT INTO cloudsync_info VALUES('version', 1)",
        "CREATE TABLE cloudsync_outbox(id INTEGER PRIMARY KEY, table_id, key, change)",
        "CREATE TRIGGER cloudsync_insert_1 AFTER INSERT ON t BEGIN SELECT 1; END",
        "CREATE VIEW cloudsync_status AS SELECT key FROM cloudsync_outbox",
        "INSERT INTO t VALUES('x', 1)",
        "SELECT 1"
      )
      let rows = try bench.contents("a.db")
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all"),
        "a.db: its metadata has version 1"
      )
      expect(bench.tool("status", "@a.db"), "a.db: its metadata has version 1")
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all", "--dry-run"),
        "a.db: its metadata has version 1"
      )
      try bench.sql("a.db", "INSERT INTO cloudsync_outbox VALUES(1, 1, 'x', -1)", "SELECT 1")
      expect(bench.tool("detach", "@a.db"), "give them up with --discard")
      try bench.sql("a.db", "DELETE FROM cloudsync_outbox", "SELECT 1")
      let result = bench.tool("detach", "@a.db")
      #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
      let left = "SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'"
      #expect(try bench.sql("a.db", left) == [] && bench.contents("a.db") == rows)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
    }
  }

  @Test("A database does not mix two clouds or zones")
  func otherClouds() throws {
    try ToolHarness.run { bench in
      for name in ["a.db", "b.db"] {
        try bench.sql(name, Self.good, "INSERT INTO t VALUES('\(name)', 1)", "SELECT 1")
      }
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
      #expect(bench.tool("sync", "@b.db", "--cloud", "@d", "--create", "--all").code == 0)
      let rows = try bench.contents("a.db")
      expect(bench.tool("sync", "@a.db", "--cloud", "@d"), "synced with another cloud than d")
      expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--zone", "x"), "the zone “Database”")
      expect(bench.tool("sync", "@a.db", "--cloud", "@d", "--dry-run"), "another cloud than d")
      #expect(try bench.contents("a.db") == rows)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c").code == 0)
    }
  }

  @Test("One process at a time synchronizes a database, by whatever name")
  func lock() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.good, "SELECT 1")
      try FileManager.default.createSymbolicLink(
        atPath: bench.path("link.db"),
        withDestinationPath: bench.path("a.db")
      )
      let lock = try DatabaseLock(bench.path("link.db"))
      expect(
        bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all"),
        "another cloudsync is at work"
      )
      expect(bench.tool("migrate", "@a.db", "--all"), "another cloudsync is at work")
      expect(bench.tool("detach", "@a.db"), "another cloudsync is at work")
      lock.release()
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all").code == 0)
    }
  }
}
