import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncTestSupport
import Foundation
import Testing

/// Replicas of which any squashes at any time, falls silent, removes old changes, or begins anew as a clone: in the end
/// all are equal, and every edit is there.
///
/// `CLOUDSYNC_SQUASH_SEEDS=200-299` runs these seeds instead of the usual ones.
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
    CREATE TABLE counts(id TEXT PRIMARY KEY NOT NULL, number INTEGER);
    """

  /// What the rows must be in the end.
  private struct Wanted {
    var rows: [String: Int64] = [:]
    /// Of a number that all count up.
    var count: Int64 = 0
  }

  private static func options(_ name: String, _ seconds: Locked<Int64>) -> ChangesetOptions {
    var rules = ChangesetOptions.Table()
    rules.merging.columns["number"] = .counter
    return HistoryBench.options(replica: name, settings: ["counts": rules], seconds: seconds)
  }

  private let cloud = LocalCloud()

  private func player(_ name: String, clones: Bool, at time: Int64) async throws -> Player {
    let seconds = Locked(time)
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let options = Self.options(name, seconds)
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

  /// Edits rows that nobody else does, and what these must be in the end; rows that all edit, and a number that all count up.
  private func edit(
    _ player: Player,
    place: Int,
    _ wanted: inout Wanted,
    _ random: inout SplitMix64
  ) throws {
    for _ in 0...random.below(3) {
      let key = "\(place)-\(random.below(5))"
      if random.below(4) == 0 {
        try player.database.execute("DELETE FROM rows WHERE id = '\(key)'")
        wanted.rows[key] = nil
      } else {
        let value = Int64(random.below(1_000))
        try player.database.execute(
          """
          INSERT INTO rows(id, value) VALUES('\(key)', \(value))
            ON CONFLICT(id) DO UPDATE SET value = excluded.value;
          """
        )
        wanted.rows[key] = value
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
    try player.database.execute("UPDATE counts SET number = number + \(place + 1)")
    wanted.count += Int64(place + 1)
    player.seconds.withLock { $0 += 1 + Int64(random.below(100)) }
  }

  /// How often something has happened.
  private struct Counts {
    var squashes = 0
    var rebases = 0
    var others = 0
  }

  /// Those that have found something: what stood for commits a second time, and copies without old changes.
  private static let kept: [UInt64] = [189, 205, 227, 478, 945]

  /// What is to be run.
  private static var seeds: [UInt64] {
    let named = ProcessInfo.processInfo.environment["CLOUDSYNC_SQUASH_SEEDS"]
    let bounds = named?.split(separator: "-").compactMap { UInt64($0) } ?? []
    guard let first = bounds.first, let last = bounds.last, first <= last else {
      return Array(0..<UInt64(SuiteSize.count(0, long: 60))) + SuiteSize.some(1, of: kept)
    }
    return Array(first...last)
  }

  @Test func nothingIsLostWhoeverSquashes() async throws {
    let seeds = Self.seeds
    // Side by side: one after the other they would end long after all other tests.
    let counts = try await withThrowingTaskGroup(of: Counts.self) { group in
      for seed in seeds {
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
    if seeds.count < 5 { return }
    #expect(counts.squashes > 3 && counts.rebases > 3 && counts.others > 0, "\(counts)")
  }

  private func run(seed: UInt64, counts: inout Counts) async throws {
    var random = SplitMix64(seed: seed)
    var time: Int64 = 1_760_000_000
    var players: [Player] = []
    for place in 0..<3 {
      players.append(try await player("r\(place)", clones: place > 0, at: time))
      if place > 0 { continue }
      try players[0].database
        .execute("INSERT INTO shared VALUES('s0', 'm0', 0); INSERT INTO counts VALUES('c', 0)")
      try await players[0].remote.sync()
    }
    var wanted = Wanted()
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
    _ wanted: inout Wanted,
    _ random: inout SplitMix64,
    counts: inout Counts
  ) async throws {
    switch random.below(14) {
    case 0..<5:
      try edit(player, place: place, &wanted, &random)
      if random.below(3) > 0 { try player.repository.commit() }
    case 5..<9:
      try await sync(player, &counts)
      do throws(ChangesetError) {
        counts.others += try player.repository.rebaseOthers().count
      } catch {
        // Where old changes were removed the cloud helps.
        #expect(error.code == .historyTooShort)
        counts.others += try await player.remote.rebaseOthers().count
      }
    case 9: try await player.remote.fetch()
    case 10, 11:
      if random.below(2) == 0 { return try await push(player) }
      do throws(ChangesetError) {
        try player.repository.gc(depth: Int(random.below(4)))
      } catch { guard error.code == .behindHorizon else { throw error } }
    default:
      do throws(ChangesetError) {
        let summary = try await player.remote.squash(depth: Int(random.below(4)))
        if summary.removedRecords > 0 { counts.squashes += 1 }
      } catch { guard error.code == .behindHorizon else { throw error } }
    }
  }

  private func push(_ player: Player) async throws {
    do throws(ChangesetError) { try await player.remote.push() } catch {
      guard error.code == .behindHorizon else { throw error }
    }
  }

  /// Syncs, and puts its commits on top of a squashed history if they are behind.
  private func sync(_ player: Player, _ counts: inout Counts) async throws {
    do throws(ChangesetError) { try await player.remote.sync() } catch {
      guard error.code == .behindHorizon else { throw error }
      counts.rebases += try await player.remote.rebase().count
      try await player.remote.sync()
    }
  }

  private func expectEqual(
    _ players: [Player],
    _ wanted: Wanted,
    _ name: Comment
  ) throws {
    #expect(Set(try players.map { try $0.repository.head().id }).count == 1, name)
    let rows = wanted.rows.keys.sorted().map { "'\($0)', \(wanted.rows[$0] ?? 0)" }
    for player in players {
      #expect(try player.database.rows("SELECT id, value FROM rows ORDER BY id") == rows, name)
      #expect(try player.database.rows("SELECT number FROM counts") == ["\(wanted.count)"], name)
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
