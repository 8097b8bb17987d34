import Foundation
import Testing

@Suite("cloudsync sync of a copy whose tables are not named as before")
struct LeftTablesTests {
  /// A copy that keeps some of its rows to itself: these are not in the cloud in the end.
  private func withCopy(_ name: String, _ body: (ToolHarness) throws -> Void) throws {
    try ToolHarness.run(name) { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, t TEXT, priv INT DEFAULT 0)",
        "CREATE TABLE o(id TEXT PRIMARY KEY NOT NULL)",
        "INSERT INTO n VALUES('1', 'PUBLIC', 0), ('2', 'SECRET', 1)"
      )
      #expect(sync(bench, "--all", "--create", "--filter", "n=priv = 0").code == 0)
      try body(bench)
      let cloud = try #require(bench.bytes("c"))
      #expect(cloud.range(of: Data("PUBLIC".utf8)) != nil)
      #expect(cloud.range(of: Data("SECRET".utf8)) == nil)
    }
  }

  private func sync(_ bench: ToolHarness, _ options: String...) -> ToolHarness.Outcome {
    bench.run(["sync", "@a.db", "--cloud", "@c"] + options)
  }

  @Test("A table that is left out is not forgotten without a word, nor is its filter")
  func leftOut() throws {
    try withCopy("left-out") { bench in
      let narrow = sync(bench, "--tables", "o")
      #expect(narrow.code == 2 && narrow.errors.contains("--stop n"), "\(narrow)")
      #expect(sync(bench, "--all").code == 0)
      #expect(sync(bench, "--stop", "N").code == 0)
      #expect(sync(bench, "--stop", "o").code == 2)
    }
  }

  @Test("A table that was renamed is not sent without its filter")
  func renamed() throws {
    try withCopy("renamed-filtered") { bench in
      try bench.sql("a.db", "ALTER TABLE n RENAME TO m")
      let without = sync(bench, "--all")
      #expect(without.code == 2 && without.errors.contains("--filter 'm=priv = 0'"), "\(without)")
      let with = sync(bench, "--all", "--filter", "m=priv = 0")
      #expect(with.code == 0, "\(with)")
    }
  }

  @Test("A table that is renamed keeps its policy, or the run says how")
  func renamedPolicy() throws {
    try ToolHarness.run("renamed-policy") { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL); CREATE TABLE o(id TEXT PRIMARY KEY NOT NULL)",
        "SELECT 1"
      )
      let first = bench.run([
        "sync", "@a.db", "--cloud", "@c", "--all", "--create", "--edit-wins", "n,o",
      ])
      #expect(first.code == 0, "\(first)")
      try bench.sql("a.db", "ALTER TABLE n RENAME TO m", "SELECT 1")
      let refused = bench.tool("sync", "@a.db", "--cloud", "@c", "--all")
      #expect(refused.code == 2 && refused.errors.contains("--edit-wins m,o"), "\(refused)")
      let done = bench.run(["sync", "@a.db", "--cloud", "@c", "--all", "--edit-wins", "m,o"])
      #expect(done.code == 0 && !done.errors.contains("other policies"), "\(done)")
    }
  }

  @Test("A filter stays while its table is left out, and detaching gives up nothing unasked")
  func filterAndEdits() throws {
    try ToolHarness.run("left-filter") { bench in
      let schema =
        "CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, secret INTEGER); CREATE TABLE o(id TEXT PRIMARY KEY NOT NULL)"
      for copy in ["a.db", "b.db"] { try bench.sql(copy, schema, "SELECT 1") }
      let options = ["--all", "--create", "--filter", "n=secret = 0"]
      #expect(bench.run(["sync", "@a.db", "--cloud", "@c"] + options).code == 0)
      try bench.sql("a.db", "INSERT INTO n VALUES('x', 1)", "SELECT 1")
      // What a filter keeps here is in no cloud.
      #expect(bench.tool("detach", "@a.db").code == 1)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--stop", "n").code == 0)
      #expect(bench.tool("detach", "@a.db").code == 1)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--all").code == 0)
      #expect(bench.tool("sync", "@b.db", "--cloud", "@c", "--all").code == 0)
      #expect(try bench.sql("b.db", "SELECT id FROM n") == [])

      try bench.sql(
        "b.db",
        "CREATE TABLE p(id TEXT PRIMARY KEY NOT NULL); DROP TABLE o; ALTER TABLE p RENAME TO o; INSERT INTO o VALUES('y')",
        "SELECT 1"
      )
      let changed = bench.tool("detach", "@b.db")
      #expect(changed.code == 1 && changed.errors.contains("o was changed since"), "\(changed)")
      #expect(bench.tool("detach", "@b.db", "--discard").code == 0)
    }
  }
}
