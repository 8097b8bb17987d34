import CloudSyncTestSupport
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync history: copies whose tables are changed one after the other")
struct HistoryMigrationTests {
  private typealias Tools = HistoryToolTests

  /// Two copies that have the same history.
  private func withCopies(
    _ name: String,
    schema: [String],
    _ body: (ToolHarness) throws -> Void
  ) throws {
    try ToolHarness.run(name) { bench in
      for statement in schema { try bench.sql("a.db", statement) }
      expectDone(bench, "init", "@a.db", "--all")
      expectDone(bench, "sync", "@a.db", "--cloud", "@h", "--create")
      expectDone(bench, "clone", "@b.db", "--cloud", "@h")
      try body(bench)
    }
  }

  private func expectDone(_ bench: ToolHarness, _ arguments: String...) {
    let result = bench.run(["history"] + arguments)
    #expect(result.code == 0, "\(arguments): \(result)")
  }

  /// Has both exchange all they have, and tells what a query finds on both.
  private func rows(_ bench: ToolHarness, _ query: String) throws -> [String] {
    for _ in 0..<2 {
      for copy in ["@b.db", "@a.db"] { expectDone(bench, "sync", copy, "--cloud", "@h") }
    }
    for copy in ["@b.db", "@a.db"] {
      let result = bench.run(["history", "sync", copy, "--cloud", "@h"])
      #expect(result.output.hasPrefix("sent 0 commits, received 0"), "\(copy): \(result)")
      expectDone(bench, "verify", copy)
    }
    let rows = try bench.sql("a.db", query)
    #expect(try bench.sql("b.db", query) == rows)
    return rows
  }

  private static let table = [
    "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b)", "INSERT INTO t VALUES('x', 1, 1)",
  ]

  @Test("Tables are migrated without code, also by what triggers make fail otherwise")
  func migratedBySQL() throws {
    try withCopies("migratedBySQL", schema: Self.table) { bench in
      let script = """
        -- v2
        BEGIN;
        ALTER TABLE t DROP COLUMN b;
        ALTER TABLE t ADD COLUMN c DEFAULT 'new';;
        COMMIT; -- done
        """
      try script.write(toFile: bench.path("v2.sql"), atomically: true, encoding: .utf8)
      try bench.sql("b.db", "UPDATE t SET a = 2")
      #expect(
        bench.run(["history", "migrate", "@b.db", "@v2.sql"]).errors.contains("history commit")
      )
      expectDone(bench, "commit", "@b.db")
      expectDone(bench, "migrate", "@a.db", "@v2.sql")
      expectDone(bench, "migrate", "@b.db", "--sql", script)
      #expect(try rows(bench, "SELECT * FROM t") == ["'x'|2|'new'"])
    }
  }

  @Test(
    "A migration that fails changes nothing",
    arguments: [
      ("ALTER TABLE t DROP COLUMN b; ALTER TABLE t DROP COLUMN z", "no such column"),
      ("ALTER TABLE t DROP COLUMN b; /* no */ ROLLBACK", "rolled back by itself"),
      ("ALTER TABLE t DROP COLUMN b; SELEC 1", "syntax error"),
    ]
  )
  func failingMigration(script: String, reason: String) throws {
    try withCopies("failingMigration", schema: Self.table) { bench in
      let failed = bench.run(["history", "migrate", "@a.db", "--sql", script])
      #expect(failed.code == 1 && failed.errors.contains(reason), "\(failed)")
      try bench.sql("a.db", "UPDATE t SET b = 2")
      expectDone(bench, "commit", "@a.db")
      #expect(try rows(bench, "SELECT * FROM t") == ["'x'|1|2"])
    }
  }

  @Test("A merge that nobody has gone to before the migration holds up nobody")
  func mergeLeftBehind() throws {
    try withCopies("mergeLeftBehind", schema: Self.table) { bench in
      try bench.sql("a.db", "UPDATE t SET a = 2")
      expectDone(bench, "sync", "@a.db", "--cloud", "@h")
      try bench.sql("b.db", "UPDATE t SET b = 2")
      expectDone(bench, "commit", "@b.db")
      try bench.sql("b.db", "INSERT INTO t VALUES('y', 3, 3)")
      expectDone(bench, "fetch", "@b.db", "--cloud", "@h")
      expectDone(bench, "merge", "@b.db")
      for copy in ["a.db", "b.db"] {
        for name in ["c", "d"] {
          let former = name == "c" ? "b" : "c"
          try bench.sql(copy, "ALTER TABLE t RENAME COLUMN \(former) TO \(name)")
          expectDone(bench, "rescan", "@" + copy)
          if copy == "a.db" { expectDone(bench, "sync", "@a.db", "--cloud", "@h") }
        }
        expectDone(bench, "commit", "@" + copy)
      }
      #expect(try rows(bench, "SELECT * FROM t ORDER BY id") == ["'x'|2|2", "'y'|3|3"])
      // Nor does it keep anybody from a branch, its name, or a copy of the newest tables.
      expectDone(bench, "clone", "@c.db", "--cloud", "@h")
      #expect(try bench.sql("c.db", "SELECT d FROM t ORDER BY id") == ["2", "3"])
      expectDone(bench, "branch", "@c.db", "other")
      expectDone(bench, "switch", "@c.db", "other")
      expectDone(bench, "show", "@c.db", "main")
      expectDone(bench, "branch", "@c.db", "main", "--delete")
    }
  }

  /// A column with a constant, which has another name then, or goes, in a table that has another name later.
  private enum Step: String {
    case adding = "ALTER TABLE t ADD COLUMN y DEFAULT 'd'"
    case renaming = "ALTER TABLE t RENAME COLUMN y TO z"
    case dropping = """
      BEGIN; CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, a, b); INSERT INTO n SELECT id, a, b FROM t;
      DROP TABLE t; ALTER TABLE n RENAME TO t; COMMIT
      """
    case renamingTable = "ALTER TABLE t RENAME TO tt"
    case rescan
    case sync
    case inserting = "INSERT INTO t(id, a) VALUES('n', 'new')"
    case insertingLater = "INSERT INTO tt(id, a) VALUES('m', 'more')"
  }

  @Test(
    "A column with a constant that is renamed or dropped later is the same for all, however many steps each takes",
    arguments: SuiteSize.some(
      2,
      of: [
        (
          b: [Step.inserting, .sync], a: [Step.adding, .rescan, .renaming, .rescan, .sync],
          then: [Step.adding, .rescan, .renaming, .rescan]
        ),
        (
          b: [.inserting, .sync], a: [.adding, .rescan, .dropping, .rescan, .sync],
          then: [.adding, .rescan, .dropping, .rescan]
        ),
        (
          b: [.adding, .rescan, .renaming, .rescan, .sync], a: [.adding, .renaming, .rescan],
          then: []
        ),
        (
          b: [.adding, .rescan, .renaming, .rescan, .inserting, .sync],
          a: [.adding, .renaming, .rescan], then: []
        ),
        (
          b: [
            .adding, .rescan, .renaming, .rescan, .renamingTable, .rescan, .insertingLater, .sync,
          ], a: [.adding, .renaming, .rescan, .renamingTable, .rescan], then: []
        ),
        (
          b: [
            .adding, .rescan, .renaming, .rescan, .renamingTable, .rescan, .insertingLater, .sync,
          ], a: [.inserting, .adding, .renaming, .rescan, .renamingTable, .rescan], then: []
        ),
      ]
    )
  )
  private func constantThatMoves(b: [Step], a: [Step], then: [Step]) throws {
    try withCopies("constantThatMoves", schema: Self.table) { bench in
      for (copy, steps) in [("b.db", b), ("a.db", a), ("b.db", then)] {
        for step in steps {
          switch step {
          case .rescan: expectDone(bench, "rescan", "@" + copy, "--all")
          case .sync: expectDone(bench, "sync", "@" + copy, "--cloud", "@h")
          default: try bench.sql(copy, step.rawValue, "SELECT 1")
          }
        }
      }
      let table = a.contains(.renamingTable) ? "tt" : "t"
      _ = try rows(bench, "SELECT * FROM \(table) ORDER BY id")
      try bench.sql("b.db", "UPDATE \(table) SET a = 'B' WHERE id = 'x'", "SELECT 1")
      try bench.sql("a.db", "UPDATE \(table) SET b = 'A' WHERE id = 'x'", "SELECT 1")
      let left = try rows(bench, "SELECT * FROM \(table) WHERE id = 'x'")
      #expect(left == [a.contains(.dropping) ? "'x'|'B'|'A'" : "'x'|'B'|'A'|'d'"])
      expectDone(bench, "clone", "@c.db", "--cloud", "@h")
      expectDone(bench, "verify", "@c.db")
    }
  }

  @Test("A migration that has only renamed something leaves nothing to revert, and empties nothing")
  func revertedRename() throws {
    try withCopies("revertedRename", schema: Self.table) { bench in
      for (sql, query) in [
        ("ALTER TABLE t RENAME COLUMN a TO c", "SELECT id, c FROM t"),
        ("ALTER TABLE t RENAME TO tt", "SELECT id, c FROM tt"),
      ] {
        expectDone(bench, "migrate", "@a.db", "--sql", sql)
        let reverted = bench.run(["history", "revert", "@a.db", "HEAD"])
        #expect(reverted.output.contains("nothing of it is left to revert"), "\(reverted)")
        let rows = try bench.sql("a.db", query)
        #expect(rows == ["'x'|1"])
      }
    }
  }

  @Test("A copy whose app still has a column with a constant that others have dropped waits")
  func droppedElsewhere() throws {
    try withCopies("droppedElsewhere", schema: Self.table) { bench in
      for copy in ["b.db", "a.db"] {
        for step in [Step.adding, .renamingTable] {
          try bench.sql(copy, step.rawValue, "SELECT 1")
          expectDone(bench, "rescan", "@" + copy, "--all")
        }
        expectDone(bench, "sync", "@" + copy, "--cloud", "@h")
      }
      expectDone(bench, "migrate", "@b.db", "--sql", "ALTER TABLE tt DROP COLUMN y")
      expectDone(bench, "sync", "@b.db", "--cloud", "@h")
      try bench.sql("a.db", "UPDATE tt SET a = 2", "SELECT 1")
      let waiting = bench.run(["history", "sync", "@a.db", "--cloud", "@h"])
      #expect(waiting.code == 1 && waiting.errors.contains("update the app"), "\(waiting)")
      expectDone(bench, "verify", "@a.db")
      expectDone(bench, "migrate", "@a.db", "--sql", "ALTER TABLE tt DROP COLUMN y")
      expectDone(bench, "sync", "@a.db", "--cloud", "@h")
      #expect(try rows(bench, "SELECT * FROM tt") == ["'x'|2|1"])
    }
  }

  @Test("What touched a column or a table that was dropped since is undone as far as it is there")
  func undoneWithoutDropped() throws {
    try ToolHarness.run { bench in
      let shop = bench.path("shop.db")
      try Tools.edit(
        bench,
        "shop.db",
        """
        CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, a, b); INSERT INTO t VALUES('x', 1, 1), ('y', 1, 1);
        CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL)
        """
      )
      Tools.run(["init", shop, "--all"])
      for edit in [
        "UPDATE t SET a = 2 WHERE id = 'x'",
        "UPDATE t SET a = 3, b = 2 WHERE id = 'x'; DELETE FROM t WHERE id = 'y'; INSERT INTO u VALUES('k')",
        "UPDATE t SET b = 9 WHERE id = 'x'",
      ] {
        try Tools.edit(bench, "shop.db", edit)
        Tools.run(["commit", shop])
      }
      try Tools.edit(
        bench,
        "shop.db",
        """
        BEGIN; CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, a); INSERT INTO new SELECT id, a FROM t;
        DROP TABLE t; ALTER TABLE new RENAME TO t; DROP TABLE u; COMMIT
        """
      )
      Tools.run(["rescan", shop, "--all"])
      func rows() throws -> [String] { try bench.sql("shop.db", "SELECT * FROM t ORDER BY id") }

      // Of the last step nothing is left.
      Tools.run(["undo", shop])
      #expect(try rows() == ["'x'|2", "'y'|1"])
      Tools.run(["undo", shop])
      #expect(try rows() == ["'x'|1", "'y'|1"])
      Tools.run(["redo", shop])
      #expect(try rows() == ["'x'|2", "'y'|1"])
      Tools.run(["verify", shop])
    }
  }

  @Test(
    "A migration that another copy has made already, with edits on it, is one commit, and the edits follow"
  )
  func sameColumn() throws {
    let schema = [
      "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL, name TEXT)", "INSERT INTO p VALUES('1', 'x')",
    ]
    try withCopies("same-column", schema: schema) { bench in
      try bench.sql("a.db", "ALTER TABLE p ADD COLUMN extra TEXT DEFAULT 'ex'")
      expectDone(bench, "rescan", "@a.db")
      try bench.sql("a.db", "UPDATE p SET name = 'A'")
      expectDone(bench, "sync", "@a.db", "--cloud", "@h")
      #expect(bench.run(["history", "sync", "@b.db", "--cloud", "@h"]).code == 1)
      try bench.sql("b.db", "ALTER TABLE p ADD COLUMN extra TEXT DEFAULT 'ex'")
      expectDone(bench, "rescan", "@b.db")
      #expect(try rows(bench, "SELECT * FROM p") == ["'1'|'A'|'ex'"])
    }
  }

  @Test(
    "A table that one copy renames late is the same one: edits and deletions of others stay",
    arguments: [false, true]
  )
  func renamedTable(isEditedByBoth: Bool) throws {
    let schema = [
      "CREATE TABLE k(id TEXT PRIMARY KEY NOT NULL, z TEXT, y TEXT)",
      "INSERT INTO k VALUES('k1', 'z1', 'y1'), ('k2', 'z2', 'y2')",
    ]
    try withCopies("renamed-table-\(isEditedByBoth)", schema: schema) { bench in
      try bench.sql("a.db", "ALTER TABLE k RENAME TO kk")
      expectDone(bench, "rescan", "@a.db")
      try bench.sql(
        "a.db",
        "UPDATE kk SET z = 'A' WHERE id = 'k1'",
        "DELETE FROM kk WHERE id = 'k2'"
      )
      expectDone(bench, "sync", "@a.db", "--cloud", "@h")
      if isEditedByBoth {
        try bench.sql("b.db", "UPDATE k SET y = 'B' WHERE id = 'k1'")
        expectDone(bench, "commit", "@b.db")
      }
      try bench.sql("b.db", "ALTER TABLE k RENAME TO kk")
      expectDone(bench, "rescan", "@b.db", "--tables", "kk")
      #expect(try rows(bench, "SELECT * FROM kk") == ["'k1'|'A'|'\(isEditedByBoth ? "B" : "y1")'"])
    }
  }
}
