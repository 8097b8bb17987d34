import Testing

@testable import cloudsync

@Suite("cloudsync … --filter")
struct FilterOptionTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, private INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE marks(id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id))
    """

  /// Two copies, of which the first has rows to keep to itself.
  private func run(_ name: String = #function, _ body: (ToolHarness) throws -> Void) throws {
    try ToolHarness.run(name) { bench in
      try bench.sql(
        "a.db",
        Self.schema,
        "INSERT INTO notes VALUES('a', 'A', 0), ('p', 'P', 1), ('q', 'Q', 1)",
        "SELECT 1"
      )
      try bench.sql("b.db", Self.schema, "SELECT 1")
      try body(bench)
    }
  }

  private func sync(_ bench: ToolHarness, _ file: String, _ more: String...) -> ToolHarness.Outcome
  {
    bench.run(["sync", "@\(file)", "--cloud", "@cloud", "--create", "--all"] + more)
  }

  @Test(
    "Rows that do not match stay; later runs keep the filter without naming it, until it is ended"
  )
  func remembered() throws {
    try run { bench in
      let filter = ["--filter", "notes=private = 0"]
      let rehearsal = bench.run(
        ["sync", "@a.db", "--cloud", "@cloud", "--create", "--all", "--dry-run"] + filter
      )
      #expect(rehearsal.output.contains("2 rows would stay in this copy, because of --filter"))
      #expect(rehearsal.output.contains("would send 1, store 0"))
      #expect(rehearsal.output.contains("cloud” would be created\nthe zone “"), "\(rehearsal)")
      let first = sync(bench, "a.db", "--filter", "NOTES=private = 0")
      #expect(first.code == 0)
      #expect(first.output.contains("sent 1"), "\(first)")
      #expect(first.output.contains("; 2 rows stay in this copy"), "\(first)")
      _ = sync(bench, "b.db")
      #expect(try bench.contents("b.db") == ["'notes': 'a'|'A'|0"])

      try bench.sql("a.db", "UPDATE notes SET title = 'PP' WHERE id = 'p'", "SELECT 1")
      #expect(sync(bench, "a.db", "--verify").code == 0)
      _ = sync(bench, "b.db")
      #expect(try bench.contents("b.db") == ["'notes': 'a'|'A'|0"])

      let status = bench.tool("status", "@a.db")
      #expect(status.output.contains("local"))
      #expect(status.output.contains("notes: sends only rows with private = 0"), "\(status)")
      let json = bench.tool("status", "@a.db", "--json").output
      #expect(json.contains("\"filter\" : \"private = 0\""), "\(json)")
      #expect(json.contains("\"local\" : 2"), "\(json)")
      #expect(!bench.tool("status", "@b.db").output.contains("local"))

      let ended = sync(bench, "a.db", "--filter", "notes=")
      #expect(ended.output.contains("sent 2") && !ended.output.contains("stay"), "\(ended)")
      _ = sync(bench, "b.db")
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
      #expect(!bench.tool("status", "@a.db").output.contains("local"))
    }
  }

  @Test("A condition that cannot be used is told before anything is sent, by check as well")
  func refused() throws {
    try run { bench in
      let refused = sync(bench, "a.db", "--filter", "notes=privat = 0")
      #expect(refused.code == 1)
      #expect(
        refused.errors.contains("The row filter “privat = 0” of \"notes\" cannot be used"),
        "\(refused)"
      )
      #expect(refused.errors.contains("no such column: privat"), "\(refused)")
      let traces = try bench.sql(
        "a.db",
        "SELECT name FROM sqlite_schema WHERE name LIKE 'cloudsync%'"
      )
      #expect(traces == [])
      let check = bench.tool("check", "@a.db", "--filter", "notes=title = \"open\"")
      #expect(check.code == 1)
      #expect(check.output.contains("a text is written in single quotes"), "\(check)")
      let warned = bench.tool("check", "@a.db", "--filter", "notes=private = 0")
      #expect(warned.code == 0)
      #expect(
        warned.output.contains("Rows of \"marks\" stay on this device while they refer"),
        "\(warned)"
      )
    }
  }

  @Test("What is no table and condition is a wrong command line")
  func usage() throws {
    try run { bench in
      for (value, words) in [
        ("private = 0", "none of the tables"), ("notes", "takes a table and a condition"),
        ("note=private = 0", "did you mean “notes”?"), ("=private", "none of the tables"),
      ] {
        let outcome = sync(bench, "a.db", "--filter", value)
        #expect(outcome.code == 2)
        #expect(outcome.errors.contains(words), "\(outcome)")
      }
      let twice = sync(bench, "a.db", "--filter", "notes=1", "--filter", "NOTES=2")
      #expect(twice.code == 2)
      #expect(twice.errors.contains("twice"), "\(twice)")
    }
  }

  @Test("Help and completion scripts have it")
  func help() throws {
    try ToolHarness.run { bench in
      for command in ["sync", "check", "attach"] {
        #expect(bench.tool(command, "--help").output.contains("--filter TABLE=CONDITION"))
      }
      #expect(bench.tool("completions", "bash").output.contains("--filter"))
    }
  }
}
