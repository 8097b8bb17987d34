import CloudSyncTestSupport
import Testing

@testable import cloudsync

@Suite("What a run of cloudsync sync warns of")
struct FirstSyncTests {
  private static let notes = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);
    INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C'), ('d', 'D')
    """

  @Test("A first sync names the rows that took the cloud's values, and those that it has deleted")
  func firstSync() throws {
    try ToolHarness.run("first-sync") { bench in
      for file in ["a.db", "b.db"] { try bench.sql(file, Self.notes, "SELECT 1") }
      let sync = { (file: String, options: [String]) in
        bench.run(["sync", "@\(file)", "--cloud", "@c", "--all"] + options)
      }
      #expect(sync("a.db", ["--create"]).code == 0)
      try bench.sql("a.db", "DELETE FROM notes WHERE id IN ('c', 'd')", "SELECT 1")
      try bench.sql("a.db", "UPDATE notes SET title = 'A2' WHERE id = 'a'", "SELECT 1")
      #expect(sync("a.db", []).errors.isEmpty)

      try bench.sql("b.db", "UPDATE notes SET title = 'mine' WHERE id = 'c'", "SELECT 1")
      let result = sync("b.db", ["--json"])
      #expect(result.code == 0)
      #expect(result.errors.contains("1 row had other values than the cloud"))
      #expect(result.errors.contains("2 rows that were deleted in the cloud are deleted here too"))
      #expect(result.errors.contains("and 1 more"))
      #expect(result.output.contains("\"replaced\" : 1"), "\(result.output)")
      #expect(result.output.contains("\"deleted\" : 2"), "\(result.output)")
      #expect(try bench.sql("b.db", "SELECT id FROM notes ORDER BY 1") == ["'a'", "'b'"])
      // It is over: what others do from now on is ordinary.
      try bench.sql("a.db", "DELETE FROM notes WHERE id = 'b'", "SELECT 1")
      #expect(sync("a.db", []).errors.isEmpty)
      let next = sync("b.db", ["--json"])
      #expect(next.errors.isEmpty && !next.output.contains("deleted"), "\(next)")
    }
  }

  @Test("So does the first sync of a table that both copies have made since")
  func newTable() throws {
    try ToolHarness.run("first-sync-table") { bench in
      let sync = { (file: String, options: [String]) in
        bench.run(["sync", "@\(file)", "--cloud", "@c", "--all"] + options)
      }
      for file in ["a.db", "b.db"] {
        try bench.sql(file, "CREATE TABLE other(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
        #expect(sync(file, ["--create"]).code == 0)
        let update = "UPDATE notes SET title = '\(file)' WHERE id = 'a'"
        try bench.sql(file, Self.notes, update, "SELECT 1")
      }
      #expect(sync("a.db", []).errors.isEmpty)
      let result = sync("b.db", [])
      #expect(result.errors.contains("1 row had other values than the cloud"), "\(result)")
      #expect(try bench.sql("b.db", "SELECT title FROM notes WHERE id = 'a'") == ["'a.db'"])
      #expect(sync("b.db", []).errors.isEmpty)
    }
  }

  @Test("Other policies than before are told, and tables that nobody knows are refused")
  func policies() throws {
    try ToolHarness.run("policy-change") { bench in
      try bench.sql(
        "a.db",
        "CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, name TEXT UNIQUE)",
        "SELECT 1"
      )
      let sync = { (options: [String]) in
        bench.run(["sync", "@a.db", "--cloud", "@c", "--all"] + options)
      }
      #expect(sync(["--create", "--unique-newest", "tags"]).errors.isEmpty)
      #expect(sync([]).errors.isEmpty)
      let changed = sync(["--unique-merge", "tags"])
      let words = "by other policies than before (--unique-merge tags, not --unique-newest tags)"
      #expect(changed.code == 0 && changed.errors.contains(words), "\(changed)")
      #expect(sync([]).errors.isEmpty)

      let stopped = sync(["--stop", "tagz"])
      #expect(stopped.code == 2, "\(stopped)")
      let hint = "--stop names “tagz”, which is none of the tables; did you mean “tags”?"
      #expect(stopped.errors.contains(hint))
    }
  }

  @Test("A table with a history is refused before a cloud is made for it")
  func histories() throws {
    try ToolHarness.run("history-and-engine") { bench in
      try bench.sql("a.db", Self.notes, "SELECT 1")
      #expect(bench.tool("history", "init", "@a.db", "--all").code == 0)
      for words in [["sync", "@a.db", "--cloud", "@c", "--all", "--create"], ["check", "@a.db"]] {
        let outcome = bench.run(words)
        let text = outcome.output + outcome.errors
        #expect(outcome.code == 1 && text.contains("has a history of changesets"), "\(outcome)")
      }
      #expect(try !bench.files().contains("c"))
    }
  }

  @Test("Help about a command that is not there shows the usage of those beside it")
  func unknownCommands() throws {
    try ToolHarness.run("unknown-commands") { bench in
      for (words, usage) in [
        (["help", "log", "shwo"], "usage: cloudsync log "),
        (["log", "shwo"], "usage: cloudsync log "),
        (["help", "sycn"], "usage: cloudsync "),
        (["history", "help", "sqash"], "usage: cloudsync history "),
      ] {
        let outcome = bench.run(words)
        #expect(outcome.code == 2 && outcome.errors.contains(usage), "\(outcome)")
        #expect(outcome.errors.contains("did you mean"), "\(outcome)")
      }
    }
  }

  @Test("Commands that are suggested can be pasted whatever a file is called")
  func arguments() {
    #expect("notes/ä-1.db".argument == "notes/ä-1.db")
    #expect("my notes.db".argument == "'my notes.db'")
    #expect("it's $HOME".argument == #"'it'\''s $HOME'"#)
    #expect("".argument == "''")
  }

  @Test("Rows that a unique key keeps out are not told as deleted; what attaching deletes is told")
  func parkedAndAttached() throws {
    try ToolHarness.run("first-parked") { bench in
      let schema = """
        CREATE TABLE u(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE);
        CREATE TABLE v(a TEXT NOT NULL, b INTEGER NOT NULL, mail TEXT UNIQUE, PRIMARY KEY(a, b));
        """
      for (file, id) in [("a.db", "1"), ("b.db", "2")] {
        let rows = "INSERT INTO u VALUES('\(id)', 'x'); INSERT INTO v VALUES('k', \(id), 'x')"
        try bench.sql(file, schema, rows, "SELECT 1")
      }
      let sync = { (file: String) in
        bench.run([
          "sync", "@\(file)", "--cloud", "@c", "--all", "--unique-newest", "u,v", "--create",
        ])
      }
      #expect(sync("a.db").code == 0)
      let parked = sync("b.db")
      #expect(parked.code == 3 && !parked.errors.contains("deleted here too"), "\(parked)")

      for file in ["v.db", "w.db"] { try bench.sql(file, Self.notes, "SELECT 1") }
      let attach = { (cloud: String, more: [String]) in
        bench.run(["attach", "@w.db", "--cloud", cloud, "--merge"] + more)
      }
      #expect(bench.run(["sync", "@w.db", "--cloud", "@x", "--all", "--create"]).code == 0)
      #expect(bench.run(["sync", "@v.db", "--cloud", "@x", "--all"]).code == 0)
      #expect(attach("@y", ["--create"]).errors.contains("deleted here too") == false)
      try bench.sql("v.db", "DELETE FROM notes WHERE id = 'b'", "SELECT 1")
      #expect(bench.run(["sync", "@v.db", "--cloud", "@x"]).code == 0)
      let back = attach("@x", [])
      #expect(back.code == 0 && back.errors.contains("1 row that was deleted"), "\(back)")
      #expect(try bench.sql("w.db", "SELECT id FROM notes WHERE id = 'b'") == [])
    }
  }
}
