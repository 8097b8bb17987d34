import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import Testing

/// Commits from before a squash whose maker does not come back, or comes back late: others rebase them.
@Suite struct LostDeviceTests {
  private static let add = "UPDATE people SET score = score + "

  private static var settings: [String: ChangesetOptions.Table] {
    var rules = ChangesetOptions.Table()
    rules.merging.columns["score"] = .counter
    return ["people": rules]
  }

  private static func replica(_ cloud: LocalCloud, _ name: String) throws -> SquashBench {
    try SquashBench(cloud, name, settings: settings)
  }

  /// A desk and a tablet whose history is squashed, and a phone that has sent two commits which go on from before.
  private static func late(
    _ late: String = add + "5 WHERE id = 'p2'"
  ) async throws -> (desk: SquashBench, tablet: SquashBench, phone: SquashBench) {
    let cloud = LocalCloud()
    let (desk, tablet) = (try replica(cloud, "desk"), try replica(cloud, "tablet"))
    let phone = try replica(cloud, "phone")
    try await desk.fill(1...5)
    try await phone.remote.sync()
    try phone.bench.commit("UPDATE people SET note = 'seen' WHERE id = 'p5'")
    try await SquashBench.settle([desk, tablet, phone])
    try phone.bench.commit(late, meta: #"{"message": "late"}"#)
    try phone.bench.commit("INSERT INTO people(id, name) VALUES('q', 'Phone')")
    for bench in [desk, tablet, phone] { bench.bench.pass(seconds: 100 * SquashBench.day) }
    try await desk.fill(6...12)
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 1)
    try await tablet.remote.sync()
    try await phone.remote.push()
    return (desk, tablet, phone)
  }

  private static func left(_ bench: SquashBench) throws -> Int {
    let count = try bench.repository.status().leftBehindCount
    #expect(try bench.repository.commitsLeftBehind().count == count)
    return count
  }

  private static func score(_ bench: SquashBench) throws -> [String] {
    try bench.rows("SELECT score FROM people WHERE id = 'p2'")
  }

  @Test func anybodyBringsThemOver() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.sync()
    #expect(try Self.left(desk) == 2)
    let left = try desk.repository.commitsLeftBehind()
    #expect(left.map(\.replica) == ["phone", "phone"])
    #expect(
      await SquashBench.code { try desk.repository.rebaseOthers(branch: "x") } == .noSuchBranch
    )

    let made = try await desk.remote.rebaseOthers(branch: "main")
    #expect(made.map(\.replica) == ["phone"])
    #expect(made.first?.originals == left.map(\.id).sorted())
    #expect(try Self.score(desk) == ["5"])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'q'") == ["'Phone'"])
    #expect(try Self.left(desk) == 0 && desk.repository.status().refused == [])
    #expect(try await desk.remote.rebaseOthers() == [])
    try await SquashBench.settle([desk, tablet])
    #expect(try Self.left(tablet) == 0 && tablet.repository.status().refused == [])
    #expect(try desk.repository.verify().problems == [])
    try await desk.expectClone()
    // Whoever hears of both at once has nothing to do.
    let (copy, _) = try await desk.clone()
    #expect(try copy.status().leftBehindCount == 0 && copy.status().refused == [])
    withExtendedLifetime(phone) {}
  }

  @Test func theyAreBroughtOverWhereACommitCameFromBeforeTheRemovedChanges() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await SquashBench.settle([desk, tablet])
    try desk.bench.commit("UPDATE people SET name = 'Desk' WHERE id = 'p6'")
    try await desk.remote.push()
    #expect(try desk.repository.gc(depth: 0).commits > 3)
    // It goes on from the last commit that has lost its changes: the desk merges it with what it has.
    try tablet.bench.commit("UPDATE people SET name = 'Tablet' WHERE id = 'p7'")
    try await tablet.remote.push()
    try await desk.remote.sync()
    #expect(try Self.left(desk) == 2)
    #expect(try desk.repository.rebaseOthers().map(\.replica) == ["phone"])
    #expect(try Self.score(desk) == ["5"] && Self.left(desk) == 0)
    #expect(
      try desk.rows("SELECT name FROM people WHERE id IN ('p6', 'p7', 'q') ORDER BY id")
        == ["'Desk'", "'Tablet'", "'Phone'"]
    )
    try await SquashBench.settle([desk, tablet])
    #expect(try desk.repository.verify().problems == [])
    try await desk.expectClone()
    withExtendedLifetime(phone) {}
  }

  @Test func whatOneBranchHasInCommonWithOthersIsNotItsOwn() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try phone.repository.createBranch("idea")
    try phone.repository.switchBranch("idea")
    try phone.bench.commit(Self.add + "3 WHERE id = 'p2'")
    try phone.repository.switchBranch("main")
    try phone.bench.commit(Self.add + "100 WHERE id = 'p2'")
    try await phone.remote.push()
    try await desk.remote.fetch()
    #expect(try Self.left(desk) == 4)
    // What both have is put on the branch that it was made on; what the other has besides stays.
    let made = try desk.repository.rebaseOthers(branch: "idea")
    #expect(made.map(\.branch) == ["main", "idea"] && made.map(\.originals.count) == [2, 1])
    #expect(try Self.score(desk) == ["5"] && Self.left(desk) == 1)
    try desk.repository.switchBranch("idea")
    #expect(try Self.score(desk) == ["8"])
    try desk.repository.switchBranch("main")
    #expect(try desk.repository.rebaseOthers().map(\.branch) == ["main"])
    #expect(try Self.score(desk) == ["105"])
    try desk.repository.merge("idea")
    try await SquashBench.settle([desk, tablet])
    try await phone.remote.sync()
    try await SquashBench.settle([desk, phone])
    #expect(try Self.score(phone) == ["108"])
  }

  @Test func whatStandsForThemMayBeFromBeforeTheNextSquash() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.rebaseOthers()
    try await SquashBench.settle([desk, tablet])
    // The phone hears of that, and has something besides; then it is silent until after the next squash.
    try phone.bench.commit(Self.add + "2 WHERE id = 'p2'")
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    for bench in [desk, tablet, phone] { bench.bench.pass(seconds: 100 * SquashBench.day) }
    try await desk.fill(13...16)
    try await desk.remote.squash(depth: 0)
    try await tablet.remote.sync()
    try await desk.remote.squash(depth: 0)
    let begins = try #require(try desk.repository.horizon()).generation
    #expect(try desk.repository.log().contains { !$0.originals.isEmpty && $0.generation < begins })
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().map(\.originals.count) == [1])
    try await SquashBench.settle([desk, tablet, phone])
    #expect(try Self.score(desk) == ["7"])
    #expect(try phone.repository.status().behindCount == 0)
  }

  @Test func whatHasLostThereIsListedForAsLongAsItIsLost() async throws {
    let (desk, tablet, phone) = try await Self.late(
      "UPDATE people SET name = 'Phone' WHERE id = 'p2'"
    )
    try await desk.remote.fetch()
    try desk.bench.commit("UPDATE people SET name = 'Desk' WHERE id = 'p2'")
    try await desk.remote.rebaseOthers()
    try await desk.fill(13...14)
    #expect(try desk.repository.gc(depth: 1).commits > 0)
    let lost = try desk.repository.conflicts()
    #expect(lost.flatMap(\.lost).map(\.value) == [.string("Phone")])
    try desk.repository.restoreConflict(try #require(lost.first))
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p2'") == ["'Phone'"])
    #expect(try desk.repository.conflicts() == [])
    withExtendedLifetime((tablet, phone)) {}
  }

  @Test func whoeverComesBackGoesAlong() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.rebaseOthers()
    try await desk.remote.sync()
    // Nothing is missing that the phone has: it is told nothing.
    try await phone.remote.sync()
    #expect(try phone.repository.status().behindCount == 0)
    #expect(try await phone.remote.rebase() == [])
    try await SquashBench.settle([desk, tablet, phone])
    #expect(try Self.score(phone) == ["5"])
    #expect(try phone.repository.head().id == desk.repository.head().id)
  }

  @Test func whatTheMakerHasBegunOnThemGoesAlong() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try phone.repository.createBranch("idea")
    try await desk.remote.rebaseOthers()
    try await desk.remote.sync()
    try await phone.remote.sync()
    #expect(try phone.repository.branches().map(\.name) == ["idea", "main"])
    try phone.repository.switchBranch("idea")
    #expect(try phone.rows("SELECT name FROM people WHERE id = 'q'") == ["'Phone'"])
    try phone.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'q'")
    try await phone.remote.sync()
    #expect(try await desk.remote.sync().received == 1)
    withExtendedLifetime(tablet) {}
  }

  @Test func whoeverComesBackWithMoreAddsThat() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.rebaseOthers()
    try await desk.remote.sync()
    try phone.bench.commit(
      Self.add + "2 WHERE id = 'p2'; UPDATE people SET name = 'M' WHERE id = 'q'"
    )
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    let made = try await phone.remote.rebase()
    #expect(made.map(\.originals.count) == [1])
    try await SquashBench.settle([desk, tablet, phone])
    #expect(try Self.score(desk) == ["7"])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'q'") == ["'M'"])
    try await desk.expectClone()
  }

  /// Both put them on top of another commit, without having heard of each other.
  @Test(arguments: [false, true])
  func whatTwoBringOverCountsOnce(isMaker: Bool) async throws {
    let (desk, tablet, phone) = try await Self.late()
    let other = isMaker ? phone : tablet
    try await desk.remote.fetch()
    if isMaker {
      #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    } else {
      try await tablet.remote.sync()
    }
    try desk.bench.commit(Self.add + "10 WHERE id = 'p2'")
    #expect(try desk.repository.rebaseOthers().count == 1)
    if isMaker {
      // It has one more, so that the two stand for unlike commits.
      try phone.bench.commit(Self.add + "100 WHERE id = 'p2'")
      #expect(try await phone.remote.rebase().count == 1)
    } else {
      try tablet.bench.commit("UPDATE people SET name = 'Tablet' WHERE id = 'p3'")
      #expect(try tablet.repository.rebaseOthers().count == 1)
    }
    try await desk.remote.push()
    try await other.remote.push()
    try await SquashBench.settle(isMaker ? [desk, phone, tablet] : [tablet, desk])
    #expect(try Self.score(desk) == [isMaker ? "115" : "15"])
    #expect(try desk.repository.log().filter { !$0.originals.isEmpty }.count == 2)
    #expect(try desk.rows("SELECT count(*) FROM people WHERE id = 'q'") == ["1"])
    try await desk.expectClone()
    if !isMaker {
      try await phone.remote.sync()
      try await SquashBench.settle([desk, phone])
      #expect(try Self.score(phone) == ["15"])
    }
  }

  @Test func whoPutsThemOnTheSameCommitMakesTheSame() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await tablet.remote.sync()
    let made = try await desk.remote.rebaseOthers().map(\.id)
    #expect(try tablet.repository.rebaseOthers().map(\.id) == made)
    #expect(await SquashBench.code { try await phone.remote.sync() } == .behindHorizon)
    #expect(try await phone.remote.rebase().map(\.id) == made)
    try await SquashBench.settle([desk, tablet, phone])
    #expect(try Self.score(desk) == ["5"])
  }

  @Test func whoIsAskedBeforeHearingOfOthersGoesOnFromThem() async throws {
    let (desk, tablet, phone) = try await Self.late()
    // The tablet has the first two, the desk all three.
    try await tablet.remote.sync()
    try phone.bench.commit(Self.add + "2 WHERE id = 'p2'")
    let pack = try #require(try phone.repository.packOfLast(1))
    try await RemoteBench.write(pack.bytes, as: pack.name, phone.cloud)
    #expect(try tablet.repository.rebaseOthers().count == 1)
    try await desk.remote.sync()
    #expect(try Self.left(desk) == 3)
    try await desk.remote.rebaseOthers()
    // The tablet does not have what the third goes on from any more, only what stands for it.
    try await tablet.remote.fetch()
    #expect(try Self.left(tablet) == 1)
    #expect(try tablet.repository.rebaseOthers().count == 1)
    try await desk.remote.push()
    try await tablet.remote.push()
    try await SquashBench.settle([desk, tablet])
    #expect(try Self.score(desk) == ["7"])
    #expect(try Self.left(desk) + Self.left(tablet) == 0)
    try await desk.expectClone()
  }

  @Test func aCopyThatBeganWithTheSnapshotDoesItToo() async throws {
    let (desk, _, phone) = try await Self.late(
      Self.add
        + "5 WHERE id = 'p2'; DELETE FROM people WHERE id = 'p3'; UPDATE people SET name = 'P' WHERE id = 'p4'"
    )
    let database = try DatabaseFile(path: ":memory:", createsFile: true)
    let repository = try await ChangesetRemote.clone(
      into: database,
      from: RemoteBench.handler(desk.cloud, device: "new"),
      zoneID: RemoteBench.zone,
      options: HistoryBench.options(replica: "new", settings: Self.settings)
    )
    let remote = try ChangesetRemote(
      repository,
      operationHandler: RemoteBench.handler(desk.cloud, device: "new"),
      zoneID: RemoteBench.zone
    )
    try await remote.fetch()
    try await desk.remote.fetch()
    #expect(try repository.status().leftBehindCount == 2)
    let made = try repository.rebaseOthers()
    #expect(made.map(\.replica) == ["phone"])
    #expect(try repository.verify().problems == [])
    try await remote.sync()
    #expect(
      try database.rows("SELECT id, name, score FROM people WHERE id IN ('p2', 'p3', 'p4', 'q')")
        == ["'p2', NULL, 5", "'p4', 'P', 0", "'q', 'Phone', NULL"]
    )
    // The desk, which has what they go on from, has done the same meanwhile.
    try desk.bench.commit(Self.add + "10 WHERE id = 'p2'")
    #expect(try desk.repository.rebaseOthers().count == 1)
    for _ in 0..<2 {
      try await desk.remote.sync()
      try await remote.sync()
    }
    #expect(try Self.score(desk) == ["15"])
    #expect(try repository.head().id == desk.repository.head().id)
    withExtendedLifetime(phone) {}
  }

  @Test func aCopyThatHasRemovedOldChangesDoesItToo() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.fetch()
    #expect(try desk.repository.gc(depth: 0).commits > 3)
    #expect(try desk.repository.rebaseOthers().count == 1)
    try await SquashBench.settle([desk, tablet])
    #expect(try Self.score(desk) == ["5"])
    #expect(try desk.repository.verify().problems == [])
    withExtendedLifetime(phone) {}
  }

  @Test func theyOutliveTheZone() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await tablet.remote.sync()
    try desk.cloud.deleteZone(RemoteBench.zone, account: RemoteBench.ada, reason: .deleted)
    // The zone comes again without them: the desk had not fetched them.
    try await SquashBench.settle([desk, tablet])
    #expect(try Self.left(desk) == 0 && Self.left(tablet) == 2)
    #expect(try await tablet.remote.rebaseOthers().count == 1)
    try await SquashBench.settle([tablet, desk])
    #expect(try Self.score(desk) == ["5"])
    try await phone.remote.sync()
    try await SquashBench.settle([desk, tablet, phone])
    #expect(try Self.score(phone) == ["5"])
  }

  @Test func theNextSquashEndsThem() async throws {
    let (desk, tablet, phone) = try await Self.late()
    try await desk.remote.rebaseOthers()
    try await SquashBench.settle([desk, tablet])
    try await desk.fill(13...14)
    try await desk.remote.squash(depth: 0)
    try await tablet.remote.sync()
    try await desk.remote.squash(depth: 0)
    let horizon = try #require(try desk.repository.horizon())
    #expect(
      horizon.generation
        > (try desk.repository.log().first { !$0.originals.isEmpty }?.generation ?? 0)
    )
    // Nobody hears of the late commits any more, and their maker needs nobody's help.
    #expect(try Self.left(desk) == 0)
    let (copy, _) = try await desk.clone()
    #expect(try copy.status().leftBehindCount == 0 && copy.status().refused == [])
    try await phone.remote.sync()
    #expect(try Self.score(phone) == ["5"])
    try await SquashBench.settle([desk, tablet, phone])
    try await desk.expectClone()
  }
}
