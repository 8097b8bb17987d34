import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import Foundation
import Testing

@testable import cloudsync

/// The page of a history.
///
/// What it does in a browser `browser-check.py` tries.
@Suite("cloudsync history report")
struct HistoryReportTests {
  /// Text that would do something if it became markup.
  private static let hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>"

  private struct Commit: Decodable {
    struct Cell: Decodable {
      var column: String
      var old: String
      var new: String
    }

    struct Change: Decodable {
      var table: String
      var key: String
      var kind: String
      var cells: [Cell]
    }

    var id: String
    var parents: [String]
    var kind: String
    var message: String
    var refs: [String]
    var changes: [Change]
    var more: Int?
    var isGone: Bool?
  }

  private static func run(_ arguments: [String], code: Int32 = 0) -> String {
    var output = ""
    let console = Console(output: { output += $0 }, errors: { output += $0 })
    #expect(Tool.run(with: ["history"] + arguments, console: console) == code, "\(output)")
    return output
  }

  private static func page(_ path: String) throws -> String {
    String(decoding: try Data(contentsOf: URL(fileURLWithPath: path)), as: UTF8.self)
  }

  private static func commits(_ page: String) throws -> [Commit] {
    try page.components(separatedBy: "data-block=\"commits\">").dropFirst()
      .flatMap { block in
        let json = block.components(separatedBy: "</script>")[0]
        return try JSONDecoder().decode([Commit].self, from: Data(json.utf8))
      }
  }

  private static func fill(_ bench: ToolHarness) throws -> String {
    let shop = bench.path("shop.db")
    try bench.sql(
      "shop.db",
      "CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL, name TEXT, price INTEGER)",
      "INSERT INTO items VALUES('a', 'Apple', 3), ('b', '\(hostile)', 4)"
    )
    _ = run(["init", shop, "--all", "--replica", "desk"])
    _ = run(["branch", shop, "idea"])
    try bench.sql("shop.db", "UPDATE items SET price = 5 WHERE id = 'a'")
    _ = run(["commit", shop, "-m", hostile])
    _ = run(["switch", shop, "idea"])
    try bench.sql("shop.db", "UPDATE items SET price = 6, name = 'Apples' WHERE id = 'a'")
    _ = run(["commit", shop, "-m", "Idea"])
    _ = run(["switch", shop, "main"])
    _ = run(["merge", shop, "idea"])
    _ = run(["tag", shop, "release"])
    return shop
  }

  @Test("The page has all commits with their rows, and nothing in it runs")
  func content() throws {
    try ToolHarness.run { bench in
      let (shop, out) = (try Self.fill(bench), bench.path("out.html"))
      #expect(Self.run(["report", shop, "-o", out]) == "wrote \(out): 4 commits\n")
      let page = try Self.page(out)
      #expect(page.components(separatedBy: "<script").count - 1 == 3)
      #expect(!page.contains("alert(1)</script>") && !page.contains("<img"))
      #expect(page.contains("default-src 'none'"))
      let commits = try Self.commits(page)
      #expect(commits.map(\.kind) == ["merge", "edit", "edit", "edit"])
      #expect(commits[0].refs == ["HEAD", "main", "tag release"])
      #expect(Set(commits[0].parents) == Set(commits[1...2].map(\.id)))
      #expect(commits.contains { $0.message == Self.hostile })
      let first = commits[3].changes
      #expect(first.map(\.key) == ["'a'", "'b'"] && first.map(\.kind) == ["insert", "insert"])
      #expect(first[1].cells.map(\.new) == ["'\(Self.hostile)'", "4"])
      // The same history gives the same bytes, and an older page is replaced.
      let again = Self.run(["report", shop, "-o", out, "--json"])
      #expect(again.contains("\"commits\" : 4"))
      #expect(try Self.page(out) == page)
    }
  }

  @Test("A page of some commits, of removed changes, of nothing")
  func parts() throws {
    try ToolHarness.run { bench in
      let (shop, out) = (try Self.fill(bench), bench.path("out.html"))
      _ = Self.run(["report", shop, "-o", out, "--count", "2", "--title", "A <b>title</b>"])
      var page = try Self.page(out)
      #expect(try Self.commits(page).count == 2)
      #expect(page.contains("<title>A &lt;b&gt;title&lt;/b&gt;</title>"))
      #expect(page.contains("The page has the newest 2 commits."))
      _ = Self.run(["gc", shop, "--depth", "0", "--including-unsent"])
      _ = Self.run(["report", shop, "-o", out])
      page = try Self.page(out)
      let commits = try Self.commits(page)
      // Of the merge at which it begins too what is different from the branch before it is gone.
      #expect(commits.map { $0.isGone ?? false }.filter { $0 }.count == 4)
      // Rows beyond the most that a commit shows are counted.
      let rows = (0..<250).map { "('r\($0)')" }.joined(separator: ", ")
      try bench.sql("shop.db", "INSERT INTO items(id) VALUES \(rows)")
      _ = Self.run(["commit", shop])
      _ = Self.run(["report", shop, "-o", out])
      let last = try #require(try Self.commits(try Self.page(out)).first)
      #expect(last.changes.count == 200 && last.more == 50)
      try bench.sql("empty.db", "CREATE TABLE items(id TEXT PRIMARY KEY NOT NULL)")
      _ = Self.run(["init", bench.path("empty.db"), "--all"])
      _ = Self.run(["report", bench.path("empty.db")])
      #expect(try Self.commits(try Self.page(bench.path("empty.db.html"))).isEmpty)
    }
  }

  @Test("What cannot be written leaves nothing, and the database is never written over")
  func refusals() throws {
    try ToolHarness.run { bench in
      let shop = try Self.fill(bench)
      let before = bench.bytes("shop.db")
      for call in [
        ["report", shop, "-o", shop], ["report", shop, "--count", "0"],
        ["report", shop, "--count", "x"], ["report", shop, "-o"],
      ] { _ = Self.run(call, code: 2) }
      _ = Self.run(["report", shop, "-o", bench.path("no/such/folder.html")], code: 1)
      _ = Self.run(["report", bench.path("none.db"), "-o", bench.path("x.html")], code: 1)
      #expect(bench.bytes("shop.db") == before)
      #expect(bench.bytes("x.html") == nil)
    }
  }

  @Test("A tag that is called like a commit leads nobody to another commit")
  func misleadingTag() throws {
    try ToolHarness.run { bench in
      let shop = try Self.fill(bench)
      let repository = try ChangesetRepository(DatabaseFile(path: shop))
      let log = try repository.log()
      try repository.tag(log[0].id.description, Revision(log[3].id))
      #expect(try repository.show(Revision(log[0].id)).changeset.id == log[0].id)
    }
  }

  @Test(
    "Writes the page that browser-check.py opens, and who wrote the row that it looks at",
    .enabled(if: ProcessInfo.processInfo.environment["CLOUDSYNC_REPORT_FOLDER"] != nil)
  )
  func writesHistoryForABrowser() throws {
    let folder = try #require(ProcessInfo.processInfo.environment["CLOUDSYNC_REPORT_FOLDER"])
    try ToolHarness.run { bench in
      let out = "\(folder)/history.html"
      _ = Self.run(["report", try Self.fill(bench), "-o", out])
      let commits = try Self.commits(try Self.page(out))
      let idea = try #require(commits.first { $0.message == "Idea" }).id
      let blame = "name='Apples'=\(idea) price=6=\(idea)\n"
      try Data(blame.utf8).write(to: URL(fileURLWithPath: "\(folder)/history.blame"))
    }
  }
}
