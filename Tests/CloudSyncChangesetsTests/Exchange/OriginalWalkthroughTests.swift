import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// What the original promised to its users, in the order of its README: integration, data, operations, both examples of
/// branches, merging.
@Suite struct OriginalWalkthroughTests {
  private struct Player: Sendable, Hashable {
    var id: String
    var name: String
    var score: Int64

    func inserted(_ db: OpaquePointer) throws -> Player {
      try SQLiteConnection(borrowing: db)
        .execute("INSERT INTO player VALUES('\(id)', '\(name)', \(score))")
      return self
    }
  }

  private final class PlayerRepository: Sendable {
    let changesetRepository: ChangesetRepository

    init(_ changesetRepository: ChangesetRepository) {
      self.changesetRepository = changesetRepository
    }

    func insert(_ player: Player) throws -> Player {
      try changesetRepository.commit { db in
        try player.inserted(db)
      }
    }
  }

  /// An app of the original's, with its three repositories.
  private final class App: Sendable {
    let dbWriter: DatabaseFile
    let changesetRepository: ChangesetRepository
    let cloudKitManager: ChangesetRemote
    let playerRepository: PlayerRepository

    init(_ cloud: LocalCloud, _ name: String) throws {
      dbWriter = try DatabaseFile(path: ":memory:", createsFile: true)
      try dbWriter.execute(
        "CREATE TABLE player(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER);"
      )
      self.changesetRepository = try ChangesetRepository(
        dbWriter,
        options: HistoryBench.options(replica: name)
      )
      self.cloudKitManager = try ChangesetRemote(
        changesetRepository,
        operationHandler: RemoteBench.handler(cloud, device: name),
        zoneID: RemoteBench.zone
      )
      self.playerRepository = PlayerRepository(changesetRepository)
    }

    var players: [String] {
      get throws { try dbWriter.rows("SELECT id, name, score FROM player ORDER BY id") }
    }

    /// The commit that a player is inserted with.
    func commit(_ id: String) throws -> String? {
      let player = Player(id: id, name: "Player \(id)", score: 1)
      #expect(try playerRepository.insert(player) == player)
      return try changesetRepository.head().uuid
    }
  }

  @Test func withoutBranchesBothAreOnOne() async throws {
    let cloud = LocalCloud()
    let (a, b) = (try App(cloud, "a"), try App(cloud, "b"))
    try await a.cloudKitManager.setup()
    try await b.cloudKitManager.setup()
    #expect(try a.changesetRepository.head().uuid == nil)
    let first = try a.commit("1")
    #expect(try await a.cloudKitManager.push().map(\.uuid) == [first])
    #expect(try await b.cloudKitManager.fetch().map(\.uuid) == [first])
    // Fetching leaves the app's data as they are.
    #expect(try b.players == [])
    #expect(try b.changesetRepository.pull()?.uuid == first)
    let second = try b.commit("2")
    #expect(try await b.cloudKitManager.push().map(\.uuid) == [second])
    #expect(try await a.cloudKitManager.fetch().map(\.uuid) == [second])
    #expect(try a.changesetRepository.pull()?.uuid == second)
    #expect(try a.changesetRepository.pull() == nil)
    #expect(try a.players == ["'1', 'Player 1', 1", "'2', 'Player 2', 1"])
    #expect(try a.players == b.players)
    let (one, other) = (try a.changesetRepository.log(), try b.changesetRepository.log())
    #expect(one.map(\.uuid) == [second, first] && other.map(\.uuid) == [second, first])
  }

  @Test func commitsOnOneParentAreBranchesThatAMergeJoins() async throws {
    let cloud = LocalCloud()
    let (a, b) = (try App(cloud, "a"), try App(cloud, "b"))
    let (first, second) = (try a.commit("1"), try b.commit("2"))
    for app in [a, b] { try await app.cloudKitManager.push() }
    for app in [a, b] { #expect(try await app.cloudKitManager.fetch().count == 1) }
    // Pushing and fetching sync the commits, and not the data.
    #expect(try a.players == ["'1', 'Player 1', 1"])
    #expect(try a.changesetRepository.pull() == nil)
    try a.changesetRepository.mergeAll()
    // Merging does not apply the changes: that is what pull does.
    #expect(try a.changesetRepository.head().uuid == first)
    let merge = try #require(try a.changesetRepository.pull())
    #expect(Set([merge.parentUUID, merge.mergeUUID]) == [first, second])
    #expect(try a.changesetRepository.head().uuid == merge.uuid)
    // Like other commits, merges are pushed and fetched.
    #expect(try await a.cloudKitManager.push().map(\.uuid) == [merge.uuid])
    #expect(try await b.cloudKitManager.fetch().map(\.uuid) == [merge.uuid])
    #expect(try b.changesetRepository.pull()?.uuid == merge.uuid)
    #expect(try a.players == b.players)
    #expect(try a.players.count == 2)
    // It has two blobs of changes, one for each parent.
    for parent in merge.parents {
      #expect(try !a.changesetRepository.data(of: merge.id, from: parent).isEmpty)
    }
  }

  @Test func aChangesetSaysWhatItIs() async throws {
    let a = try App(LocalCloud(), "a")
    let value = try a.changesetRepository.commit(meta: #"{"screen": "editor"}"#) { db in
      try Player(id: "1", name: "Ada", score: 3).inserted(db).score
    }
    #expect(value == 3)
    let changeset = try #require(try a.changesetRepository.log().first)
    #expect(changeset.uuid == (try a.changesetRepository.head().uuid))
    #expect(changeset.parentUUID == nil && changeset.mergeUUID == nil)
    #expect(changeset.meta == #"{"screen": "editor"}"# && !changeset.isPushed)
    #expect(try !a.changesetRepository.data(of: changeset.id, from: nil).isEmpty)
    try await a.cloudKitManager.push()
    #expect(try a.changesetRepository.log().map(\.isPushed) == [true])
    _ = try a.commit("2")
    #expect(try a.changesetRepository.log().first?.meta == "{}")
    #expect(try a.changesetRepository.log().first?.parentUUID == changeset.uuid)
  }

  @Test func resettingHeadAndCloud() async throws {
    let cloud = LocalCloud()
    let (a, b) = (try App(cloud, "a"), try App(cloud, "b"))
    _ = try a.commit("1")
    try await a.cloudKitManager.push()
    // The last change token is forgotten: everything is fetched once more, and no changeset twice.
    try await b.cloudKitManager.fetch()
    try b.cloudKitManager.resetLastChangeToken()
    #expect(try await b.cloudKitManager.fetch() == [])
    try b.changesetRepository.pull()
    #expect(try b.players == a.players)
    // The zone is emptied, and the history is there again.
    try await a.cloudKitManager.reset()
    let c = try App(cloud, "c")
    #expect(try await c.cloudKitManager.fetch().count == 1)
    // All changesets are forgotten, the data are kept.
    try a.changesetRepository.reset()
    #expect(try a.changesetRepository.head().uuid == nil)
    #expect(try a.changesetRepository.log() == [])
    #expect(try a.players.count == 1)
  }
}
