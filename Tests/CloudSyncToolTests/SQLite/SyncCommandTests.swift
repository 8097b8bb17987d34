import CloudSyncEventLog
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync sync, status and detach")
struct SyncCommandTests {
  /// What real databases have: STRICT, WITHOUT ROWID, names with spaces, computed columns, keys of several
  /// columns, references to themselves and in circles, triggers and views.
  private static let schema = """
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL DEFAULT '' COLLATE NOCASE,
      boss TEXT REFERENCES people(id), team TEXT REFERENCES teams(id) ON DELETE SET NULL,
      initial TEXT AS (substr(name, 1, 1)) STORED
    ) STRICT;
    CREATE TABLE teams(id TEXT PRIMARY KEY NOT NULL, lead TEXT REFERENCES people(id));
    CREATE TABLE "work days"(
      person TEXT NOT NULL REFERENCES people(id) ON DELETE CASCADE, day INTEGER NOT NULL,
      "hours worked" REAL, photo BLOB, PRIMARY KEY(person, day)
    ) WITHOUT ROWID;
    CREATE TABLE history(id TEXT PRIMARY KEY NOT NULL, what TEXT);
    CREATE VIEW leads AS SELECT name FROM people JOIN teams ON lead = people.id;
    CREATE TRIGGER remember AFTER UPDATE OF name ON people BEGIN
      INSERT OR REPLACE INTO history VALUES(new.id || new.name, old.name);
    END;
    """
  private static let rows = """
    PRAGMA defer_foreign_keys = ON; BEGIN;
    INSERT INTO people(id, name, boss, team) VALUES
      ('ann', 'Ann', NULL, 'red'), ('bob', 'Bob', 'ann', 'red'), ('cid', 'Cid', NULL, NULL);
    INSERT INTO teams VALUES('red', 'ann'), ('blue', NULL);
    INSERT INTO "work days" VALUES('ann', 1, 7.5, x''), ('ann', 2, NULL, x'00ff'), ('bob', 1, 8, NULL);
    COMMIT;
    """

  private func sync(_ bench: ToolHarness, _ names: String...) -> [ToolHarness.Outcome] {
    names.map { bench.tool("sync", "@\($0)", "--cloud", "@cloud") }
  }

  /// Three copies of one database that have met.
  private func three(_ bench: ToolHarness) throws {
    try bench.sql("a.db", Self.schema, Self.rows, "SELECT 1")
    for name in ["b.db", "c.db"] { try bench.sql(name, Self.schema, "SELECT 1") }
    for name in ["a.db", "b.db", "c.db"] {
      let result = bench.tool("sync", "@\(name)", "--cloud", "@cloud", "--create", "--all")
      #expect(result.code == 0 && result.errors.isEmpty, "\(result)")
    }
  }

  @Test("Three copies of a database end with the same rows, wherever they were edited")
  func threeCopies() throws {
    try ToolHarness.run { bench in
      try three(bench)
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
      try bench.sql("a.db", "UPDATE people SET name = 'Anna' WHERE id = 'ann'", "SELECT 1")
      try bench.sql(
        "b.db",
        "UPDATE people SET boss = 'cid' WHERE id = 'ann'",
        "SELECT 1"
      )
      try bench.sql(
        "c.db",
        "PRAGMA foreign_keys = ON",
        "DELETE FROM people WHERE id = 'bob'",
        "UPDATE \"work days\" SET \"hours worked\" = 6.25, photo = x'01' WHERE day = 2",
        "INSERT INTO teams VALUES('grün', 'cid')",
        "SELECT 1"
      )
      _ = sync(bench, "a.db", "b.db", "c.db", "a.db", "b.db")

      let rows = try bench.contents("a.db")
      #expect(try bench.contents("b.db") == rows)
      #expect(try bench.contents("c.db") == rows)
      #expect(rows.contains("'people': 'ann'|'Anna'|'cid'|'red'|'A'"), "\(rows)")
      #expect(rows.contains("'work days': 'ann'|2|6.25|x'01'"))
      #expect(rows.contains("'teams': 'grün'|'cid'"))
      #expect(rows.contains("'history': 'annAnna'|'Ann'"))
      #expect(!rows.contains { $0.contains("'bob'") })
      for name in ["a.db", "b.db", "c.db"] {
        let status = bench.tool("status", "@\(name)")
        #expect(status.code == 0 && status.output.hasPrefix("\(name): synced last on 2"))
        let sum = status.output.split(separator: "\n").last?.split(separator: " ")
        #expect(sum == ["all", "8", "0", "0", "0"], "\(status)")
      }
      #expect(try bench.files() == ["a.db", "b.db", "c.db", "cloud"])
    }
  }

  @Test("The summary counts what was sent, received and merged, also for scripts")
  func summary() throws {
    try ToolHarness.run { bench in
      try three(bench)
      try bench.sql("a.db", "UPDATE teams SET lead = 'bob' WHERE id = 'red'", "SELECT 1")
      #expect(sync(bench, "a.db")[0].output.hasPrefix("sent 1, received 0, merged 0,"))
      try bench.sql("b.db", "UPDATE teams SET lead = 'cid' WHERE id = 'red'", "SELECT 1")
      let json = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--json", "--device", "b")
      #expect(json.code == 0 && json.output.contains("\"merged\" : 1"), "\(json)")
      #expect(json.output.contains("\"device\" : \"b\""))
      #expect(sync(bench, "a.db")[0].code == 0)
      #expect(
        try bench.sql("a.db", "SELECT lead FROM teams WHERE id = 'red'") == ["'cid'"]
      )
    }
  }

  @Test("A comparison after the run finds what nobody captured")
  func verify() throws {
    try ToolHarness.run { bench in
      try three(bench)
      let well = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--verify")
      #expect(well.code == 0, "\(well)")
      #expect(well.output.hasSuffix("compared 8 rows with 8 records: 0 differences\n"), "\(well)")

      // What the metadata say of a row is damaged.
      try bench.sql(
        "b.db",
        "UPDATE cloudsync_known SET digest = digest + 1 WHERE key = 'red'",
        "SELECT 1"
      )
      let bad = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--verify")
      #expect(bad.code == 1 && bad.errors.isEmpty, "\(bad)")
      #expect(
        bad.output.contains("differs: teams 'red': the row was changed without its triggers")
      )
      let json = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--verify", "--json")
      #expect(json.code == 1 && json.output.contains("\"key\" : \"'red'\""), "\(json)")
    }
  }

  @Test("A dry run tells what is done then, and does nothing")
  func dryRun() throws {
    try ToolHarness.run { bench in
      try three(bench)
      try bench.sql("a.db", "UPDATE teams SET lead = NULL WHERE id = 'red'", "SELECT 1")
      _ = sync(bench, "a.db")
      try bench.sql("b.db", "INSERT INTO teams VALUES('new', NULL)", "SELECT 1")
      let before = try bench.contents("b.db")
      let dry = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--dry-run")
      #expect(dry.code == 0, "\(dry)")
      #expect(dry.output.contains("warning: Trigger \"remember\" of \"people\" writes rows"))
      #expect(
        dry.output.hasSuffix(
          """
          would be sent: insert teams 'new'
          would be stored: update teams 'red' (lead)
          would send 1, store 1, reject 0, leave 0 waiting

          """
        )
      )
      #expect(try bench.contents("b.db") == before)
      let json = bench.tool("sync", "@b.db", "--cloud", "@cloud", "--dry-run", "--json")
      #expect(json.code == 0 && json.output.contains("\"action\" : \"insert\""), "\(json)")
    }
  }

  @Test("A run is recorded, and can be run again from its log")
  func log() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.schema, Self.rows, "SELECT 1")
      let result = bench.tool(
        "sync",
        "@a.db",
        "--cloud",
        "@cloud",
        "--create",
        "--all",
        "--log",
        "@log.jsonl"
      )
      #expect(result.code == 0, "\(result)")
      let log = try EventLog(path: bench.path("log.jsonl"))
      #expect(log.hasEnded && log.mismatch == nil)
      #expect(bench.tool("log", "rerun", "@log.jsonl").output.hasPrefix("faithful: "))
    }
  }

  @Test("The log of a first sync grows with its rows alone, by less than 1,000 bytes each")
  func logSize() throws {
    try ToolHarness.run { bench in
      let rows = """
        WITH RECURSIVE c(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM c WHERE i < 800)
        INSERT INTO notes SELECT 'item-' || i, 'name ' || i, 'a note of some length ' || i, i FROM c
        """
      let table = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, name TEXT, note TEXT, n INT)"
      try bench.sql("a.db", table, rows, "SELECT 1")
      let words = ["--cloud", "@cloud", "--create", "--all", "--log", "@log.jsonl"]
      #expect(bench.run(["sync", "@a.db"] + words).code == 0)
      let size = try Data(contentsOf: URL(filePath: bench.path("log.jsonl"))).count
      // 8,000 rows are to stay below 15 MB.
      #expect(size > 80_000 && size < 800_000, "\(size) bytes")
    }
  }

  @Test(
    "A row is named in one line of a few hundred characters, whatever its table and its key are"
  )
  func longNames() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE \"two\nlines\"(id BLOB PRIMARY KEY NOT NULL)",
        "INSERT INTO \"two\nlines\" VALUES(zeroblob(1100000))",
        "SELECT 1"
      )
      let result = bench.tool("sync", "@a.db", "--cloud", "@c.cloud", "--create", "--all")
      #expect(result.code == 3, "\(result.errors)")
      #expect(result.output.contains("\n  parked: two␊lines x'0000"))
      #expect(result.output.contains("… (2200003 characters): "))
      #expect(result.output.utf8.count < 2_000)
      let status = bench.tool("status", "@a.db").output
      #expect(status.contains("\ntwo␊lines ") && status.utf8.count < 2_000)
    }
  }

  @Test("What cannot be stored is parked with its reason, and tried again by the next run")
  func parked() throws {
    try ToolHarness.run { bench in
      try three(bench)
      try bench.sql(
        "b.db",
        "CREATE TRIGGER no BEFORE INSERT ON teams BEGIN SELECT RAISE(ABORT, 'no new teams'); END",
        "SELECT 1"
      )
      try bench.sql("a.db", "INSERT INTO teams VALUES('new', NULL)", "SELECT 1")
      let results = sync(bench, "a.db", "b.db")
      #expect(results[1].output.contains("parked 1\n  parked: teams 'new': "), "\(results)")
      #expect(results[1].code == 3, "\(results)")
      #expect(sync(bench, "b.db")[0].code == 3, "it is still parked")
      let status = bench.tool("status", "@b.db")
      #expect(status.output.contains("no new teams"))
      #expect(bench.tool("status", "@b.db", "--json").output.contains("\"status\" : \"parked\""))

      try bench.sql("b.db", "DROP TRIGGER no", "SELECT 1")
      #expect(sync(bench, "b.db")[0].output.contains("parked 0"))
      #expect(try bench.sql("b.db", "SELECT id FROM teams WHERE id = 'new'") == ["'new'"])

      // What others have sent is no edit of this copy, whether it can be stored or not.
      let refuse =
        "CREATE TRIGGER no BEFORE UPDATE ON teams BEGIN SELECT RAISE(ABORT, 'no edits'); END"
      try bench.sql("b.db", refuse, "SELECT 1")
      try bench.sql("a.db", "UPDATE teams SET lead = 'bob' WHERE id = 'new'", "SELECT 1")
      #expect(sync(bench, "a.db", "b.db").map(\.code) == [0, 3])
      #expect(!bench.tool("detach", "@b.db").errors.contains("had not reached"))
    }
  }

  @Test("A detached database is as it was before, and can be synchronized anew")
  func detach() throws {
    try ToolHarness.run { bench in
      try three(bench)
      try bench.sql("a.db", "INSERT INTO teams VALUES('new', NULL)", "SELECT 1")
      let rows = try bench.contents("a.db")
      let refused = bench.tool("detach", "@a.db")
      #expect(refused.code == 1 && refused.errors.contains("1 edit has not reached the cloud"))
      #expect(bench.tool("status", "@a.db").code == 0)
      let result = bench.tool("detach", "@a.db", "--discard")
      #expect(result.code == 0 && result.errors.contains("1 edit had not reached the cloud"))
      #expect(try bench.contents("a.db") == rows)
      let left = "SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'"
      #expect(try bench.sql("a.db", left) == [])
      #expect(bench.tool("status", "@a.db").errors.contains("it is not synced"))
      #expect(bench.tool("detach", "@a.db").code == 1)

      #expect(bench.tool("sync", "@a.db", "--cloud", "@cloud", "--create", "--all").code == 0)
      _ = sync(bench, "b.db")
      #expect(try bench.contents("b.db") == rows)
    }
  }

  @Test("Rows without a key are left out, and named")
  func unnamedRows() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE t(id TEXT PRIMARY KEY, v)",
        "INSERT INTO t VALUES(NULL, 1), ('x', 2)",
        "SELECT 1"
      )
      #expect(bench.tool("check", "@a.db").output.contains("may hold NULL"))
      let result = bench.tool("sync", "@a.db", "--cloud", "@cloud", "--create", "--all")
      #expect(result.code == 0 && result.output.hasPrefix("sent 1, "))
      #expect(
        result.errors.contains("a.db: Row 1 of table \"t\" has NULL in its primary key (\"id\")")
      )
      let status = bench.tool("status", "@a.db")
      #expect(status.output.contains("Row 1 of table \"t\" has NULL in its primary key"))
      let report = bench.tool("status", "@a.db", "--json")
      #expect(report.output.contains("\"row\" : 1,"))
      #expect(bench.tool("detach", "@a.db").code == 0)
      #expect(bench.tool("migrate", "@a.db", "--all", "--fix").code == 0)
      #expect(try bench.sql("a.db", "SELECT count(id) FROM t") == ["2"])
    }
  }

  @Test("A table that came or was renamed since the last sync is told of, with what to do")
  func otherTables() throws {
    try ToolHarness.run { bench in
      let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v)"
      try bench.sql("a.db", schema, "INSERT INTO t VALUES('x', 1)", "SELECT 1")
      let sync = { (rest: String...) in
        bench.run(["sync", "@a.db", "--cloud", "@cloud"] + rest)
      }
      #expect(sync("--create", "--all").code == 0)
      #expect(!bench.tool("status", "@a.db").output.contains("not synced"))

      try bench.sql("a.db", "CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
      #expect(
        bench.tool("status", "@a.db").output
          .contains(
            "not synced\n  u: “cloudsync sync a.db --cloud CLOUD --all” adds it"
          )
      )
      try bench.sql("a.db", "ALTER TABLE t ADD COLUMN w", "SELECT 1")
      #expect(
        bench.tool("status", "@a.db").output.contains("changed\n  t: it has got 1 column (w)")
      )

      try bench.sql("a.db", "ALTER TABLE t RENAME TO s", "SELECT 1")
      let refused = sync()
      #expect(
        refused.code == 1 && refused.errors.contains("“cloudsync sync a.db --cloud cloud --all”"),
        "\(refused)"
      )
      #expect(sync("--all").code == 0)
    }
  }

  @Test("Large BLOBs and texts travel beside the cloud's file")
  func blobs() throws {
    try ToolHarness.run { bench in
      let schema = "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, b BLOB, t TEXT)"
      let row = "INSERT INTO f VALUES('x', zeroblob(1100000), hex(zeroblob(600000)))"
      try bench.sql("a.db", schema, row, "SELECT 1")
      try bench.sql("b.db", schema, "SELECT 1")
      for name in ["a.db", "b.db"] {
        let result = bench.tool("sync", "@\(name)", "--cloud", "@cloud", "--create", "--all")
        #expect(result.code == 0 && result.output.contains("parked 0"), "\(result)")
      }
      #expect(
        try bench.sql("b.db", "SELECT b = zeroblob(1100000) AND t = hex(zeroblob(600000)) FROM f")
          == ["1"]
      )
      let files = try bench.files()
      #expect(files == ["a.db", "b.db", "cloud", "cloud-assets"])
    }
  }
}
