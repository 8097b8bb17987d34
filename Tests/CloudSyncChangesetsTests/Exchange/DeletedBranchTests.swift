import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

/// A branch that one replica deletes while others are on it.
@Suite struct DeletedBranchTests {
  private let cloud = LocalCloud()
  private let desk: HistoryBench
  private let phone: HistoryBench
  private let one: ChangesetRemote
  private let other: ChangesetRemote

  init() async throws {
    desk = try HistoryBench(replica: "desk")
    phone = try HistoryBench(replica: "phone")
    one = try RemoteBench.remote(desk, cloud)
    other = try RemoteBench.remote(phone, cloud, device: "phone")
    try desk.commit("INSERT INTO people(id) VALUES('a')")
    try await one.sync()
    try await other.sync()
    // The phone goes on on another branch, and deletes this one.
    try phone.repository.createBranch("idea")
    try phone.repository.switchBranch("idea")
    try phone.commit("UPDATE people SET name = 'idea'")
    try phone.repository.deleteBranch("main")
    try await other.sync()
    try await one.sync()
  }

  private func names(_ bench: HistoryBench) throws -> [String] {
    try bench.repository.branches().map { $0.isDeleted ? "(\($0.name))" : $0.name }
  }

  private func heads(_ name: String, _ bench: HistoryBench) throws -> [ChangesetID]? {
    try bench.repository.branches().first { $0.name == name }?.heads
  }

  @Test func whoeverIsOnItIsToldAndTheNextCommitBringsItBack() async throws {
    #expect(try names(phone) == ["idea"])
    #expect(try names(desk) == ["idea", "(main)"])
    try desk.commit("UPDATE people SET score = 1")
    #expect(try names(desk) == ["idea", "main"])
    try await one.sync()
    try await other.sync()
    #expect(try names(phone) == ["idea", "main"])
    try phone.repository.switchBranch("main")
    #expect(try phone.rows("SELECT name, score FROM people") == ["NULL, 1"])
    // It can be deleted again.
    try phone.repository.switchBranch("idea")
    try phone.repository.deleteBranch("main")
    try await other.sync()
    try await one.sync()
    #expect(try names(desk) == ["idea", "(main)"])
  }

  @Test func whoLeavesItIsToldHowToGetItBack() async throws {
    let end = try #require(try desk.repository.head().id)
    try desk.repository.switchBranch("idea")
    #expect(try names(desk) == ["idea"])
    let gone = #expect(throws: ChangesetError.self) { try desk.repository.switchBranch("main") }
    #expect(gone?.code == .noSuchBranch)
    #expect(gone?.reason.contains(end.short) == true)
    try desk.repository.createBranch("main", at: Revision(end))
    #expect(try names(desk) == ["idea", "main"])
    try await one.sync()
    try await other.sync()
    #expect(try names(phone) == ["idea", "main"])
  }

  @Test func itBeginsAgainWhereItsCommitsAreContained() async throws {
    // A commit of another line does not have them.
    try phone.repository.createBranch("new", at: "HEAD~1")
    try phone.repository.switchBranch("new")
    try phone.commit("UPDATE people SET score = 7")
    try phone.repository.switchBranch("idea")
    try phone.repository.deleteBranch("new")
    let elsewhere = #expect(throws: ChangesetError.self) {
      try phone.repository.createBranch("new")
    }
    #expect(elsewhere?.code == .invalidName)

    try phone.repository.createBranch("main")
    #expect(try names(phone) == ["idea", "main"])
    try phone.repository.switchBranch("main")
    try phone.commit("UPDATE people SET score = 9")
    try await other.sync()
    try await one.sync()
    let branch = try #require(try desk.repository.branches().first { $0.name == "main" })
    #expect(branch.heads == [try phone.repository.head().id])
    #expect(try desk.rows("SELECT name, score FROM people") == ["'idea', 9"])
  }

  @Test func whereABranchWasBegunDoesNotBringItBack() async throws {
    // Both begin a branch of one name; only the phone commits on it.
    try desk.repository.createBranch("new")
    try phone.repository.createBranch("new", at: "HEAD~1")
    try phone.repository.switchBranch("new")
    try phone.commit("UPDATE people SET score = 7")
    try await other.sync()
    try await one.sync()
    let end = try #require(try phone.repository.head().id)
    #expect(try heads("new", desk) == [end])

    try phone.repository.switchBranch("idea")
    try phone.repository.deleteBranch("new")
    try await other.sync()
    try await one.sync()
    #expect(try names(phone) == ["idea"])
    #expect(try names(desk) == ["idea", "(main)"])
  }

  @Test func whoStandsWhereABranchWasBegunMergesWhatOthersHaveOnIt() async throws {
    try desk.repository.createBranch("new", at: "HEAD")
    try desk.repository.switchBranch("new")
    try desk.database.execute("UPDATE people SET score = 1")
    try phone.repository.createBranch("new")
    try phone.repository.switchBranch("new")
    try phone.commit("UPDATE people SET name = 'new'")
    try await other.sync()
    try await one.sync()
    try await other.sync()
    try HistoryBench.expectEqual([desk, phone])
    #expect(try phone.rows("SELECT name, score FROM people") == ["'new', 1"])
  }

  @Test func whatBeginsAgainFurtherOnIsBackForAll() async throws {
    try phone.repository.createBranch("new")
    try phone.repository.switchBranch("new")
    try phone.commit("UPDATE people SET score = 7")
    let end = try #require(try phone.repository.head().id)
    try phone.repository.switchBranch("idea")
    _ = try phone.repository.merge("new")
    try phone.repository.pull()
    try phone.repository.deleteBranch("new")
    try await other.sync()
    try phone.repository.createBranch("new")
    #expect(try heads("new", phone) == [try #require(try phone.repository.head().id)])
    try await other.sync()
    try await one.sync()
    // The others know where it ended; where it begins again they hear with its next commit.
    #expect(try heads("new", desk) == [end])
    try phone.repository.switchBranch("new")
    try phone.commit("UPDATE people SET score = 8")
    try await other.sync()
    try await one.sync()
    #expect(try heads("new", desk) == [try #require(try phone.repository.head().id)])
    // A further word, from the other replica, is later than this one.
    try desk.repository.deleteBranch("new")
    try await one.sync()
    try phone.repository.switchBranch("idea")
    try await other.sync()
    #expect(try names(phone) == ["idea"])
  }

  @Test func aBranchThatWasOnlyBegunIsForgottenAlone() async throws {
    try phone.repository.createBranch("new")
    try phone.repository.deleteBranch("new")
    #expect(try names(phone) == ["idea"])
    try desk.repository.switchBranch("idea")
    try desk.repository.createBranch("new")
    try desk.repository.switchBranch("new")
    try desk.commit("UPDATE people SET score = 2")
    try await other.sync()
    try await one.sync()
    try await other.sync()
    #expect(try names(phone) == ["idea", "new"])
  }

  @Test func aCloneBeginsOnABranchThatIsThere() async throws {
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let clone = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(cloud, device: "new"),
      zoneID: RemoteBench.zone
    )
    #expect(try clone.head().branch == "idea")
    #expect(try clone.branches().map(\.name) == ["idea"])
  }
}
