import CloudSyncSQLiteSupport
import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Databases that cannot be used")
struct BadDatabaseTests {
  private static let calls = [
    ["check", "@x"], ["migrate", "@x", "--all"], ["status", "@x"], ["detach", "@x"],
  ]

  /// Makes the call, and expects one clear line and a file that is what it was.
  private func expect(
    _ call: [String],
    _ words: String,
    in bench: ToolHarness,
    code: Int32 = 1,
    _ place: SourceLocation = #_sourceLocation
  ) {
    let before = bench.bytes("x")
    let result =
      switch call.count {
      case 2: bench.tool(call[0], call[1])
      case 3: bench.tool(call[0], call[1], call[2])
      default: bench.tool(call[0], call[1], call[2], call[3])
      }
    #expect(result.code == code, "\(call): \(result)", sourceLocation: place)
    #expect(result.output.isEmpty, "\(call): \(result)", sourceLocation: place)
    #expect(result.errors.hasPrefix("cloudsync: error: "), "\(result)", sourceLocation: place)
    #expect(result.errors.contains(words), "\(call): \(result)", sourceLocation: place)
    let lines = result.errors.split(separator: "\n")
    #expect(lines.count == (code == 2 ? 2 : 1), "\(result)", sourceLocation: place)
    #expect(bench.bytes("x") == before, sourceLocation: place)
  }

  @Test("A file that is missing, no database or empty is named", arguments: calls)
  func noDatabase(call: [String]) throws {
    try ToolHarness.run("none-\(call[0])") { bench in
      expect(call, "x: it cannot be opened", in: bench)
      try Data("This is a letter, and no database at all.".utf8)
        .write(to: URL(fileURLWithPath: bench.path("x")))
      expect(call, "x: it is no SQLite database", in: bench)
      try Data().write(to: URL(fileURLWithPath: bench.path("x")))
      expect(call, "x: it ", in: bench)
    }
  }

  @Test(
    "A folder is no file",
    arguments: calls + [["history", "status", "@x"], ["history", "init", "@x", "--all"]]
  )
  func folder(call: [String]) throws {
    try ToolHarness.run("folder-\(call[0])-\(call[1])") { bench in
      try FileManager.default.createDirectory(
        atPath: bench.path("x"),
        withIntermediateDirectories: false
      )
      expect(call, "x: it is a folder; name the database's file", in: bench)
    }
  }

  @Test("A cloud that is a folder is no file")
  func cloudFolder() throws {
    try ToolHarness.run { bench in
      try bench.sql("y", "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
      try FileManager.default.createDirectory(
        atPath: bench.path("x"),
        withIntermediateDirectories: false
      )
      let result = bench.tool("sync", "@y", "--all", "--cloud", "@x", "--device", "one")
      #expect(result.code == 1, "\(result)")
      #expect(result.errors.contains("x: it is a folder; name the cloud's file"), "\(result)")
    }
  }

  @Test("A damaged file is named", arguments: calls)
  func damaged(call: [String]) throws {
    try ToolHarness.run("damaged-\(call[0])") { bench in
      try bench.sql("x", "CREATE TABLE a(id INTEGER PRIMARY KEY, b)", "SELECT 1")
      var data = try #require(bench.bytes("x"))
      for place in 100..<4_000 { data[place] = 0xff }
      try data.write(to: URL(fileURLWithPath: bench.path("x")))
      expect(call, "x: the database is damaged", in: bench)
    }
  }

  @Test("Views, virtual tables and missing tables cannot be synchronized")
  func notTables() throws {
    try ToolHarness.run { bench in
      try bench.sql(
        "x",
        "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL)",
        "CREATE VIEW v AS SELECT * FROM a",
        "CREATE VIRTUAL TABLE f USING fts5(t)",
        "SELECT 1"
      )
      for (name, words) in [
        ("v", "\"v\" is a view"), ("f", "\"f\" is a virtual table"), ("n", "no table \"n\""),
        ("sqlite_schema", "internal table"),
      ] {
        let result = bench.tool("check", "@x", "--tables", name)
        #expect(result.code == 1 && result.output.contains(words), "\(result)")
        expect(["migrate", "@x", "--tables", name], words, in: bench)
      }
    }
  }

  /// It takes as long as a connection waits for another.
  @Test(
    "A database that another process is writing to is not waited for without end",
    .enabled(if: SuiteSize.isLong)
  )
  func locked() throws {
    try ToolHarness.run { bench in
      try bench.sql("x", "CREATE TABLE a(id INTEGER PRIMARY KEY, b)", "SELECT 1")
      let other = try SQLiteConnection(path: bench.path("x"))
      try other.execute("BEGIN EXCLUSIVE")
      expect(["check", "@x"], "x: another connection", in: bench)
    }
  }

  @Test("Wrong usage ends with 2")
  func usage() throws {
    try ToolHarness.run { bench in
      try bench.sql("x", "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
      expect(["check"] + ["@x", "--tables"], "--tables needs a value", in: bench, code: 2)
      // An option behind a forgotten value is not lost: it may be the one that changes nothing.
      for call in [["migrate", "@x", "--salt"], ["sync", "@x", "--cloud"]] {
        for option in ["--dry-run", "--help", "--", "-h", "--json=1"] {
          expect(
            call + [option],
            "if “\(option)” is meant, write \(call.last ?? "")=\(option)",
            in: bench,
            code: 2
          )
        }
      }
      expect(["migrate", "@x"], "name tables with --tables", in: bench, code: 2)
      expect(["migrate", "@x", "--all", "--tables=a"], "do not go together", in: bench, code: 2)
      expect(["status", "@x", "--frob"], "there is no option --frob", in: bench, code: 2)
      expect(["detach", "@x", "@y"], "does not take", in: bench, code: 2)
    }
  }

  @Test("What is no log is told to be none")
  func noLog() throws {
    try ToolHarness.run { bench in
      try bench.sql("x.db", "CREATE TABLE a(id TEXT PRIMARY KEY NOT NULL)", "SELECT 1")
      let told = bench.tool("log", "summary", "@x.db")
      #expect(told.code == 1, "\(told)")
      #expect(
        told.errors.contains("x.db:1: it is no event log: that begins with a line of JSON"),
        "\(told)"
      )
    }
  }
}
