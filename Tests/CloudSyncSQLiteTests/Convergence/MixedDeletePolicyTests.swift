import CloudSyncSQLite
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

/// Edits win on some devices, and deletions on others: a version of the app has another policy, or a copy was told another.
@Suite("Devices with different policies of deletion")
struct MixedDeletePolicyTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT, n INTEGER)"
  private static let start: Int64 = 1_700_000_000_000
  private static let all = "SELECT * FROM notes ORDER BY id"

  private typealias Bench = (SyncHarness, devices: [SyncHarness.Device])

  /// Devices that all have a row, with a policy each.
  private func bench(_ policies: [DeletePolicy]) throws -> Bench {
    let bench = SyncHarness()
    let devices = try policies.enumerated()
      .map { number, policy in
        var options = SyncEngineOptions()
        options.defaultTable.merging.deletes = policy
        options.defaultTable.merging.columns["n"] = .counter
        return try bench.device(
          "\(number)",
          Self.schema,
          tables: ["notes"],
          options: options
        )
      }
    try devices[0].execute("INSERT INTO notes VALUES('a', 'A', 'B', 1)", at: Self.start)
    for device in devices { try bench.sync(device) }
    return (bench, devices)
  }

  /// Has all come to rest; returns what they have.
  private func end(_ bench: SyncHarness, _ devices: [SyncHarness.Device]) async throws -> [String] {
    for device in devices + devices + devices { try bench.sync(device) }
    let rows = try devices[0].lines(Self.all)
    for device in devices {
      #expect(try device.lines(Self.all) == rows, "\(device.name)")
      #expect(try bench.unclean(device) == [], "\(device.name)")
      #expect(try await device.engine.verify().differences == [], "\(device.name)")
    }
    return rows
  }

  @Test(
    "A deletion of one and an edit of the other end alike on both",
    arguments: SuiteSize.pairs(2, [0, 1], [0, 1])
  )
  func pair(deleting: Int, first: Int) async throws {
    for policies: [DeletePolicy] in [[.deleteWins, .editWins], [.editWins, .deleteWins]] {
      let (bench, devices) = try bench(policies)
      try devices[deleting].execute("DELETE FROM notes", at: Self.start + 60_000)
      try devices[1 - deleting]
        .execute("UPDATE notes SET title = 'A2', n = n + 1", at: Self.start + 120_000)
      try bench.sync(devices[first])
      try bench.sync(devices[1 - first])
      let rows = try await end(bench, devices)
      #expect(rows == [] || rows == ["'a'|'A2'|'B'|2"])
      // Who deletes it then has seen all of it.
      try devices[first].execute("DELETE FROM notes", at: Self.start + 180_000)
      #expect(try await end(bench, devices) == [])
    }
  }

  @Test("A row that has come back is edited, and deleted, by both", arguments: [0, 1])
  func backAgain(number: Int) async throws {
    let (bench, devices) = try bench([.deleteWins, .editWins, .deleteWins])
    try devices[0].execute("DELETE FROM notes", at: Self.start + 60_000)
    try devices[1].execute("UPDATE notes SET title = 'A2'", at: Self.start + 90_000)
    for device in devices { try bench.sync(device) }
    #expect(try await end(bench, devices) == ["'a'|'A2'|'B'|1"])
    try devices[0].execute("UPDATE notes SET body = 'B2', n = n + 1", at: Self.start + 120_000)
    try devices[1].execute("UPDATE notes SET title = 'A3', n = n + 2", at: Self.start + 120_001)
    try devices[2].execute("UPDATE notes SET n = n + 4", at: Self.start + 120_002)
    #expect(try await end(bench, devices) == ["'a'|'A3'|'B2'|8"])
    try devices[number].execute("DELETE FROM notes", at: Self.start + 180_000)
    #expect(try await end(bench, devices) == [])
    try devices[1 - number]
      .execute("INSERT INTO notes VALUES('a', 'new', NULL, 5)", at: Self.start + 240_000)
    #expect(try await end(bench, devices) == ["'a'|'new'|NULL|5"])
  }

  @Test(
    "Whatever three devices do, they end alike",
    arguments: 0..<SuiteSize.count(3, long: 2_000)
  )
  func random(seed: Int) async throws {
    var random = SeededRandom(seed: UInt64(seed))
    let policies = (0..<3).map { _ in random.pick(DeletePolicy.allCases) }
    let (bench, devices) = try bench(policies)
    for step in 1...24 {
      let device = devices[random.below(3)]
      let time = Self.start + Int64(step) * 60_000
      let sql = random.pick([
        "UPDATE notes SET title = 't\(step)'", "UPDATE notes SET body = 'b\(step)'",
        "UPDATE notes SET n = n + \(step)", "DELETE FROM notes WHERE id = 'a'",
        "DELETE FROM notes",
        "INSERT OR REPLACE INTO notes VALUES('a', 'r\(step)', NULL, 0)",
        "UPDATE OR IGNORE notes SET id = 'b' WHERE id = 'a'",
        "UPDATE OR IGNORE notes SET id = 'a' WHERE id = 'b'",
      ])
      if random.chance(1, in: 2) {
        try bench.sync(device)
      } else {
        try device.execute(sql, at: time)
      }
    }
    _ = try await end(bench, devices)
  }
}
