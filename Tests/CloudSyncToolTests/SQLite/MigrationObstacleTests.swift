import Testing

@testable import cloudsync

@Suite("What stands in the way after a migration")
struct MigrationObstacleTests {
  @Test("A dry run tells it as the run itself does, and changes nothing")
  func dryRun() throws {
    try ToolHarness.run("migration-obstacles") { bench in
      try bench.sql(
        "a.db",
        """
        CREATE TABLE books(id INTEGER PRIMARY KEY, title TEXT NOT NULL, isbn TEXT UNIQUE);
        CREATE INDEX by_title ON books(title);
        CREATE VIRTUAL TABLE words USING fts5(title);
        INSERT INTO books VALUES(1, 'One', 'x')
        """,
        "SELECT 1"
      )
      let before = try bench.contents("a.db")
      let migrate = { (options: [String]) in
        bench.run(["migrate", "@a.db", "--tables", "books"] + options)
      }
      let plan = migrate(["--dry-run"])
      #expect(plan.code == 1, "\(plan)")
      #expect(plan.errors.contains("cannot be synced afterwards: "), "\(plan)")
      #expect(plan.errors.contains("\"title\""), "\(plan)")
      let fixing = migrate(["--dry-run", "--fix", "--drop-unique"])
      #expect(fixing.code == 0 && !fixing.errors.contains("cannot be synced"), "\(fixing)")
      let json = migrate(["--dry-run", "--fix", "--drop-unique", "--json"])
      #expect(json.output.contains("\"obstacles\" : ["), "\(json)")
      #expect(try bench.contents("a.db") == before)

      let run = migrate([])
      #expect(run.code == 1, "\(run)")
      let told = { (text: String, word: String) in
        text.split(separator: "\n").filter { $0.hasPrefix("cannot be synced") }
          .map { $0.replacing(word, with: "") }
      }
      #expect(told(run.errors, "yet") == told(plan.errors, "afterwards"), "\(run)")
      // Scripts need no words: what could not be synced then is in the exit code, with --json too.
      #expect(migrate(["--json"]).code == 1)
      #expect(migrate(["--fix", "--drop-unique"]).code == 0)
      #expect(bench.run(["migrate", "--help"]).output.contains("exit code"))
    }
  }
}
