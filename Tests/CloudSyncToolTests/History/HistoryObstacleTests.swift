import CloudSyncTestSupport
import Foundation
import Testing

@testable import cloudsync

/// What stands in the way of a history, and the ways on.
@Suite("cloudsync history: obstacles")
struct HistoryObstacleTests {
  private typealias Tools = HistoryToolTests

  private static let schema = """
    CREATE TABLE p(k TEXT PRIMARY KEY NOT NULL, n TEXT);
    INSERT INTO p VALUES('k1', '0'), ('k2', '0')
    """

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

  @Test("A history whose cloud is lost is given to a new one, by every copy, and loses nothing")
  func lostCloud() throws {
    try ToolHarness.run { bench in
      let (desk, phone, cloud) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "UPDATE p SET n = 'desk' WHERE k = 'k1'")
      try Tools.edit(bench, "phone.db", "UPDATE p SET n = 'phone' WHERE k = 'k2'")
      for end in ["", "-wal", "-shm"] where FileManager.default.fileExists(atPath: cloud[1] + end) {
        try FileManager.default.removeItem(atPath: cloud[1] + end)
      }

      let refused = Tools.run(["sync", desk, "--create"] + cloud, code: 1).errors
      #expect(refused.contains("“cloudsync history attach \(desk) --cloud \(cloud[1])”"))
      #expect(Tools.run(["attach", desk] + cloud, code: 1).errors.contains("add --create"))
      #expect(Tools.run(["attach", desk, "--create"] + cloud).output.contains("sent 2 commits"))
      Tools.run(["sync", phone] + cloud, code: 1)
      Tools.run(["attach", phone] + cloud)
      Tools.run(["sync", desk] + cloud)

      let wanted = ["'p': 'k1'|'desk'", "'p': 'k2'|'phone'"]
      #expect(try bench.contents("desk.db") == wanted)
      #expect(try bench.contents("phone.db") == wanted)
    }
  }

  @Test("Another zone is another place: the history is given to it, and goes on")
  func anotherZone() throws {
    try ToolHarness.run { bench in
      let (desk, _, cloud) = try Self.pair(bench)
      let words = ["--zone", "Other"] + cloud

      #expect(Tools.run(["sync", desk] + words, code: 1).errors.contains("history attach"))
      #expect(Tools.run(["attach", desk, "--create"] + words).output.contains("sent 1 commit"))
      Tools.run(["sync", desk] + words)
      #expect(Tools.run(["clone", bench.path("c.db")] + words).output.contains("2 rows"))
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

        #expect(try bench.contents("desk.db") == ["'p': 'k1'|'desk'", "'p': 'k2'|'phone'"])
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

      #expect(try bench.contents("desk.db") == ["'p': 'k1'|'x'", "'p': 'k2'|'main'"])
      #expect(!Tools.run(["status", desk]).output.contains("newer commits"))
    }
  }

  @Test("A history whose tables were changed without it can be removed")
  func removed() throws {
    try ToolHarness.run { bench in
      let (desk, _, _) = try Self.pair(bench)
      try Tools.edit(bench, "desk.db", "ALTER TABLE p ADD COLUMN z")

      #expect(Tools.run(["remove", desk]).output.contains("1 commit removed"))
      #expect(try bench.contents("desk.db") == ["'p': 'k1'|'0'|NULL", "'p': 'k2'|'0'|NULL"])
      Tools.run(["init", desk, "--all"])
    }
  }
}
