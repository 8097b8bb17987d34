import CloudSyncChangesets
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Copies that put the same commits on top of a squashed history, each with others, or twice over.
@Suite struct DoubleRebaseTests {
  private static let add = "UPDATE people SET score = score + "

  private static func replica(_ cloud: LocalCloud, _ name: String) throws -> SquashBench {
    var rules = ChangesetOptions.Table()
    rules.merging.columns["score"] = .counter
    return try SquashBench(cloud, name, settings: ["people": rules])
  }

  private static func pass(_ benches: [SquashBench]) {
    for bench in benches { bench.bench.pass(seconds: 100 * SquashBench.day) }
  }

  private static func score(_ bench: SquashBench) throws -> [String] {
    try bench.rows("SELECT score FROM people WHERE id = 'p2'")
  }

  /// A desk that has squashed without a phone's commits, which go on from before, and two others that have these.
  private static func left(
    _ phoneEdits: [String]
  ) async throws -> (desk: SquashBench, one: SquashBench, other: SquashBench) {
    let cloud = LocalCloud()
    let (desk, phone) = (try replica(cloud, "desk"), try replica(cloud, "phone"))
    let (one, other) = (try replica(cloud, "one"), try replica(cloud, "other"))
    try await desk.fill(1...5)
    try await SquashBench.settle([desk, phone, one, other])
    for (place, edit) in phoneEdits.enumerated() {
      try phone.bench.commit(edit)
      try await phone.remote.push()
      // The other has less of it than the one.
      try await one.remote.sync()
      if place == 0 { try await other.remote.sync() }
    }
    // The zone is lost, and comes again from the desk, which had not fetched.
    try cloud.deleteZone(RemoteBench.zone, account: RemoteBench.ada, reason: .deleted)
    pass([desk, one, other])
    try await desk.remote.sync()
    try await desk.fill(6...12)
    try await desk.remote.squash(depth: 1)
    return (desk, one, other)
  }

  private static func rebase(_ bench: SquashBench) async throws -> [Changeset] {
    #expect(await SquashBench.code { try await bench.remote.sync() } == .behindHorizon)
    return try await bench.remote.rebase()
  }

  @Test(arguments: [1, 3])
  func whatTwoHaveInCommonCountsOnceThoughEachHasMore(commits: Int) async throws {
    let edits = (0..<commits).map { _ in "\(Self.add)5 WHERE id = 'p2'" }
    let (desk, one, other) = try await Self.left(edits)
    try one.bench.commit("\(Self.add)10 WHERE id = 'p2'")
    try other.bench.commit("\(Self.add)100 WHERE id = 'p2'")
    // Neither has heard of the other.
    #expect(try await Self.rebase(one).map(\.replica) == ["phone", "one"])
    #expect(try await Self.rebase(other).map(\.replica) == ["phone", "other"])
    try await SquashBench.settle([one, other, desk])
    #expect(try Self.score(desk) == ["\(5 * commits + 110)"])
    #expect(try desk.repository.verify().problems == [])
    try await desk.expectClone()
  }

  private static func update(_ bench: SquashBench) throws {
    try ChangesetRepository.migrate(bench.bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute("ALTER TABLE people ADD COLUMN size DEFAULT 3")
    }
  }

  /// What an older app goes on from was put on top by a newer one, with a column that the older app lacks.
  @Test func anOlderAppTakesNoColumnAway() async throws {
    let (desk, one, other) = try await Self.left(["\(Self.add)5 WHERE id = 'p2'"])
    try other.bench.commit("\(Self.add)100 WHERE id = 'p2'")
    try Self.update(one)
    try one.bench.commit("UPDATE people SET size = 9 WHERE id = 'p2'")
    _ = try await Self.rebase(one)
    try await one.remote.sync()
    #expect(await SquashBench.code { try await other.remote.sync() } == .behindHorizon)
    #expect(await SquashBench.code { try await other.remote.rebase() } == .needsUpgrade)

    for bench in [other, desk] { try Self.update(bench) }
    _ = try await Self.rebase(other)
    try await SquashBench.settle([other, one, desk])
    for bench in [desk, one, other] {
      let row = try bench.rows("SELECT score, size FROM people WHERE id = 'p2'")
      #expect(row == ["105, 9"])
    }
    try await desk.expectClone()
  }

  @Test func aMergeOfWhatWasLeftBehindGoesWithWhatGoesOnFromIt() async throws {
    let (desk, one, other) = try await Self.left(["\(Self.add)5 WHERE id = 'p2'"])
    try one.bench.commit("\(Self.add)10 WHERE id = 'p2'")
    try other.bench.commit("\(Self.add)100 WHERE id = 'p2'")
    try one.bench.take(from: other.bench)
    try one.repository.mergeAll()
    try one.repository.pull()
    try one.bench.commit("\(Self.add)1000 WHERE id = 'p2'")
    #expect(try await Self.rebase(one).map(\.originals.count) == [1, 1, 1, 2])
    #expect(try await Self.rebase(other).map(\.originals.count) == [1, 1])
    try await SquashBench.settle([one, other, desk])
    #expect(try Self.score(desk) == ["1115"])
    try await desk.expectClone()
  }

  /// What stands for a lost device's commits is before the next squash, and beside it as well: rows that were deleted
  /// between do not come back.
  @Test func whatStandsForThemASecondTimeHasNothingToAdd() async throws {
    let cloud = LocalCloud()
    let (desk, tablet) = (try Self.replica(cloud, "desk"), try Self.replica(cloud, "tablet"))
    let phone = try Self.replica(cloud, "phone")
    try await desk.fill(1...5)
    try await SquashBench.settle([desk, tablet, phone])
    try phone.bench.commit("\(Self.add)5 WHERE id = 'p2'; INSERT INTO people(id) VALUES('q')")
    Self.pass([desk, tablet])
    try await desk.fill(6...12)
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 1)
    try await tablet.remote.sync()
    try await phone.remote.push()
    try await desk.remote.sync()
    try await tablet.remote.sync()
    try tablet.bench.commit("UPDATE people SET name = 'Tablet' WHERE id = 'p3'")
    #expect(try tablet.repository.rebaseOthers().count == 1)
    try tablet.bench.commit("UPDATE people SET name = 'Tablet' WHERE id = 'p4'")
    #expect(try desk.repository.rebaseOthers().count == 1)
    try desk.bench.commit("DELETE FROM people WHERE id = 'q'")
    try await desk.fill(13...16)
    Self.pass([desk, tablet])
    try desk.bench.commit("UPDATE people SET note = 'now' WHERE id = 'p1'")
    try await desk.remote.sync()
    try await desk.remote.squash(depth: 0)

    // What was done before and after it is put on top; it is not.
    #expect(try await Self.rebase(tablet).map(\.originals.count) == [1, 1])
    #expect(try tablet.repository.status().behindCount == 0)
    try await SquashBench.settle([desk, tablet])
    #expect(try desk.rows("SELECT id FROM people WHERE id = 'q'") == [])
    #expect(try Self.score(desk) == ["5"])
    #expect(
      try desk.rows("SELECT id FROM people WHERE name = 'Tablet' ORDER BY id") == ["'p3'", "'p4'"]
    )
    #expect(try desk.repository.status().leftBehindCount == 0)
    try await desk.expectClone()
    withExtendedLifetime(phone) {}
  }

  /// The copy has the commit that the history begins with, and has removed changes that lead there.
  @Test func aCopyWithoutOldChangesGetsOverASquashOfAnotherLine() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try Self.replica(cloud, "desk"), try Self.replica(cloud, "phone"))
    try await desk.fill(1...5)
    try await SquashBench.settle([desk, phone])
    for number in 1...4 { try desk.bench.commit("INSERT INTO people(id) VALUES('d\(number)')") }
    try phone.bench.commit("UPDATE people SET name = 'A' WHERE id = 'p1'")
    try phone.bench.commit("UPDATE people SET name = 'B' WHERE id = 'p2'")
    try await phone.remote.push()
    #expect(try phone.repository.gc(depth: 0).commits > 4)
    try phone.bench.commit("UPDATE people SET name = 'C' WHERE id = 'p3'")
    try await desk.remote.sync()
    try await phone.remote.fetch()
    Self.pass([desk])
    try await desk.fill(6...8)
    try await desk.remote.squash(depth: 3)
    #expect(try desk.repository.horizon()?.kind == .merge)

    #expect(try await Self.rebase(phone).map(\.originals.count) == [1])
    try await SquashBench.settle([phone, desk])
    #expect(
      try desk.rows("SELECT name FROM people WHERE id IN ('p1', 'p2', 'p3') ORDER BY id")
        == ["'A'", "'B'", "'C'"]
    )
    try await desk.expectClone()
  }
}
