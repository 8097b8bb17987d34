import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

@testable import cloudsync

@Suite("cloudsync history")
struct HistoryToolTests {
  private static let schema = """
    CREATE TABLE customers(id TEXT PRIMARY KEY NOT NULL, name TEXT, since INTEGER);
    CREATE TABLE orders(
      id TEXT PRIMARY KEY NOT NULL, customer TEXT REFERENCES customers(id), total REAL);
    INSERT INTO customers VALUES('c7', 'Ada B.', 2019), ('c8', 'Bob', 2020);
    INSERT INTO orders VALUES('o1', 'c7', 9.5);
    """

  static func edit(_ bench: ToolHarness, _ name: String, _ sql: String) throws {
    try bench.sql(name, sql, "SELECT 1")
  }

  /// Runs a command of the group, and gives what it writes.
  @discardableResult
  static func run(
    _ arguments: [String],
    code: Int32 = 0,
    _ place: SourceLocation = #_sourceLocation
  ) -> (output: String, errors: String) {
    var (output, errors) = ("", "")
    let console = Console(output: { output += $0 }, errors: { errors += $0 })
    let result = Tool.run(with: ["history"] + arguments, console: console)
    #expect(result == code, "\(arguments): \(output)\(errors)", sourceLocation: place)
    if code != 0, !errors.isEmpty {
      #expect(errors.hasPrefix("cloudsync: error: "), sourceLocation: place)
      // Behind wrong usage comes how it is called.
      let lines = errors.split(separator: "\n")
      #expect(lines.count == 1 || code == 2 && lines.count == 2, "\(errors)", sourceLocation: place)
    }
    return (output, errors)
  }

  @Test("An afternoon's work: edits, a branch, a merge, a conflict, undo, a clone")
  func afternoon() throws {
    try ToolHarness.run { bench in
      let (shop, phone, cloud) = (
        bench.path("shop.db"), bench.path("phone.db"), bench.path("cloud")
      )
      try Self.edit(bench, "shop.db", Self.schema)
      #expect(
        Self.run(["init", shop, "--all", "--replica", "desk"]).output.contains("2 tables, 3 rows")
      )
      #expect(
        Self.run(["sync", shop, "--cloud", cloud, "--create", "--device", "desk"]).output
          .contains("sent 1 commit")
      )
      #expect(
        Self.run(["clone", phone, "--cloud", cloud, "--device", "phone", "--replica", "phone"])
          .output
          .contains("1 commit, 3 rows")
      )
      try Self.edit(bench, "shop.db", "UPDATE customers SET name = 'Ada L.' WHERE id = 'c7'")
      try Self.edit(
        bench,
        "phone.db",
        "UPDATE customers SET name = 'Ada Q.' WHERE id = 'c7'; INSERT INTO orders VALUES('o2', 'c8', 1)"
      )
      #expect(Self.run(["diff", shop]).output.contains("'Ada B.' → 'Ada L.'"))
      Self.run(["commit", phone, "-m", "On the phone"])
      Self.run(["sync", phone, "--cloud", cloud, "--device", "phone"])
      Self.run(["commit", shop, "-m", "Ada married"])
      let sync = Self.run(["sync", shop, "--cloud", cloud, "--device", "desk"]).output
      #expect(sync.contains("1 merge, 1 conflict settled"))
      Self.run(["sync", phone, "--cloud", cloud, "--device", "phone"])
      #expect(Self.run(["log", phone]).output == Self.run(["log", shop]).output)
      let graph = Self.run(["log", shop]).output.split(separator: "\n").map { $0.prefix(4) }
      #expect(graph.contains { $0.hasPrefix("|\\") } && graph.contains { $0.hasPrefix("|/") })
      #expect(Self.run(["resolve", shop]).output.contains("lost 'Ada"))
      let shown = Self.run(["show", shop]).output
      #expect(shown.contains(" settled\n") && shown.contains("lost 'Ada"), "\(shown)")
      #expect(Self.run(["blame", shop, "customers", "c7"]).output.contains("since"))
      let undo = Self.run(["undo", shop]).output
      #expect(undo.contains("] undoes ") && undo.contains("'Ada L.' → 'Ada Q.'"), "\(undo)")
      let redo = Self.run(["redo", shop]).output
      #expect(redo.contains("] redoes what ") && redo.contains(" undid “Ada married”"), "\(redo)")
      #expect(redo.contains("'Ada Q.' → 'Ada L.'"), "\(redo)")
      Self.run(["branch", shop, "idea"])
      Self.run(["switch", shop, "idea"])
      try Self.edit(bench, "shop.db", "DELETE FROM orders WHERE id = 'o2'")
      Self.run(["commit", shop, "-m", "Idea"])
      Self.run(["switch", shop, "main"])
      Self.run(["merge", shop, "idea"])
      Self.run(["tag", shop, "release"])
      #expect(Self.run(["log", shop, "--count", "1"]).output.contains("tag release"))
      Self.run(["checkout", shop, "HEAD~1", "--to", bench.path("then.db")])
      for path in [shop, phone] {
        #expect(Self.run(["verify", path]).output.contains("are what the history says"))
      }
    }
  }

  @Test("checkout goes to a branch that is named, and says where HEAD is when it is on none")
  func checkout() throws {
    try ToolHarness.run { bench in
      let shop = bench.path("shop.db")
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all", "--replica", "desk"])
      Self.run(["branch", shop, "idea"])
      #expect(Self.run(["checkout", shop, "idea"]).output.hasPrefix("on idea at "))
      try Self.edit(bench, "shop.db", "DELETE FROM orders")
      #expect(Self.run(["commit", shop, "-m", "Idea"]).output.hasPrefix("[idea "))

      let old = Self.run(["checkout", shop, "idea~1"]).output
      #expect(old.contains("HEAD is on no branch") && old.contains("history switch"), "\(old)")
      #expect(Self.run(["status", shop]).output.contains("detached from idea"))
      #expect(Self.run(["checkout", shop, "HEAD"]).output.contains("HEAD is on no branch"))
      #expect(Self.run(["checkout", shop, "main"]).output.hasPrefix("on main at "))
      // The rows are HEAD's already, on whatever branch, and what is not committed stays.
      try Self.edit(bench, "shop.db", "UPDATE customers SET since = 1999")
      #expect(Self.run(["checkout", shop, "HEAD"]).output.hasPrefix("on main at "))
      #expect(Self.run(["commit", shop, "-m", "After HEAD"]).output.hasPrefix("[main "))
    }
  }

  @Test("Every command that looks writes JSON")
  func json() throws {
    try ToolHarness.run { bench in
      let shop = bench.path("shop.db")
      try Self.edit(bench, "shop.db", Self.schema)
      for call in [
        ["init", shop, "--all", "--replica", "desk"], ["status", shop], ["log", shop],
        ["show", shop],
        ["diff", shop], ["blame", shop, "customers", "c7"], ["branch", shop], ["tag", shop],
        ["verify", shop], ["resolve", shop], ["commit", shop], ["undo", shop], ["redo", shop],
        ["pull", shop], ["merge", shop], ["discard", shop], ["checkout", shop, "HEAD"],
        ["switch", shop, "main"], ["restore", shop, "HEAD"], ["gc", shop],
        ["remove", shop, "--discard"],
      ] {
        let output = Self.run(call + ["--json"]).output
        let value = try SQLiteConnection(path: ":memory:").prepare("SELECT json_valid(?1)")
          .bind(output, at: 1).mapRows { $0.integer(0) }
        #expect(value == [1], "\(call): \(output)")
      }
    }
  }

  @Test("gc removes what the cloud has, and a clone has it still")
  func collecting() throws {
    try ToolHarness.run { bench in
      let (shop, cloud, phone) = (
        bench.path("shop.db"), bench.path("cloud"), bench.path("phone.db")
      )
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all"])
      for number in 1...5 {
        try Self.edit(bench, "shop.db", "UPDATE customers SET since = \(number)")
        Self.run(["commit", shop, "-m", "Number \(number)"])
      }
      let log = Self.run(["log", shop]).output
      #expect(Self.run(["gc", shop, "--depth", "1"]).output == "nothing to remove\n")
      Self.run(["push", shop, "--cloud", cloud, "--create", "--device", "desk"])
      let line = Self.run(["gc", shop, "--depth", "1", "--vacuum"]).output
      #expect(line.hasPrefix("the changes of 4 commits removed"))
      #expect(Self.run(["log", shop]).output == log)
      #expect(Self.run(["checkout", shop, "HEAD~4"], code: 1).errors.contains("were removed"))
      Self.run(["verify", shop])
      Self.run(["clone", phone, "--cloud", cloud, "--device", "phone"])
      Self.run(["checkout", phone, "HEAD~4"])
      Self.run(["gc", shop, "--depth", "x"], code: 2)
      Self.run(["gc", shop, "--depth", "99999999999999999999"], code: 2)
      Self.run(["gc", shop, "--depth", "18446744073709551615"], code: 2)
    }
  }

  @Test("A clone whose process ended in the midst is begun anew in the same file")
  func cloneAgain() throws {
    try ToolHarness.run { bench in
      let (shop, cloud, phone) = (
        bench.path("shop.db"), bench.path("cloud"), bench.path("phone.db")
      )
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all"])
      Self.run(["push", shop, "--cloud", cloud, "--create", "--device", "desk"])
      let clone = ["clone", phone, "--cloud", cloud, "--device", "phone"]
      Self.run(clone)
      #expect(Self.run(clone, code: 1).errors.contains("it exists already"))
      try Self.edit(bench, "phone.db", "INSERT INTO changesets_info VALUES('cloning', 1)")
      #expect(Self.run(["status", phone], code: 1).errors.contains("was not completed"))
      Self.run(clone)
      Self.run(["verify", phone])
    }
  }

  @Test(
    "A row that only this database refuses is told with its table, key and constraint, and the rest goes on"
  )
  func parkedRows() throws {
    try ToolHarness.run { bench in
      let (free, strict, cloud) = (bench.path("a.db"), bench.path("b.db"), bench.path("cloud"))
      let table = "CREATE TABLE spans(id TEXT PRIMARY KEY NOT NULL, low INTEGER, high INTEGER"
      try Self.edit(bench, "a.db", table + ")")
      try Self.edit(bench, "b.db", table + ", CONSTRAINT ordered CHECK(low <= high))")
      for path in [free, strict] { Self.run(["init", path, "--all"]) }
      let sync = { ["sync", $0, "--cloud", cloud, "--device", $1] }
      Self.run(sync(free, "a") + ["--create"])
      try Self.edit(bench, "a.db", "INSERT INTO spans VALUES('bad', 9, 1), ('good', 1, 9)")
      Self.run(sync(free, "a"))
      try Self.edit(bench, "b.db", "INSERT INTO spans VALUES('own', 1, 2)")
      let text = Self.run(sync(strict, "b"), code: 3).output
      for word in ["spans", "bad", "ordered"] { #expect(text.contains(word), "\(text)") }
      #expect(Self.run(["status", strict], code: 3).output.contains("bad is parked"))
      #expect(Self.run(["resolve", strict]).output.contains("set aside"))
      #expect(Self.run(["status", strict, "--json"], code: 3).output.contains("\"parked\""))
      Self.run(["verify", strict])
      // What was made here has arrived all the same.
      Self.run(sync(free, "a"))
      #expect(Self.run(["show", free, "HEAD"]).output.isEmpty == false)
      try Self.edit(bench, "a.db", "UPDATE spans SET high = 10 WHERE id = 'bad'")
      Self.run(sync(free, "a"))
      Self.run(sync(strict, "b"))
      #expect(Self.run(["status", strict]).output.contains("parked") == false)
    }
  }

  @Test("Tables that were changed without the history are taken up by a rescan")
  func takenUp() throws {
    try ToolHarness.run { bench in
      let shop = bench.path("shop.db")
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all"])
      try Self.edit(bench, "shop.db", "ALTER TABLE customers ADD COLUMN size INTEGER DEFAULT 3")
      let error = Self.run(["status", shop], code: 1).errors
      #expect(error.contains("rescan"))
      Self.run(["rescan", shop])
      #expect(Self.run(["log", shop]).output.contains("migration"))
      Self.run(["verify", shop])
      Self.run(["rescan", shop, "--tables", "nowhere"], code: 1)
    }
  }

  @Test("A table that is new is told; one that is only left out does not go")
  func untracked() throws {
    try ToolHarness.run("untracked") { bench in
      let shop = bench.path("shop.db")
      try Self.edit(
        bench,
        "shop.db",
        "CREATE TABLE s(id TEXT PRIMARY KEY NOT NULL); CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL)"
      )
      try Self.edit(bench, "shop.db", "INSERT INTO s VALUES('s'); INSERT INTO t VALUES('t')")
      Self.run(["init", shop, "--all"])
      #expect(Self.run(["status", shop]).output.contains("not in the history") == false)
      try Self.edit(bench, "shop.db", "CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL)")
      try Self.edit(bench, "shop.db", "INSERT INTO n VALUES('n')")
      #expect(Self.run(["status", shop]).output.contains("not in the history: n; “"))
      let refusal = Self.run(["rescan", shop, "--tables", "s,n"], code: 1).errors
      #expect(refusal.contains("table \"t\" is in the history and in the database"))
      Self.run(["rescan", shop, "--all"])
      Self.run(["commit", shop])
      #expect(Self.run(["status", shop]).output.contains("not in the history") == false)
      try Self.edit(bench, "shop.db", "DROP TABLE t")
      Self.run(["rescan", shop], code: 1)
      Self.run(["rescan", shop, "--all"])
      #expect(Self.run(["show", shop]).output.contains("- t t"))
      Self.run(["verify", shop])
    }
  }

  @Test("A rescan asks whether a column was renamed where nobody can tell")
  func renamed() throws {
    try ToolHarness.run { bench in
      let notes = bench.path("notes.db")
      let rows = "INSERT INTO notes VALUES('a', 'one'), ('b', 'two')"
      try Self.edit(
        bench,
        "notes.db",
        "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, body); \(rows)"
      )
      Self.run(["init", notes, "--all"])
      try Self.edit(
        bench,
        "notes.db",
        """
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, content); INSERT INTO fresh SELECT * FROM notes;
        DROP TABLE notes; ALTER TABLE fresh RENAME TO notes; UPDATE notes SET content = 'three' WHERE id = 'b'
        """
      )
      let question = Self.run(["rescan", notes], code: 1).errors
      #expect(question.contains("1 of 2 rows") && question.contains("“renamed”"))
      Self.run(["rescan", notes, "--renamed", "body=content"], code: 2)
      let answer = Self.run(["rescan", notes, "--renamed", "notes.body=content"]).output
      #expect(answer.contains("1 row to be committed"))
      Self.run(["commit", notes])
      Self.run(["verify", notes])
      for command in ["checkout", "restore"] {
        let refusal = Self.run([command, notes, "HEAD~2"], code: 1).errors
        #expect(refusal.contains("which a migration has changed since"))
      }
    }
  }

  @Test("A clone leaves alone what is there, whatever it is")
  func cloneOverSomething() throws {
    try ToolHarness.run("clone-over") { bench in
      let (shop, cloud) = (bench.path("shop.db"), bench.path("shop.cloud"))
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all"])
      try Self.edit(bench, "shop.db", "INSERT INTO customers(id, name) VALUES('x', 'X')")
      Self.run(["sync", shop, "--cloud", cloud, "--create"])
      for (file, sql) in [
        ("view.db", "CREATE VIEW v AS SELECT 1"),
        ("index.db", "CREATE VIRTUAL TABLE f USING fts5(x)"),
      ] {
        try Self.edit(bench, file, sql)
        let refusal = Self.run(["clone", bench.path(file), "--cloud", cloud], code: 1).errors
        #expect(refusal.contains("it exists already"))
        #expect(try bench.sql(file, "SELECT count(*) > 0 FROM sqlite_schema") == ["1"])
      }
      Self.run(["clone", bench.path("view.db") + "2", "--cloud", cloud])
    }
  }

  @Test("Wrong arguments are one line, and write nothing")
  func wrongArguments() throws {
    try ToolHarness.run { bench in
      let (shop, none) = (bench.path("shop.db"), bench.path("none.db"))
      try Self.edit(bench, "shop.db", Self.schema)
      let before = bench.bytes("shop.db")
      for call in [
        ["init", shop, "--tables", "nowhere"], ["status", shop], ["log", none], ["commit", none],
        ["verify", shop], ["push", shop, "--cloud", bench.path("cloud")],
      ] { Self.run(call, code: 1) }
      for call in [
        ["init", shop], ["status"], ["nothing", shop], ["log", shop, "--nothing"], [],
      ] {
        Self.run(call, code: 2)
      }
      #expect(bench.bytes("shop.db") == before)
      Self.run(["init", shop, "--all"])
      for call in [
        ["checkout", shop, "nowhere"], ["switch", shop, "nowhere"], ["revert", shop, "HEAD~9"],
        ["blame", shop, "nothing", "x"], ["blame", shop, "customers", "x"],
        ["log", shop, "--table", "nothing"],
        ["branch", shop, "HEAD"],
        ["resolve", shop, "7"], ["init", shop, "--all"], ["merge", shop, "nowhere"],
        ["clone", shop, "--cloud", bench.path("cloud")],
      ] { Self.run(call, code: 1) }
      for call in [
        ["push", shop], ["push", shop, "--cloud", shop], ["log", shop, "--count", "x"],
        ["log", shop, "--key", "c7"],
      ] { Self.run(call, code: 2) }
    }
  }

  @Test("A mistyped cloud is not created: neither a push nor a sync makes one without --create")
  func mistypedCloud() throws {
    try ToolHarness.run { bench in
      let (shop, cloud, typo) = (
        bench.path("shop.db"), bench.path("shop.cloud"), bench.path("shpo.cloud")
      )
      try Self.edit(bench, "shop.db", Self.schema)
      Self.run(["init", shop, "--all"])
      for command in ["push", "sync"] {
        let errors = Self.run([command, shop, "--cloud", cloud], code: 1).errors
        #expect(errors.contains("shop.cloud: there is no such cloud; add --create to create it"))
      }
      Self.run(["push", shop, "--cloud", cloud, "--create"])
      for command in ["push", "sync"] {
        let errors = Self.run([command, shop, "--cloud", typo], code: 1).errors
        #expect(errors.contains("did you mean “shop.cloud”? Otherwise add --create to create it"))
      }
      // These have nothing to send, so they create none.
      for call in [["fetch", shop], ["clone", bench.path("new.db")]] {
        let errors = Self.run(call + ["--cloud", typo], code: 1).errors
        #expect(errors.contains("did you mean “shop.cloud”?") && !errors.contains("--create"))
      }
      Self.run(["push", shop, "--cloud", " ", "--create"], code: 2)
      #expect(bench.bytes("shpo.cloud") == nil)
      Self.run(["push", shop, "--cloud", cloud])
    }
  }

  @Test("The graph draws branches beside each other")
  func graph() throws {
    func id(_ number: UInt8) throws -> ChangesetID {
      try #require(ChangesetID(bytes: [UInt8](repeating: number, count: 32)))
    }
    var drawing = HistoryGraphDrawing()
    var rows: [String] = []
    // 6 merges 5 and 4; 5 and 3 come from 2; 4 from 3; 2 and 1 have no parents.
    for (commit, parents) in [(6, [5, 4]), (5, [2]), (4, [3]), (3, [2]), (2, []), (1, [])] {
      rows += drawing.rows(try id(UInt8(commit)), parents: try parents.map { try id(UInt8($0)) })
    }
    #expect(rows == ["*", "|\\", "* |", "| *", "| *", "|/", "*", "*"])
  }
}
