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
}
