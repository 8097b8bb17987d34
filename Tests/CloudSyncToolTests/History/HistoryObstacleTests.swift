import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What stands in the way of a history, and the ways on.
@Suite("cloudsync history: obstacles")
struct HistoryObstacleTests {
  private typealias Tools = HistoryToolTests

  private static let schema = """
    CREATE TABLE p(k TEXT PRIMARY KEY NOT NULL, n TEXT);
    INSERT INTO p VALUES('k1', '0'), ('k2', '0')
    """

  private static let rows = "SELECT * FROM p ORDER BY k"

  /// Two copies of one history, and their cloud.
  private static func pair(
    _ bench: ToolHarness
  ) throws -> (desk: String, phone: String, cloud: [String]) {
    let (desk, phone) = (bench.path("desk.db"), bench.path("phone.db"))
    let cloud = ["--cloud", bench.path("cloud")]
    try Tools.edit(bench, "desk.db", schema)
    Tools.run(["init", desk, "--all"])
    Tools.run(["sync", desk, "--create"] + cloud)
    Tools.run(["clone", phone] + cloud)
    return (desk, phone, cloud)
  }

  @Test("Commits that a cloud holds and nobody can read are told of by a clone and a fetch too")
  func unreadable() throws {
    try ToolHarness.run { bench in
      let (desk, _, cloud) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'SECONDVALUE'")
      Tools.run(["sync", desk] + cloud)
      // The same length, so that the file of the cloud is sound.
      let file = URL(filePath: bench.path("cloud"))
      var bytes = try [UInt8](Data(contentsOf: file))
      let word = Array("SECONDVALUE".utf8)
      let places = bytes.indices.filter { bytes[$0...].starts(with: word) }
      for place in places { bytes[place] = UInt8(ascii: "X") }
      try Data(bytes).write(to: file)
      #expect(!places.isEmpty)

      let clone = bench.tool("history", "clone", "@pad.db", "--cloud", "@cloud")
      #expect(clone.code == 3 && clone.output.contains("1 commit"), "\(clone)")
      let fetch = bench.tool("history", "fetch", "@phone.db", "--cloud", "@cloud")
      #expect(fetch.code == 3, "\(fetch)")
      for result in [clone, fetch] { #expect(result.errors.contains("was rejected"), "\(result)") }
      #expect(try bench.sql("pad.db", Self.rows) == ["'k1'|'0'", "'k2'|'0'"])
    }
  }

  @Test("A file that a commit is written to is whole, or is not there")
  func unfinishedExport() throws {
    try ToolHarness.run { bench in
      let strict = bench.path("strict.db")
      try Tools.edit(bench, "strict.db", Self.schema.replacing("n TEXT", with: "n CHECK(n < '5')"))
      Tools.run(["init", strict, "--all"])
      try Tools.edit(bench, "loose.db", Self.schema)
      let (loose, cloud) = (bench.path("loose.db"), ["--cloud", bench.path("cloud")])
      Tools.run(["init", loose, "--all"])
      try Tools.edit(bench, "loose.db", "INSERT INTO p VALUES('k3', '9')")
      Tools.run(["sync", loose, "--create"] + cloud)
      Tools.run(["sync", strict] + cloud, code: 3)
      let former = try bench.files()

      let refused = Tools.run(["checkout", strict, "HEAD", "--to", bench.path("o.db")], code: 1)
      #expect(refused.errors.contains("CHECK"), "\(refused)")
      #expect(try bench.files() == former)
      Tools.run(["checkout", loose, "HEAD", "--to", bench.path("o.db")])
      #expect(try bench.files() == (former + ["o.db"]).sorted())
      #expect(try bench.sql("o.db", "SELECT count(*) FROM p") == ["3"])
      Tools.run(["checkout", loose, "HEAD", "--to", bench.path("o.db")], code: 1)
    }
  }

  @Test("A tag that is not there cannot be taken away")
  func unknownTag() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      Tools.run(["tag", desk, "v1"])
      Tools.run(["tag", desk, "v1", "--delete"])
      #expect(Tools.run(["tag", desk, "v1", "--delete"], code: 1).errors.contains("no tag “v1”"))
    }
  }

  @Test("A tag is moved where that is asked for, and not by mistake")
  func movedTag() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      Tools.run(["tag", desk, "v1"])
      Tools.run(["tag", desk, "v1"])
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'later' WHERE k = 'k1'")
      Tools.run(["commit", desk])
      #expect(Tools.run(["tag", desk, "v1"], code: 1).errors.contains("--force moves it"))
      #expect(Tools.run(["diff", desk, "v1", "HEAD"]).output.contains("later"))
      Tools.run(["tag", desk, "v1", "--force"])
      #expect(Tools.run(["diff", desk, "v1", "HEAD"]).output.contains("no differences"))
    }
  }

  @Test("What would move a terminal's cursor or colour it is shown by signs")
  func controlCharacters() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      try Tools.edit(
        bench,
        "desk.db",
        "UPDATE p SET n = 'a' || char(10) || 'b' || char(27) || '[2J' || char(8238) WHERE k = 'k1'"
      )
      Tools.run(["commit", desk, "-m", "one\ntwo\u{1b}[31m"])
      let shown = Tools.run(["show", desk]).output
      #expect(shown.contains("'a␊b␛[2J<U+202E>'"))
      #expect(shown.contains("one two␛[31m"))
      #expect(!shown.contains("\u{1b}"))
    }
  }

  @Test("A branch that others have left with two heads can be merged and switched to from another")
  func twoHeads() throws {
    for command in ["merge", "switch"] {
      try ToolHarness.run("twoHeads-\(command)") { bench in
        let (desk, phone, cloud) = try Self.pair(bench)
        try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'desk' WHERE k = 'k1'")
        Tools.run(["commit", desk])
        Tools.run(["branch", desk, "x"])
        Tools.run(["switch", desk, "x"])
        try Tools.edit(bench, "phone.db", "UPDATE p SET n = 'phone' WHERE k = 'k2'")
        Tools.run(["sync", phone] + cloud)
        Tools.run(["fetch", desk] + cloud)

        Tools.run([command, desk, "main"])

        #expect(try bench.sql("desk.db", Self.rows) == ["'k1'|'desk'", "'k2'|'phone'"])
      }
    }
  }

  @Test(
    "A merge beside rows that are not committed says where the rows stay, and so does the status"
  )
  func uncommitted() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      Tools.run(["branch", desk, "x"])
      Tools.run(["switch", desk, "x"])
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'x' WHERE k = 'k1'")
      Tools.run(["commit", desk])
      Tools.run(["switch", desk, "main"])
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'main' WHERE k = 'k2'")
      Tools.run(["commit", desk])
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'later' WHERE k = 'k2'")

      #expect(Tools.run(["merge", desk, "x"]).output.contains("history pull \(desk)"))
      #expect(Tools.run(["status", desk]).output.contains("main has newer commits"))
      Tools.run(["discard", desk])
      Tools.run(["pull", desk])

      #expect(try bench.sql("desk.db", Self.rows) == ["'k1'|'x'", "'k2'|'main'"])
      #expect(!Tools.run(["status", desk]).output.contains("newer commits"))
    }
  }

  @Test("No output takes the place of a database, of a cloud or of what it is made from")
  func outputs() throws {
    try ToolHarness.run { bench in
      let (desk, phone, cloud) = try Self.pair(bench)
      let before = try bench.sql("phone.db", Self.rows)
      for path in [desk, phone, cloud[1]] {
        Tools.run(["report", desk, "-o", path], code: 2)
      }
      try Tools.edit(bench, "e.db", Self.schema)
      let sync = ["sync", "@e.db", "--cloud", "@new", "--create", "--all", "--log"]
      for path in ["@e.db", "@phone.db", "@new", "@cloud"] {
        let refused = bench.run(sync + [path])
        #expect(refused.code == 2 && refused.errors.contains("would be overwritten"), "\(refused)")
      }
      #expect(bench.run(sync + ["@e.log"]).code == 0)
      #expect(bench.tool("log", "report", "@e.log", "-o", "@e.log").code == 2)
      #expect(try bench.sql("phone.db", Self.rows) == before)
      #expect(try bench.sql("e.db", Self.rows) == before)
      Tools.run(["sync", desk] + cloud)
    }
  }

  @Test("A history whose tables were changed without it can be removed")
  func removed() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "ALTER TABLE p ADD COLUMN z")

      #expect(Tools.run(["remove", desk]).output.contains("1 commit removed"))
      #expect(try bench.sql("desk.db", Self.rows) == ["'k1'|'0'|NULL", "'k2'|'0'|NULL"])
      Tools.run(["init", desk, "--all"])
    }
  }

  @Test("Tables can be changed after a gc: what it has removed is fetched again")
  func changedAfterCollecting() throws {
    try ToolHarness.run { bench in
      let (desk, _, cloud) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'later' WHERE k = 'k1'")
      Tools.run(["sync", desk] + cloud)
      Tools.run(["gc", desk, "--depth", "0"])
      try Tools.edit(
        bench,
        "desk.db",
        "CREATE TABLE q(k TEXT PRIMARY KEY NOT NULL); INSERT INTO q SELECT k FROM p; DROP TABLE p;"
          + " ALTER TABLE q RENAME TO p"
      )
      let tooShort = Tools.run(["rescan", desk], code: 1).errors
      #expect(tooShort.contains("fetch \(desk) --cloud … --everything"), "\(tooShort)")
      Tools.run(["fetch", desk, "--everything"] + cloud)
      Tools.run(["rescan", desk])
      Tools.run(["verify", desk])
      Tools.run(["sync", desk] + cloud)
    }
  }

  @Test("The status names a rescan that takes new tables up beside those of a sync engine")
  func tablesOfAnEngine() throws {
    try ToolHarness.run { bench in
      let shop = bench.path("shop.db")
      try Tools.edit(
        bench,
        "shop.db",
        Self.schema + "; CREATE TABLE rows(id TEXT PRIMARY KEY NOT NULL)"
      )
      Tools.run(["init", shop, "--tables", "p"])
      let synced = bench.tool(
        "sync",
        "@shop.db",
        "--tables",
        "rows",
        "--cloud",
        "@rows",
        "--create"
      )
      #expect(synced.code == 0, "\(synced)")
      try Tools.edit(bench, "shop.db", "CREATE TABLE more(id TEXT PRIMARY KEY NOT NULL)")

      let status = Tools.run(["status", shop]).output

      #expect(status.contains("not in the history: more; “"), "\(status)")
      #expect(status.contains("rescan \(shop) --tables more,p”"), "\(status)")
      Tools.run(["rescan", shop, "--tables", "more,p"])
      #expect(Tools.run(["status", shop]).output.contains("not in the history") == false)
    }
  }

  @Test(
    "A row that a merge has kept though one side deleted it is told as that, and resolve deletes it"
  )
  func deletion() throws {
    try ToolHarness.run { bench in
      let (desk, phone, cloud) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "DELETE FROM p WHERE k = 'k1'")
      try Tools.edit(bench, "phone.db", "UPDATE p SET n = 'phone' WHERE k = 'k1'")
      for copy in [desk, phone] { Tools.run(["sync", copy] + cloud) }
      let list = Tools.run(["resolve", phone]).output
      #expect(list.contains("one side deleted the row, the other one changed it: it was kept"))

      try Tools.edit(bench, "phone.db", "UPDATE p SET n = 'later' WHERE k = 'k2'")
      let tooEarly = Tools.run(["resolve", phone, "1"], code: 1)
      #expect(tooEarly.errors.contains("not committed"), "\(tooEarly)")
      #expect(Tools.run(["resolve", phone]).output == list)
      Tools.run(["commit", phone])

      #expect(Tools.run(["resolve", phone, "1"]).output.hasPrefix("[main "))
      #expect(Tools.run(["resolve", phone]).output == "no conflicts\n")
      for copy in [phone, desk] { Tools.run(["sync", copy] + cloud) }
      for copy in ["desk.db", "phone.db"] {
        #expect(try bench.sql(copy, Self.rows) == ["'k2'|'later'"], "\(copy)")
      }
    }
  }
}
