import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync: a cloud that is moved with its folder of large values, or without it")
struct MovedCloudTests {
  private static let schema =
    "CREATE TABLE photos(id TEXT PRIMARY KEY NOT NULL, title TEXT, data BLOB, story TEXT)"

  /// A copy whose two large values are in the cloud.
  private static func copy(_ bench: ToolHarness) throws {
    try bench.sql(
      "a.db",
      schema,
      "INSERT INTO photos VALUES('p', 'Sea', randomblob(60000), NULL), ('q', 'Sky', NULL, hex(randomblob(150000)))",
      "SELECT 1"
    )
    let done = bench.tool("sync", "@a.db", "--cloud", "@c.cloud", "--create", "--all")
    #expect(done.code == 0, "\(done)")
    try bench.sql("b.db", schema, "SELECT 1")
  }

  private static func move(_ name: String, to other: String, in bench: ToolHarness) throws {
    // As if the process had ended that has written it.
    if name.hasSuffix(".cloud") {
      try bench.sql(name, "PRAGMA wal_checkpoint(TRUNCATE)", "SELECT 1")
    }
    try FileManager.default.moveItem(atPath: bench.path(name), toPath: bench.path(other))
  }

  @Test("Moved together, both work at the new place, though nothing is at the old one any more")
  func together() throws {
    try ToolHarness.run("moved-together") { bench in
      try Self.copy(bench)
      try FileManager.default.createDirectory(
        atPath: bench.path("there"),
        withIntermediateDirectories: false
      )
      for name in ["c.cloud", "c.cloud-assets"] {
        try Self.move(name, to: "there/\(name)", in: bench)
      }
      let done = bench.tool("sync", "@b.db", "--cloud", "@there/c.cloud", "--all", "--verify")
      #expect(done.code == 0 && done.output.contains("0 differences"), "\(done)")
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
    }
  }

  @Test(
    "Moved without its folder it is not opened, the error says what to do, and with the folder all is well"
  )
  func alone() throws {
    try ToolHarness.run("moved-alone") { bench in
      try Self.copy(bench)
      try Self.move("c.cloud", to: "d.cloud", in: bench)
      let before = try bench.contents("b.db")
      for options in [
        ["sync", "@b.db", "--all"], ["sync", "@a.db", "--rescan"], ["attach", "@a.db", "--merge"],
        ["sync", "@b.db", "--all", "--dry-run"],
      ] {
        let refused = bench.run(options + ["--cloud", "@d.cloud"])
        #expect(refused.code == 1, "\(refused)")
        #expect(
          refused.errors.contains(
            "d.cloud: the folder d.cloud-assets with its large values is not beside it: move, copy or rename that folder too"
          ),
          "\(refused)"
        )
      }
      #expect(try bench.contents("b.db") == before)
      try Self.move("c.cloud-assets", to: "d.cloud-assets", in: bench)
      let done = bench.tool("sync", "@b.db", "--cloud", "@d.cloud", "--all")
      #expect(done.code == 0, "\(done)")
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
    }
  }

  @Test("A folder that is lost is made anew by --create, from what the copies have")
  func lost() throws {
    try ToolHarness.run("lost-assets") { bench in
      try Self.copy(bench)
      try FileManager.default.removeItem(atPath: bench.path("c.cloud-assets"))
      let begun = bench.tool("sync", "@b.db", "--cloud", "@c.cloud", "--create", "--all")
      #expect(begun.code == 3 && begun.output.contains("parked 2"), "\(begun)")
      #expect(
        begun.errors.contains(
          "lacked 2 large values or had them damaged, and has 0 of them from this copy again; 2 are in none"
        ),
        "\(begun)"
      )
      let found = bench.tool("sync", "@a.db", "--cloud", "@c.cloud", "--verify")
      #expect(found.code == 1 && found.output.contains("2 differences"), "\(found)")
      #expect(
        found.output.contains("differs: photos 'p': column data: its content is not in"),
        "\(found)"
      )
      let again = bench.tool("sync", "@a.db", "--cloud", "@c.cloud", "--rescan", "--verify")
      #expect(
        again.code == 0 && again.errors.contains("has 2 of them from this copy again\n"),
        "\(again)"
      )
      let done = bench.tool("sync", "@b.db", "--cloud", "@c.cloud")
      #expect(done.code == 0, "\(done)")
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
    }
  }

  @Test(
    "A file that is missing in the folder parks its row, names what to do, and comes with the next sync"
  )
  func oneFile() throws {
    try ToolHarness.run("lost-file") { bench in
      try Self.copy(bench)
      let folder = bench.path("c.cloud-assets")
      let owner = try #require(try FileManager.default.contentsOfDirectory(atPath: folder).first)
      for name in try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(owner)") {
        try Self.move("c.cloud-assets/\(owner)/\(name)", to: name, in: bench)
      }
      let parked = bench.tool("sync", "@b.db", "--cloud", "@c.cloud", "--all")
      #expect(parked.code == 3, "\(parked)")
      for words in [
        "parked: photos 'p': record p:photos of table \"photos\" cannot be stored: column data: its content is not in c.cloud-assets, the folder beside c.cloud",
        "“cloudsync sync DATABASE --cloud c.cloud --rescan” stores it again",
      ] {
        #expect(parked.output.contains(words), "\(words): \(parked)")
      }
      #expect(!parked.output.contains("Error"), "\(parked)")
      for name in try bench.files() where name.count == 64 {
        try Self.move(name, to: "c.cloud-assets/\(owner)/\(name)", in: bench)
      }
      let done = bench.tool("sync", "@b.db", "--cloud", "@c.cloud")
      #expect(done.code == 0 && done.output.contains("parked 0\n"), "\(done)")
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
    }
  }
}
