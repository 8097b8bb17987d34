import CloudSyncTestSupport
import Testing

@testable import cloudsync

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("cloudsync recognizes clouds, and attaches databases to others")
struct CloudRecognitionTests {
  private static let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT)"

  /// Two copies with a row of their own each, synced through one cloud.
  private func two(_ bench: ToolHarness) throws {
    for (name, key) in [("a.db", "1"), ("b.db", "2")] {
      try bench.sql(name, Self.schema, "INSERT INTO t VALUES('\(key)', '\(name)')", "SELECT 1")
      let result = bench.tool("sync", "@\(name)", "--cloud", "@x.cloud", "--all", "--create")
      #expect(result.code == 0, "\(result)")
    }
    #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud").code == 0)
  }

  /// Puts a backup in the place of a cloud.
  private func restore(_ backup: String, as name: String, in bench: ToolHarness) throws {
    for suffix in ["", "-wal", "-shm"] {
      try? FileManager.default.removeItem(atPath: bench.path(name + suffix))
    }
    try FileManager.default.copyItem(atPath: bench.path(backup), toPath: bench.path(name))
  }

  /// Expects that a sync is refused, changes nothing, and names the way back.
  private func expectRefusal(
    _ name: String,
    _ words: String,
    in bench: ToolHarness,
    _ extra: String...,
    place: SourceLocation = #_sourceLocation
  ) throws {
    let rows = try bench.contents(name)
    for arguments in [extra, extra + ["--dry-run"]] {
      let result = bench.run(["sync", "@\(name)", "--cloud", "@x.cloud"] + arguments)
      #expect(result.code == 1, "\(result)", sourceLocation: place)
      #expect(result.errors.contains(words), "\(result)", sourceLocation: place)
      let way = "cloudsync attach \(name) --cloud x.cloud --merge"
      #expect(result.errors.contains(way), "\(result)", sourceLocation: place)
      #expect(!result.errors.contains("detach"), "\(result)", sourceLocation: place)
    }
    #expect(try bench.contents(name) == rows, sourceLocation: place)
  }

  @Test(
    "A large BLOB that is not sent yet needs no file when attaching brings another edit of its row"
  )
  func largeBlob() throws {
    try ToolHarness.run { bench in
      let schema = "CREATE TABLE t(id TEXT PRIMARY KEY NOT NULL, v TEXT, big BLOB)"
      try bench.sql("a.db", schema, "INSERT INTO t(id) VALUES('1')", "SELECT 1")
      try bench.sql("b.db", schema, "SELECT 1")
      for name in ["@a.db", "@b.db"] {
        #expect(bench.tool("sync", name, "--cloud", "@x.cloud", "--all", "--create").code == 0)
      }
      try FileManager.default.copyItem(
        atPath: bench.path("x.cloud"),
        toPath: bench.path("old.cloud")
      )
      try bench.sql("b.db", "UPDATE t SET v = 'later'", "SELECT 1")
      for name in ["@b.db", "@a.db"] {
        #expect(bench.tool("sync", name, "--cloud", "@x.cloud").code == 0)
      }
      try restore("old.cloud", as: "x.cloud", in: bench)
      try bench.sql("b.db", "UPDATE t SET big = zeroblob(100000)", "SELECT 1")
      try bench.sql("a.db", "UPDATE t SET v = 'a'", "SELECT 1")
      for name in ["@a.db", "@b.db"] {
        let result = bench.tool("attach", name, "--cloud", "@x.cloud", "--merge")
        #expect(result.code == 0 && !result.output.contains("parked: t"), "\(result)")
      }
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud").code == 0)
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
    }
  }

  @Test("A cloud is created only when that is asked for, and a mistyped name creates none")
  func creation() throws {
    try ToolHarness.run { bench in
      try bench.sql("a.db", Self.schema, "INSERT INTO t VALUES('1', 'x')", "SELECT 1")
      for arguments in [[], ["--dry-run"]] {
        let result = bench.run(["sync", "@a.db", "--cloud", "@x.cloud", "--all"] + arguments)
        #expect(result.code == 1 && result.errors.contains("add --create"), "\(result)")
      }
      #expect(try bench.files() == ["a.db"])
      let dry = bench.tool(
        "sync",
        "@a.db",
        "--cloud",
        "@x.cloud",
        "--all",
        "--create",
        "--dry-run"
      )
      #expect(dry.code == 0 && dry.output.contains("would be sent: insert t '1'"), "\(dry)")
      #expect(try bench.files() == ["a.db"])
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud", "--all", "--create").code == 0)

      try bench.sql("b.db", Self.schema, "SELECT 1")
      let mistyped = bench.tool("sync", "@b.db", "--cloud", "@x.clodu", "--all")
      #expect(mistyped.errors.contains("did you mean “x.cloud”?"), "\(mistyped)")
      let zone = bench.tool("sync", "@b.db", "--cloud", "@x.cloud", "--all", "--zone", "Databse")
      #expect(zone.code == 1 && zone.errors.contains("did you mean “Database”?"), "\(zone)")
      for empty in ["", " "] {
        let result = bench.tool("sync", "@b.db", "--cloud", empty, "--all", "--create")
        #expect(result.code == 2 && result.errors.contains("--cloud is empty"), "\(result)")
      }
      #expect(try bench.files() == ["a.db", "b.db", "x.cloud"])
      #expect(bench.tool("sync", "@b.db", "--cloud", "@x.cloud", "--all").code == 0)
    }
  }

  @Test(
    "A cloud that is missing or emptied is recognized, and made again from what the copies have"
  )
  func missing() throws {
    try ToolHarness.run { bench in
      try two(bench)
      let rows = try bench.contents("a.db")
      try bench.sql("a.db", "UPDATE t SET v = 'edited' WHERE id = '2'", "SELECT 1")
      try Data().write(to: URL(fileURLWithPath: bench.path("x.cloud")))
      try expectRefusal("a.db", "the file is empty", in: bench)
      try FileManager.default.removeItem(atPath: bench.path("x.cloud"))
      try expectRefusal("a.db", "there is no such cloud", in: bench, "--create")

      let attach = ["attach", "@a.db", "--cloud", "@x.cloud"]
      #expect(bench.run(attach + ["--create"]).code == 2, "it needs --merge")
      #expect(bench.run(attach + ["--merge"]).errors.contains("add --create"))
      #expect(bench.run(attach + ["--merge", "--create"]).code == 0)
      try expectRefusal("b.db", "another cloud than x.cloud", in: bench)
      #expect(bench.tool("attach", "@b.db", "--cloud", "@x.cloud", "--merge").code == 0)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud", "--verify").code == 0)
      #expect(try bench.contents("b.db") == bench.contents("a.db"))
      #expect(try bench.contents("a.db") != rows && bench.contents("a.db").count == 2)
    }
  }

  @Test("A cloud that was restored from an older backup loses nothing that any copy has seen")
  func restored() throws {
    try ToolHarness.run { bench in
      try two(bench)
      try restore("x.cloud", as: "old.cloud", in: bench)
      try bench.sql("b.db", "INSERT INTO t VALUES('3', 'later')", "SELECT 1")
      try bench.sql("b.db", "DELETE FROM t WHERE id = '1'", "SELECT 1")
      for name in ["b.db", "a.db"] {
        #expect(bench.tool("sync", "@\(name)", "--cloud", "@x.cloud").code == 0)
      }
      try restore("old.cloud", as: "x.cloud", in: bench)
      try expectRefusal("a.db", "restored from an older backup", in: bench)
      try bench.sql("a.db", "UPDATE t SET v = 'since' WHERE id = '2'", "SELECT 1")

      let dry = bench.tool("attach", "@a.db", "--cloud", "@x.cloud", "--merge", "--dry-run")
      #expect(dry.code == 0 && dry.output.contains("would be sent: insert t '3'"), "\(dry)")
      #expect(bench.tool("attach", "@a.db", "--cloud", "@x.cloud", "--merge").code == 0)
      // Others have written since, and the copy is told all the same.
      try expectRefusal("b.db", "restored from an older backup", in: bench)
      #expect(bench.tool("attach", "@b.db", "--cloud", "@x.cloud", "--merge").code == 0)
      for name in ["a.db", "b.db"] {
        let result = bench.tool("sync", "@\(name)", "--cloud", "@x.cloud", "--verify")
        #expect(result.code == 0, "\(result)")
        #expect(
          try bench.sql(name, "SELECT id, v FROM t ORDER BY id") == ["'2'|'since'", "'3'|'later'"]
        )
      }
    }
  }

  @Test("What a copy had deleted in its former cloud is not deleted in the one that it joins")
  func deletedElsewhere() throws {
    try ToolHarness.run { bench in
      try two(bench)
      try bench.sql("d.db", Self.schema, "INSERT INTO t VALUES('1', 'd'), ('2', 'd')", "SELECT 1")
      let first = ["sync", "@d.db", "--cloud", "@y.cloud"]
      #expect(bench.run(first + ["--create", "--all"]).code == 0)
      try bench.sql("d.db", "DELETE FROM t WHERE id = '1'", "SELECT 1")
      #expect(bench.run(first).code == 0)
      let rows = try bench.contents("a.db")

      let attach = ["attach", "@d.db", "--cloud", "@x.cloud", "--merge"]
      let dry = bench.run(attach + ["--dry-run"])
      #expect(dry.code == 0 && !dry.output.contains("delete"), "\(dry)")
      #expect(bench.run(attach).code == 0)
      for name in ["a.db", "d.db"] {
        #expect(bench.tool("sync", "@\(name)", "--cloud", "@x.cloud", "--verify").code == 0)
        #expect(try bench.sql(name, "SELECT count(*) FROM t WHERE id = '1'") == ["1"])
      }
      #expect(try bench.contents("a.db").count == rows.count)
    }
  }

  @Test(
    "1. A cloud file that was put back, and in which others have made as many edits since, loses nothing"
  )
  func restoredUnnoticed() throws {
    try ToolHarness.run { bench in
      try two(bench)
      try restore("x.cloud", as: "old.cloud", in: bench)
      for number in 1...3 {
        try bench.sql("a.db", "INSERT INTO t VALUES('a\(number)', 'a')", "SELECT 1")
      }
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud").code == 0)
      try restore("old.cloud", as: "x.cloud", in: bench)
      for number in 1...3 {
        try bench.sql("b.db", "INSERT INTO t VALUES('b\(number)', 'b')", "SELECT 1")
      }
      #expect(bench.tool("sync", "@b.db", "--cloud", "@x.cloud").code == 0)

      try expectRefusal("a.db", "restored from an older backup", in: bench)
      #expect(bench.tool("attach", "@a.db", "--cloud", "@x.cloud", "--merge").code == 0)
      // Who has seen all that is there is told too, unless there is nothing that it could have lost.
      if bench.tool("sync", "@b.db", "--cloud", "@x.cloud").code != 0 {
        #expect(bench.tool("attach", "@b.db", "--cloud", "@x.cloud", "--merge").code == 0)
      }
      for name in ["a.db", "b.db"] {
        let result = bench.tool("sync", "@\(name)", "--cloud", "@x.cloud", "--verify")
        #expect(result.code == 0, "\(result)")
        #expect(
          try bench.sql(name, "SELECT id FROM t ORDER BY id")
            == ["1", "2", "a1", "a2", "a3", "b1", "b2", "b3"].map { "'\($0)'" }
        )
      }
    }
  }

  @Test("A copy joins another cloud or zone, and both sides keep their rows")
  func others() throws {
    try ToolHarness.run { bench in
      try two(bench)
      try bench.sql("c.db", Self.schema, "INSERT INTO t VALUES('9', 'c')", "SELECT 1")
      #expect(bench.tool("sync", "@c.db", "--cloud", "@y.cloud", "--all", "--create").code == 0)
      try expectRefusal("c.db", "another cloud than x.cloud", in: bench)
      #expect(bench.tool("attach", "@c.db", "--cloud", "@x.cloud", "--merge").code == 0)
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud", "--verify").code == 0)
      #expect(try bench.contents("c.db") == bench.contents("a.db"))
      #expect(try bench.contents("a.db").count == 3)

      let again = bench.tool("attach", "@c.db", "--cloud", "@x.cloud", "--merge")
      #expect(again.code == 0 && again.errors.contains("belongs to x.cloud already"), "\(again)")
      let zone = ["@c.db", "--cloud", "@x.cloud", "--zone", "Other"]
      #expect(bench.run(["sync"] + zone).errors.contains("the zone “Database”"))
      #expect(bench.run(["attach"] + zone + ["--merge"]).errors.contains("no zone “Other”"))
      #expect(bench.run(["attach"] + zone + ["--merge", "--create"]).code == 0)
      #expect(bench.tool("sync", "@c.db", "--cloud", "@x.cloud", "--verify").code == 0)
      #expect(try bench.contents("c.db").count == 3)

      try bench.sql("d.db", Self.schema, "SELECT 1")
      let never = bench.tool("attach", "@d.db", "--cloud", "@x.cloud", "--merge", "--all")
      #expect(never.code == 1 && never.errors.contains("nothing to attach"), "\(never)")
    }
  }

  @Test("A detached database has its journal mode again, and no folder beside it")
  func detach() throws {
    try ToolHarness.run { bench in
      let schema = "CREATE TABLE f(id TEXT PRIMARY KEY NOT NULL, b BLOB)"
      try bench.sql("a.db", schema, "INSERT INTO f VALUES('x', zeroblob(200000))", "SELECT 1")
      let mode = "PRAGMA journal_mode"
      #expect(try bench.sql("a.db", mode) == ["'delete'"])
      #expect(bench.tool("sync", "@a.db", "--cloud", "@x.cloud", "--all", "--create").code == 0)
      #expect(try bench.sql("a.db", mode) == ["'wal'"])
      // As a run that was killed leaves it.
      let folder = bench.path("a.db-cloudsync-assets")
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try Data([1]).write(to: URL(fileURLWithPath: folder + "/00"))
      #expect(bench.tool("detach", "@a.db").code == 0)
      #expect(try bench.sql("a.db", mode) == ["'delete'"])
      #expect(try bench.files() == ["a.db", "x.cloud", "x.cloud-assets"])

      try bench.sql("w.db", "PRAGMA journal_mode = WAL", schema, "SELECT 1")
      #expect(bench.tool("sync", "@w.db", "--cloud", "@x.cloud", "--all").code == 0)
      #expect(bench.tool("detach", "@w.db", "--json").output.contains("\"unsent\" : 0"))
      #expect(try bench.sql("w.db", mode) == ["'wal'"])
    }
  }
}
