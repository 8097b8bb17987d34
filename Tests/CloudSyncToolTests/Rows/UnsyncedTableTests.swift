import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite("cloudsync sync: tables that it does not sync")
struct UnsyncedTableTests {
  private static func table(_ name: String) -> String {
    "CREATE TABLE \(name)(id TEXT PRIMARY KEY NOT NULL)"
  }

  @Test("A table that has come since is named with the command that adds it")
  func new() throws {
    try ToolHarness.run("new-table") { bench in
      try bench.sql("a.db", Self.table("x"), "SELECT 1")
      let first = bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--all")
      #expect(first.code == 0 && first.errors.isEmpty, "\(first)")
      try bench.sql("a.db", Self.table("y"), "SELECT 1")
      let told = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(
        told.code == 0
          && told.errors.contains(
            "a.db: y is not synced; “cloudsync sync a.db --cloud c --all” adds it\n"
          ),
        "\(told)"
      )
      let json = bench.tool("sync", "@a.db", "--cloud", "@c", "--json")
      #expect(json.output.contains("\"newTables\" : [\n    \"y\"\n  ]"), "\(json)")
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--all").code == 0)
      let done = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(done.errors.isEmpty, "\(done)")
    }
  }

  @Test("What was left out when tables were named stays out, and is not named")
  func leftOut() throws {
    try ToolHarness.run("left-out-table") { bench in
      try bench.sql("a.db", Self.table("x"), Self.table("y"), Self.table("z"), "SELECT 1")
      bench.tool("sync", "@a.db", "--cloud", "@c", "--create", "--tables", "x,y")
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c").errors.isEmpty)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c", "--stop", "y").errors.isEmpty)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@c").errors.isEmpty)
      try bench.sql("a.db", Self.table("w"), "SELECT 1")
      let told = bench.tool("sync", "@a.db", "--cloud", "@c")
      #expect(
        told.errors.contains("a.db: w is not synced; ") && told.errors.contains("--tables x,w"),
        "\(told)"
      )
    }
  }
}
