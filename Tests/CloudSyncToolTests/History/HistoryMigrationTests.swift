import Testing

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
