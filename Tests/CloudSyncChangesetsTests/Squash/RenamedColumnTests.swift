import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Commits from before a squash that have a column which is called otherwise now.
@Suite struct RenamedColumnTests {
  private static let renaming = "ALTER TABLE people RENAME COLUMN name TO called"

  private static func migrate(_ replica: SquashBench) throws {
    try ChangesetRepository.migrate(replica.bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(renaming)
    }
  }

  /// The history of a replica whose app brings commits of older versions up.
  private static func able(
    _ replica: SquashBench,
    _ name: String
  ) throws -> (repository: ChangesetRepository, remote: ChangesetRemote) {
    var options = HistoryBench.options(replica: name)
    options.migrate = { try SQLiteConnection(borrowing: $0).execute(renaming) }
    let repository = try ChangesetRepository(replica.bench.database, options: options)
    let handler = RemoteBench.handler(replica.cloud, device: name)
    return (
      repository,
      try ChangesetRemote(repository, operationHandler: handler, zoneID: RemoteBench.zone)
    )
  }

  /// A desk that has renamed a column and squashed, and a phone with two branches from before.
  private static func behind() async throws -> (desk: SquashBench, phone: SquashBench) {
    let (desk, phone) = try await SquashBench.pair()
    try phone.bench.commit("UPDATE people SET name = 'Both' WHERE id = 'p2'")
    try phone.repository.createBranch("idea")
    try phone.repository.switchBranch("idea")
    try phone.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p3'")
    try phone.repository.switchBranch("main")
    try phone.bench.commit("UPDATE people SET name = 'Main' WHERE id = 'p4'")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try migrate(desk)
    try desk.bench.commit("UPDATE people SET called = 'Desk' WHERE id = 'p1'")
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 0)
    return (desk, phone)
  }

  private static let called =
    "SELECT id, called FROM people WHERE id IN ('p2', 'p3', 'p4') ORDER BY id"

  /// What was committed here before the squash is neither left nor forgotten by the update.
  @Test func whoLooksAtAnOlderCommitComesBackToItsOwnOnes() async throws {
    let (desk, phone) = try await Self.behind()
    try phone.repository.checkout("HEAD~1")
    _ = await SquashBench.code { try await phone.remote.sync() }
    let refusal = #expect(throws: ChangesetError.self) { try Self.migrate(phone) }
    #expect(refusal?.code == .detached)
    try phone.repository.switchBranch("main")
    #expect(try phone.rows("SELECT name FROM people WHERE id = 'p4'") == ["'Main'"])
    try Self.migrate(phone)
    let (repository, remote) = try Self.able(phone, "phone")
    #expect(try await remote.rebase().isEmpty == false)
    #expect(try repository.status().behindCount == 0)
    #expect(try repository.verify().problems == [])
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows(Self.called) == ["'p2', 'Both'", "'p3', NULL", "'p4', 'Main'"])
  }

  @Test func theyAreBroughtUpWithWhatTheyGoOnFrom() async throws {
    let (desk, phone) = try await Self.behind()
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    try Self.migrate(phone)
    let (repository, remote) = try Self.able(phone, "phone")
    // What both branches have, and what each has besides.
    #expect(try await remote.rebase().count == 3)
    #expect(try repository.status().behindCount == 0)
    #expect(try repository.verify().problems == [])
    #expect(try phone.rows(Self.called) == ["'p2', 'Both'", "'p3', NULL", "'p4', 'Main'"])
    try repository.merge("idea")
    try repository.pull()
    try await SquashBench.settle([desk, phone])
    #expect(try desk.rows(Self.called) == ["'p2', 'Both'", "'p3', 'Idea'", "'p4', 'Main'"])
    // Nobody has edited what the migration has only renamed.
    #expect(try desk.repository.conflicts() == [])
    try await desk.expectClone()
  }

  @Test func whereTheAppCannotBringThemUpTheyWaitAndNothingElseDoes() async throws {
    let (desk, phone) = try await Self.behind()
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    // The app's migration has brought its present branch up, and no other.
    try Self.migrate(phone)
    #expect(try await phone.remote.rebase().map(\.branch) == ["main"])
    #expect(try phone.repository.status().behindCount == 1)
    #expect(await SquashBench.code { try await phone.remote.rebase() } == .needsUpgrade)
    #expect(try phone.repository.verify().problems == [])
    #expect(try await Self.able(phone, "phone").remote.rebase().map(\.branch) == ["idea"])
    try await SquashBench.settle([desk, phone])
    try desk.repository.merge("idea")
    try desk.repository.pull()
    #expect(try desk.rows("SELECT called FROM people WHERE id = 'p3'") == ["'Idea'"])
  }

  @Test func thoseOfOthersAreBroughtUpToo() async throws {
    let (desk, phone) = try await Self.behind()
    try await phone.remote.push()
    try await desk.remote.fetch()
    #expect(try desk.repository.status().leftBehindCount == 3)
    #expect(await SquashBench.code { try desk.repository.rebaseOthers() } == .needsUpgrade)
    let (repository, _) = try Self.able(desk, "desk")
    #expect(try repository.rebaseOthers().count == 3)
    #expect(try repository.status().leftBehindCount == 0)
    try repository.merge("idea")
    try repository.pull()
    #expect(try repository.verify().problems == [])
    try await desk.remote.sync()
    #expect(try desk.rows(Self.called) == ["'p2', 'Both'", "'p3', 'Idea'", "'p4', 'Main'"])
    try Self.migrate(phone)
    try await phone.remote.sync()
    try await SquashBench.settle([desk, phone])
  }

  /// With the app's migration what the phone's commit goes on from is brought up too, without it only the phone's own line.
  @Test(arguments: [true, false])
  func anEditToNullIsPutOnTopUnderThePresentName(canMigrate: Bool) async throws {
    let (desk, phone) = try await SquashBench.pair(
      edit: "UPDATE people SET name = 'Old ' || id; UPDATE people SET note = 'seen'"
    )
    try phone.bench.commit("UPDATE people SET name = NULL WHERE id = 'p2'")
    try phone.bench.commit("UPDATE people SET name = 'New' WHERE id = 'p3'")
    try phone.bench.commit("DELETE FROM people WHERE id = 'p4'")
    desk.bench.pass(seconds: 100 * SquashBench.day)
    try await desk.fill(6...12)
    try desk.bench.commit("UPDATE people SET note = 'desk'")
    try Self.migrate(desk)
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 0)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    try Self.migrate(phone)
    _ =
      try await canMigrate
      ? Self.able(phone, "phone").remote.rebase() : phone.remote.rebase()
    try await SquashBench.settle([desk, phone])
    #expect(
      try desk.rows(
        "SELECT id, called, note FROM people WHERE id < 'p6' AND id > 'p14' ORDER BY id"
      )
        == [
          "'p2', NULL, 'desk'", "'p3', 'New', 'desk'", "'p4', 'Old p4', 'desk'",
          "'p5', 'Old p5', 'desk'",
        ]
    )
    try await desk.expectClone()
  }
}
