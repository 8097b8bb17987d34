import Testing

@testable import cloudsync

@Suite("Names that are mistyped")
struct MistypedNameTests {
  private static let schema = """
    CREATE TABLE beds(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE plants(id TEXT PRIMARY KEY NOT NULL, bed TEXT REFERENCES beds(id), name TEXT UNIQUE)
    """

  private func run(_ name: String = #function, _ body: (ToolHarness) throws -> Void) throws {
    try ToolHarness.run(name) { bench in
      for name in ["a.db", "b.db"] { try bench.sql(name, Self.schema, "SELECT 1") }
      try bench.sql("a.db", "INSERT INTO plants VALUES('1', NULL, 'fern')", "SELECT 1")
      try body(bench)
    }
  }

  private let policy = ["--unique-newest", "plants"]

  private func sync(_ bench: ToolHarness, _ file: String, _ more: [String]) -> ToolHarness.Outcome {
    bench.run(["sync", "@\(file)", "--cloud", "@garden.cloud"] + more)
  }

  @Test("A zone that is not there is created only with --create, and the error names the close one")
  func zones() throws {
    try run { bench in
      #expect(sync(bench, "a.db", ["--all", "--create"] + policy).code == 0)
      for (name, words) in [
        ("Databse", "did you mean “Database”? Otherwise add --create to create it"),
        ("Home", "there is no zone “Home”, only “Database”; add --create to create it"),
      ] {
        for extra in [[], ["--dry-run"]] {
          let result = sync(bench, "b.db", ["--all", "--zone", name] + policy + extra)
          #expect(result.code == 1 && result.errors.contains(words), "\(result)")
        }
      }
      // None of them has left a zone.
      let other = sync(bench, "b.db", ["--all", "--zone", "Garage"] + policy)
      #expect(other.errors.contains("only “Database”;"), "\(other)")
      #expect(sync(bench, "b.db", ["--all", "--zone", "Home", "--create"] + policy).code == 0)
    }
  }

  @Test(
    "A synced copy with a mistyped cloud is told the right one before it is told how to create one"
  )
  func clouds() throws {
    try run { bench in
      #expect(sync(bench, "a.db", ["--all", "--create"] + policy).code == 0)
      for extra in [[], ["--create"], ["--dry-run"]] {
        let result = bench.run(["sync", "@a.db", "--cloud", "@gardn.cloud"] + extra)
        #expect(result.code == 1, "\(result)")
        #expect(result.errors.contains("did you mean “garden.cloud”? Otherwise"), "\(result)")
      }
      let files = try bench.files()
      #expect(files == ["a.db", "b.db", "garden.cloud"])
    }
  }

  @Test("Tables, policies and files that are not there: what was meant is named")
  func others() throws {
    try run { bench in
      for (arguments, words) in [
        (["--tables", "plants,bed"], "--tables names “bed”; did you mean “beds”?"),
        (["--all", "--unique-newest", "plant"], "none of the tables; did you mean “plants”?"),
        (["--all", "--edit-wins", "bads"], "none of the tables; did you mean “beds”?"),
      ] {
        let result = sync(bench, "a.db", arguments + ["--create"])
        #expect(result.code == 2 && result.errors.contains(words), "\(result)")
      }
      let missing = "it cannot be opened: No such file or directory"
      for command in ["sync", "check", "status", "migrate", "detach", "attach"] {
        let more = ["sync", "attach"].contains(command) ? ["--cloud", "@x", "--merge"] : []
        let result = bench.run(
          [command, "@aa.db"] + more.filter { command == "attach" || $0 != "--merge" }
        )
        #expect(result.code == 1, "\(result)")
        #expect(result.errors.contains("aa.db: \(missing); did you mean “a.db”?"), "\(result)")
      }
      let history = bench.tool("history", "log", "@aa.db")
      #expect(history.errors.contains("\(missing); did you mean “a.db”?"), "\(history)")
      #expect(bench.tool("check", "@far.away").errors.hasSuffix("\(missing)\n"))
    }
  }

  @Test("UNIQUE in the way: the error names the policy, and later runs keep it until it is ended")
  func policies() throws {
    try run { bench in
      try bench.sql("m.db", "CREATE TABLE m(id INTEGER PRIMARY KEY, v TEXT UNIQUE)", "SELECT 1")
      let migrated = bench.tool("migrate", "@m.db", "--all")
      #expect(migrated.errors.contains("to keep UNIQUE, sync with --unique-newest m or"))
      let bare = sync(bench, "a.db", ["--all", "--create"])
      #expect(bare.code == 1 && bare.errors.contains("“--unique-newest plants”"), "\(bare)")
      #expect(!bare.errors.contains("migrate"), "\(bare)")
      #expect(sync(bench, "a.db", ["--all", "--create", "--edit-wins", "beds"] + policy).code == 0)
      #expect(sync(bench, "b.db", ["--all", "--edit-wins", "beds"] + policy).code == 0)
      #expect(bench.tool("check", "@a.db").code == 0)

      try bench.sql("a.db", "INSERT INTO beds VALUES('n', 'north')", "SELECT 1")
      for name in ["a.db", "b.db"] { #expect(sync(bench, name, []).code == 0) }
      // Nobody names --edit-wins, and the edit wins.
      try bench.sql("a.db", "UPDATE beds SET name = 'kept' WHERE id = 'n'", "SELECT 1")
      try bench.sql("b.db", "DELETE FROM beds WHERE id = 'n'", "SELECT 1")
      for name in ["a.db", "b.db", "a.db"] { #expect(sync(bench, name, []).code == 0) }
      for name in ["a.db", "b.db"] {
        #expect(try bench.sql(name, "SELECT name FROM beds") == ["'kept'"])
      }

      // Another policy for the table takes the place of the first; an empty list ends one.
      #expect(sync(bench, "a.db", ["--unique-merge", "plants"]).code == 0)
      #expect(sync(bench, "a.db", ["--dry-run"]).code == 0)
      let ended = sync(bench, "a.db", ["--unique-merge", ""])
      #expect(ended.code == 1 && ended.errors.contains("UNIQUE"), "\(ended)")
      #expect(sync(bench, "a.db", []).code == 0, "a run that is refused ends nothing")
      #expect(bench.tool("detach", "@a.db").code == 0)
      #expect(sync(bench, "a.db", ["--all"]).code == 1)
    }
  }
}
