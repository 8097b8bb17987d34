import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Histories that begin with a snapshot in the cloud.
@Suite struct SquashTests {
  @Test func aHistoryBeginsWithASnapshotAndNewCopiesGetThatAndWhatFollows() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...20)
    let log = try desk.repository.log()
    let packs = try RemoteBench.packs(desk.cloud).count
    let summary = try await desk.remote.squash(depth: 5)
    #expect(summary.beginning?.id == log[5].id)
    #expect(summary.waitingFor == [] && summary.next == nil)
    #expect(summary.removedRecords == 14)
    #expect(try RemoteBench.packs(desk.cloud).count == packs - 14)
    // Here everything is as before.
    #expect(try desk.repository.log().map(\.id) == log.map(\.id))
    #expect(try desk.repository.verify().problems == [])
    #expect(try desk.repository.status().unpushedCount == 0)
    try await desk.expectClone()
    let (copy, database) = try await desk.clone()
    #expect(try copy.log().map(\.id) == log.prefix(6).map(\.id))
    #expect(try copy.log().map(\.meta) == log.prefix(6).map(\.meta))
    // It goes back as far as there is something, and takes back what it has.
    try copy.checkout("HEAD~5")
    #expect(try database.rows("SELECT count(*), max(score) FROM people") == ["15, 15"])
    try copy.switchBranch("main")
    #expect(try copy.diff("HEAD~5", "HEAD").count == 6)
    #expect(await SquashBench.code { try copy.revert("HEAD~5") } == .historyTooShort)
    #expect(await SquashBench.code { try copy.checkout("HEAD~6") } == .noSuchRevision)
    #expect(try copy.revert("HEAD~4") != nil)
    #expect(try copy.blame("people", [.string("p2")]).map(\.changeset.id) == [log[5].id])
    // A second squash that has nothing to do does nothing.
    let again = try await desk.remote.squash(depth: 5)
    #expect(again.removedRecords == 0 && again.beginning?.id == log[5].id)
  }

  @Test func replicasGoOnAcrossASquashAsIfNothingWere() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = try await SquashBench.pair(
      cloud,
      filling: 1...10,
      edit: "UPDATE people SET name = 'Two' WHERE id = 'p2'"
    )
    // The phone has committed lately: the desk waits until it has seen the snapshot.
    let first = try await desk.remote.squash(depth: 0)
    #expect(first.waitingFor == ["phone"] && first.beginning == nil && first.removedRecords == 0)
    #expect(first.next?.generation == 11)
    try await desk.remote.squash(depth: 0)
    #expect(try await desk.remote.squash(depth: 0).waitingFor == ["phone"])
    try await phone.remote.sync()
    let last = try await desk.remote.squash(depth: 0)
    #expect(last.waitingFor == [] && last.beginning == first.next && last.removedRecords > 0)
    // A copy with nothing but the snapshot, one that has everything, and one that squashed merge alike.
    let (copy, database) = try await desk.clone("tablet")
    let tablet = try ChangesetRemote(
      copy,
      operationHandler: RemoteBench.handler(cloud, device: "tablet"),
      zoneID: RemoteBench.zone
    )
    try database.execute(
      "UPDATE people SET score = 7 WHERE id = 'p3'; DELETE FROM people WHERE id = 'p4'"
    )
    try desk.bench.commit("UPDATE people SET name = 'Three' WHERE id = 'p3'")
    try phone.bench.commit("UPDATE people SET note = 3 WHERE id = 'p3'")
    for _ in 0..<3 {
      for remote in [tablet, desk.remote, phone.remote] { try await remote.sync() }
    }
    try HistoryBench.expectEqual([desk.bench, phone.bench])
    #expect(try copy.head() == desk.repository.head())
    #expect(try copy.verify().problems == [])
    #expect(
      try database.rows("SELECT * FROM people WHERE id = 'p3'") == ["'p3', 'Three', 7, 3"]
    )
    // An idle fleet is silent.
    let before = try cloud.records(account: RemoteBench.ada, zone: RemoteBench.zone)
    for remote in [tablet, desk.remote, phone.remote] { try await remote.sync() }
    #expect(try cloud.records(account: RemoteBench.ada, zone: RemoteBench.zone) == before)
    // The next squash takes the former's place, once all have committed on what others have.
    for (remote, database) in [(desk.remote, desk.bench.database), (tablet, database)] {
      try await remote.sync()
      try database.execute("UPDATE people SET score = score + 1 WHERE id = 'p9'")
      try await remote.sync()
    }
    try await phone.remote.sync()
    #expect(try await phone.remote.squash(depth: 0).waitingFor == ["desk", "tablet"])
    for remote in [tablet, desk.remote] { try await remote.sync() }
    let next = try await phone.remote.squash(depth: 0)
    #expect(next.waitingFor == [] && (next.beginning?.generation ?? 0) > 11)
    let snapshots = try cloud.records(account: RemoteBench.ada, zone: RemoteBench.zone)
      .filter { $0.recordType == "ChangesetSnapshot" }
    #expect(snapshots.count == 1)
    try await desk.remote.sync()
    try await tablet.sync()
    #expect(try copy.head() == desk.repository.head())
    try await desk.expectClone()
  }

  @Test func anOpenBranchIsNoPlaceToBegin() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...10)
    try desk.repository.createBranch("idea", at: "HEAD~6")
    try desk.repository.switchBranch("idea")
    try desk.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p3'")
    try desk.repository.switchBranch("main")
    let summary = try await desk.remote.squash(depth: 2)
    // What the branch begins with is the latest that all go on from.
    #expect(summary.beginning?.generation == 4)
    try desk.repository.merge("idea")
    try desk.repository.pull()
    try await desk.remote.sync()
    try await desk.expectClone()
    let first = try SquashBench(LocalCloud(), "desk")
    try await first.fill(1...3)
    try first.repository.createBranch("idea", at: "HEAD~2")
    try first.repository.switchBranch("idea")
    try first.bench.commit("UPDATE people SET name = 'Idea'")
    let none = try await first.remote.squash(depth: 0)
    #expect(none.beginning == nil && none.next == nil && none.removedRecords == 0)
  }

  @Test func tagsAndBranchesAreThereAfterASquash() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...3)
    try desk.repository.tag("first", "HEAD")
    try await desk.fill(4...8)
    try desk.repository.createBranch("idea", at: "HEAD~1")
    try desk.repository.tag("last", "HEAD")
    try await desk.remote.sync()
    #expect(try await desk.remote.squash(depth: 3).removedRecords > 0)
    let (copy, _) = try await desk.clone()
    #expect(try copy.tags() == desk.repository.tags())
    #expect(
      try copy.log(LogQuery(revision: "last", count: 1)).map(\.meta) == [#"{"message": "8"}"#]
    )
  }

  @Test func whereAZoneIsMadeAnewTheHistoryBeginsWithTheSnapshot() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...10)
    try await desk.remote.squash(depth: 3)
    let phone = try SquashBench(desk.cloud, "phone")
    // Both can bring it back: the one with all commits, and the one that has the snapshot alone.
    let (copy, _) = try await desk.clone("tablet")
    let tablet = try ChangesetRemote(
      copy,
      operationHandler: RemoteBench.handler(desk.cloud, device: "tablet"),
      zoneID: RemoteBench.zone
    )
    for remote in [desk.remote, tablet] {
      try await remote.reset()
      try await desk.expectClone()
    }
    try copy.gc(depth: 0)
    try await phone.remote.fetch()
    try phone.repository.pull()
    try HistoryBench.expectEqual([desk.bench, phone.bench])
  }

  @Test func columnsThatWereAddedHaveTheirConstantsBehindASquash() async throws {
    let desk = try SquashBench(LocalCloud(), "desk")
    try await desk.fill(1...4)
    let migration: @Sendable (OpaquePointer) throws -> Void = { handle in
      try SQLiteConnection(borrowing: handle)
        .execute(
          "ALTER TABLE people ADD COLUMN size DEFAULT 170; UPDATE people SET size = 9 WHERE id = 'p1'"
        )
    }
    let phone = try SquashBench(desk.cloud, "phone")
    try await phone.remote.sync()
    try ChangesetRepository.migrate(
      desk.bench.database,
      options: HistoryBench.options(replica: "desk"),
      migration
    )
    try await desk.fill(5...8)
    #expect(try await desk.remote.squash(depth: 1).removedRecords > 4)
    try await desk.expectClone()
    let (copy, database) = try await desk.clone("tablet")
    #expect(
      try database.rows("SELECT size, count(*) FROM people GROUP BY size") == ["9, 1", "170, 7"]
    )
    let tablet = try ChangesetRemote(
      copy,
      operationHandler: RemoteBench.handler(desk.cloud, device: "tablet"),
      zoneID: RemoteBench.zone
    )
    // Edits, merges and another migration behind it lead to the same states, with and without what was before.
    try database.execute(
      "UPDATE people SET size = 170 WHERE id = 'p1'; INSERT INTO people(id) VALUES('t')"
    )
    try desk.bench.commit("UPDATE people SET size = NULL WHERE id = 'p2'")
    for _ in 0..<2 { for remote in [tablet, desk.remote] { try await remote.sync() } }
    for database in [database, desk.bench.database] {
      try ChangesetRepository.migrate(database, options: HistoryBench.options(replica: "x")) {
        try SQLiteConnection(borrowing: $0).execute("ALTER TABLE people ADD COLUMN age DEFAULT 3")
      }
    }
    try database.execute("UPDATE people SET age = 4 WHERE id = 't'")
    for _ in 0..<2 { for remote in [tablet, desk.remote] { try await remote.sync() } }
    #expect(try copy.head() == desk.repository.head())
    #expect(try copy.verify().problems == [])
    #expect(try desk.repository.verify().problems == [])
    try await desk.expectClone()
    // The phone's app is older: it waits, as it did before.
    #expect(await SquashBench.code { try await phone.remote.sync() } == .needsUpgrade)
  }

  @Test func aSnapshotThatSomethingComesBesideIsGivenUp() async throws {
    let (desk, phone) = try await SquashBench.pair(
      LocalCloud(),
      filling: 1...6,
      edit: "UPDATE people SET name = 'Two' WHERE id = 'p2'"
    )
    let first = try await desk.remote.squash(depth: 0)
    #expect(first.next?.generation == 7 && first.waitingFor == ["phone"])
    // The phone knows nothing of it yet, and begins a branch further back.
    try phone.repository.createBranch("idea", at: "HEAD~3")
    try phone.repository.switchBranch("idea")
    try phone.bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p1'")
    try phone.repository.switchBranch("main")
    try await phone.remote.push()
    let second = try await desk.remote.squash(depth: 0)
    #expect(second.next?.generation == 4 && second.beginning == nil)
    try await phone.remote.sync()
    let third = try await desk.remote.squash(depth: 0)
    #expect(third.beginning == second.next && third.waitingFor == [])
    try await phone.remote.sync()
    // Now no branch can begin where nobody would get it.
    for replica in [desk, phone] {
      #expect(
        await SquashBench.code { try replica.repository.createBranch("late", at: "HEAD~5") }
          == .behindHorizon
      )
    }
    try phone.repository.merge("idea")
    try await SquashBench.settle([phone, desk])
    #expect(try desk.bench.rows("SELECT name FROM people WHERE id = 'p1'") == ["'Idea'"])
    try await desk.expectClone()
  }
}
