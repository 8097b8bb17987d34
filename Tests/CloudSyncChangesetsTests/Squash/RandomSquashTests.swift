import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Testing

/// Replicas of which any squashes at any time, falls silent, removes old changes, or begins anew as a clone: in the end
/// all are equal, and every edit is there.
@Suite struct RandomSquashTests {
  private final class Player {
    let database: DatabaseFile
    let repository: ChangesetRepository
    let remote: ChangesetRemote
    let seconds: Locked<Int64>

    init(
      _ database: DatabaseFile,
      _ repository: ChangesetRepository,
      _ cloud: LocalCloud,
      name: String,
      seconds: Locked<Int64>
    ) throws {
      (self.database, self.repository, self.seconds) = (database, repository, seconds)
      remote = try ChangesetRemote(
        repository,
        operationHandler: RemoteBench.handler(cloud, device: name),
        zoneID: RemoteBench.zone
      )
    }
  }

  private static let schema = """
    CREATE TABLE rows(id TEXT PRIMARY KEY NOT NULL, value INTEGER, other INTEGER DEFAULT 7);
    CREATE TABLE shared(id TEXT PRIMARY KEY NOT NULL, mail TEXT UNIQUE, value INTEGER);
    """

  private let cloud = LocalCloud()

  private func player(_ name: String, clones: Bool, at time: Int64) async throws -> Player {
    let seconds = Locked(time)
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let options = HistoryBench.options(replica: name, seconds: seconds)
    guard clones else {
      try database.execute(Self.schema)
      let repository = try ChangesetRepository(database, options: options)
      return try Player(database, repository, cloud, name: name, seconds: seconds)
    }
    let repository = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: name),
      zoneID: RemoteBench.zone,
      options: options
    )
    return try Player(database, repository, cloud, name: name, seconds: seconds)
  }

  /// Edits rows that nobody else does, and what these must be in the end; and rows that all edit.
  private func edit(
    _ player: Player,
    place: Int,
    _ wanted: inout [String: Int64],
    _ random: inout SplitMix64
  ) throws {
    for _ in 0...random.below(3) {
      let key = "\(place)-\(random.below(5))"
      if random.below(4) == 0 {
        try player.database.execute("DELETE FROM rows WHERE id = '\(key)'")
        wanted[key] = nil
      } else {
        let value = Int64(random.below(1_000))
        try player.database.execute(
          """
          INSERT INTO rows(id, value) VALUES('\(key)', \(value))
            ON CONFLICT(id) DO UPDATE SET value = excluded.value;
          """
        )
        wanted[key] = value
      }
      let common = "s\(random.below(4))"
      switch random.below(3) {
      case 0: try player.database.execute("DELETE FROM shared WHERE id = '\(common)'")
      case 1:
        try player.database.execute(
          "INSERT OR IGNORE INTO shared VALUES('\(common)', 'm\(random.below(4))', \(random.below(9)))"
        )
      default:
        try player.database.execute(
          "UPDATE OR IGNORE shared SET mail = 'm\(random.below(4))', value = value + 1 WHERE id = '\(common)'"
        )
      }
    }
    player.seconds.withLock { $0 += 1 + Int64(random.below(100)) }
  }

  /// How often something has happened.
  private struct Counts {
    var squashes = 0
    var rebases = 0
    var others = 0
  }

  @Test func nothingIsLostWhoeverSquashes() async throws {
    // Side by side: one after the other they would end long after all other tests.
    let counts = try await withThrowingTaskGroup(of: Counts.self) { group in
      for seed in 0..<UInt64(SuiteSize.count(5, long: 60)) {
        group.addTask {
          var counts = Counts()
          do { try await RandomSquashTests().run(seed: seed, counts: &counts) } catch {
            Issue.record(error, "seed \(seed)")
          }
          return counts
        }
      }
      return try await group.reduce(into: Counts()) { sum, counts in
        sum.squashes += counts.squashes
        sum.rebases += counts.rebases
        sum.others += counts.others
      }
    }
    #expect(counts.squashes > 3 && counts.rebases > 3 && counts.others > 0, "\(counts)")
  }

  private func run(seed: UInt64, counts: inout Counts) async throws {
    var random = SplitMix64(seed: seed)
    var time: Int64 = 1_760_000_000
    var players: [Player] = []
    for place in 0..<3 {
      players.append(try await player("r\(place)", clones: place > 0, at: time))
      if place > 0 { continue }
      try players[0].database.execute("INSERT INTO shared VALUES('s0', 'm0', 0)")
      try await players[0].remote.sync()
    }
    var wanted: [String: Int64] = [:]
    for phase in 0..<4 {
      // One of them is away, or none, and time goes by.
      let away = Int(random.below(4))
      time += 100 * SquashBench.day
      for (place, player) in players.enumerated() where place != away {
        player.seconds.withLock { $0 = max($0, time) }
      }
      for step in 0..<20 {
        let place = Int(random.below(3))
        if place == away {
          try edit(players[place], place: place, &wanted, &random)
          if random.below(2) == 0 { try players[place].repository.commit() }
          // It sends now and then, and hears nothing.
          if random.below(6) == 0 { try await push(players[place]) }
          continue
        }
        try await act(players[place], place: place, &wanted, &random, counts: &counts)
        if random.below(20) == 0 {
          try await sync(players[place], &counts)
          players[place] = try await player("r\(place)-\(phase)-\(step)", clones: true, at: time)
        }
      }
    }
    for _ in 0..<4 { for player in players { try await sync(player, &counts) } }
    players.append(try await player("fresh", clones: true, at: time))
    try expectEqual(players, wanted, "seed \(seed)")
  }

  private func act(
    _ player: Player,
    place: Int,
    _ wanted: inout [String: Int64],
    _ random: inout SplitMix64,
    counts: inout Counts
  ) async throws {
    switch random.below(14) {
    case 0..<5:
      try edit(player, place: place, &wanted, &random)
      if random.below(3) > 0 { try player.repository.commit() }
    case 5..<9:
      try await sync(player, &counts)
      counts.others += try player.repository.rebaseOthers().count
    case 9: try await player.remote.fetch()
    case 10, 11:
      if random.below(2) == 0 { return try await push(player) }
      do throws(ChangesetError) {
        try player.repository.gc(depth: Int(random.below(4)))
      } catch { #expect(error.code == .behindHorizon, "\(error)") }
    default:
      do throws(ChangesetError) {
        let summary = try await player.remote.squash(depth: Int(random.below(4)))
        if summary.removedRecords > 0 { counts.squashes += 1 }
      } catch { #expect(error.code == .behindHorizon, "\(error)") }
    }
  }

  private func push(_ player: Player) async throws {
    do throws(ChangesetError) { try await player.remote.push() } catch {
      #expect(error.code == .behindHorizon, "\(error)")
    }
  }

  /// Syncs, and puts its commits on top of a squashed history if they are behind.
  private func sync(_ player: Player, _ counts: inout Counts) async throws {
    do throws(ChangesetError) { try await player.remote.sync() } catch {
      #expect(error.code == .behindHorizon, "\(error)")
      counts.rebases += try await player.remote.rebase().count
      try await player.remote.sync()
    }
  }

  private func expectEqual(
    _ players: [Player],
    _ wanted: [String: Int64],
    _ name: Comment
  ) throws {
    #expect(Set(try players.map { try $0.repository.head().id }).count == 1, name)
    let rows = wanted.keys.sorted().map { "'\($0)', \(wanted[$0] ?? 0)" }
    for player in players {
      #expect(try player.database.rows("SELECT id, value FROM rows ORDER BY id") == rows, name)
      #expect(
        try player.database.rows("SELECT * FROM shared ORDER BY id")
          == players[0].database.rows("SELECT * FROM shared ORDER BY id"),
        name
      )
      #expect(try player.repository.verify().problems == [], name)
      #expect(try player.repository.status().unpushedCount == 0, name)
      #expect(try player.repository.status().heads.count == 1, name)
      #expect(try player.repository.status().leftBehindCount == 0, name)
    }
  }
}
