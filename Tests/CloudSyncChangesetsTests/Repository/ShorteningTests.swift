import CloudSyncChangesets
import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Histories whose old changes were removed from one copy.
@Suite struct ShorteningTests {
  private static let all = "SELECT * FROM people ORDER BY id"

  private static func code(_ body: () throws -> Void) -> ChangesetError.Code? {
    do {
      try body()
      return nil
    } catch let error as SyncEngineError {
      return ChangesetError.Code(rawValue: error.code.rawValue)
    } catch { return (error as? ChangesetError)?.code }
  }

  /// Twenty commits of one row each, which all change the first.
  private static func fill(_ bench: HistoryBench) throws {
    for number in 1...20 {
      try bench.commit(
        "INSERT INTO people(id, score) VALUES('p\(number)', 0); UPDATE people SET score = \(number) WHERE id = 'p1'",
        meta: #"{"message": "\#(number)"}"#
      )
    }
  }

  @Test func whatIsNearHeadStaysWholeAndTheLogStaysToo() throws {
    let bench = try HistoryBench()
    try Self.fill(bench)
    let log = try bench.repository.log()
    let removed = try bench.repository.gc(depth: 5, includingUnsent: true)
    #expect(removed.commits == 14 && removed.bytes > 14 * 20)
    #expect(try bench.repository.log() == log)
    #expect(try bench.repository.verify().problems == [])
    // At the cut and after it everything is as before.
    try bench.repository.checkout("HEAD~5")
    #expect(try bench.rows("SELECT count(*), max(score) FROM people") == ["15, 15"])
    #expect(Self.code { try bench.repository.checkout("HEAD~2") } == .historyTooShort)
    try bench.repository.switchBranch("main")
    #expect(try bench.repository.diff("HEAD~5", "HEAD").count == 6)
    #expect(Self.code { _ = try bench.repository.diff("HEAD~7", "HEAD") } == .historyTooShort)
    #expect(Self.code { _ = try bench.repository.revert("HEAD~7") } == .historyTooShort)
    #expect(Self.code { _ = try bench.repository.show("HEAD~7") } == .historyTooShort)
    // A file that cannot be had is not begun.
    let folder = try ScratchFolder()
    let path = folder.file("then.db")
    #expect(Self.code { try bench.repository.export("HEAD~7", to: path) } == .historyTooShort)
    #expect(Self.code { _ = try DatabaseFile(path: path) } == .cannotAccess)
    try bench.repository.export("HEAD~5", to: path)
    #expect(try DatabaseFile(path: path).rows("SELECT count(*) FROM people") == ["15"])
    // What the removed commits wrote is theirs together.
    let origins = try bench.repository.blame("people", [.string("p1")])
    #expect(origins.map(\.changeset.meta) == [#"{"message": "20"}"#])
    let old = try bench.repository.blame("people", [.string("p2")])
    #expect(old.map(\.changeset.meta) == [#"{"message": "14"}"#])
    #expect(try bench.repository.log(LogQuery(table: "people", key: [.string("p1")])).count == 6)
    // Undo goes as far as there is something to undo.
    for _ in 0..<6 { #expect(try bench.repository.undo() != nil) }
    #expect(try bench.repository.undo() == nil)
    #expect(try bench.repository.verify().problems == [])
    // A second time there is nothing, and all of a short history stays.
    #expect(try bench.repository.gc(depth: 100, includingUnsent: true).commits == 0)
  }

  @Test func rescanningAndMigratingGoOnFromTheRows() throws {
    let bench = try HistoryBench()
    try Self.fill(bench)
    let whole = try HistoryBench(replica: "phone")
    try whole.sync(from: bench)
    try bench.repository.gc(depth: 2, includingUnsent: true)
    try bench.repository.rescan()
    #expect(try bench.repository.status().isClean)
    let migration: @Sendable (OpaquePointer) throws -> Void = { handle in
      try SQLiteConnection(borrowing: handle)
        .execute(
          "ALTER TABLE people ADD COLUMN height DEFAULT 170; UPDATE people SET height = score WHERE id = 'p1'"
        )
    }
    for database in [bench.database, whole.database] {
      try ChangesetRepository.migrate(database, options: HistoryBench.options(), migration)
    }
    // The same commit, with and without the old changes.
    #expect(try bench.repository.head() == whole.repository.head())
    #expect(try bench.repository.verify().problems == [])
    // What was written past the triggers can only be found with the whole history.
    try bench.database.write { handle in
      try SQLiteConnectionBox.withoutTriggers(handle, "UPDATE people SET score = 7 WHERE id = 'p9'")
    }
    #expect(Self.code { try bench.repository.rescan() } == .historyTooShort)
    #expect(try bench.repository.verify().problems.count == 1)
  }

  /// Whatever the rows and HEAD's hash tell needs no changes that were removed.
  @Test(arguments: [
    "ALTER TABLE people ADD COLUMN height REAL DEFAULT 170",
    "ALTER TABLE people RENAME COLUMN score TO points",
    "ALTER TABLE people RENAME TO folk",
  ])
  func tablesThatOnlyGainAreTakenUpWithoutWhatWasRemoved(change: String) throws {
    let bench = try HistoryBench()
    try Self.fill(bench)
    let whole = try HistoryBench(replica: "phone")
    try whole.sync(from: bench)
    try bench.repository.gc(depth: 2, includingUnsent: true)
    for one in [bench, whole] {
      try one.database.execute("UPDATE people SET note = 'mine' WHERE id = 'p3'")
      try one.database.execute("DELETE FROM people WHERE id = 'p4'")
      try one.database.execute("INSERT INTO people(id) VALUES('new')")
      try one.database.execute(change)
      try ChangesetRepository.rescan(one.database, options: HistoryBench.options())
    }
    #expect(try bench.repository.head() == whole.repository.head())
    let changes = try bench.repository.changes()
    #expect(changes.count == 3)
    #expect(try whole.repository.changes() == changes)
    #expect(try bench.repository.verify().problems == [])
    try bench.repository.commit()
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func whatIsGoneWithAColumnComesBackFromTheCloud() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    try Self.fill(desk)
    try await RemoteBench.remote(desk, cloud).sync()
    let whole = try HistoryBench(replica: "phone")
    try whole.sync(from: desk)
    try desk.repository.gc(depth: 2)
    for one in [desk, whole] {
      try one.database.execute(
        """
        CREATE TABLE rebuilt(id TEXT PRIMARY KEY NOT NULL, name TEXT, note);
        INSERT INTO rebuilt SELECT id, name, note FROM people; DROP TABLE people;
        ALTER TABLE rebuilt RENAME TO people
        """
      )
    }
    let rescan = { (bench: HistoryBench) throws in
      try ChangesetRepository.rescan(bench.database, options: HistoryBench.options())
    }
    #expect(Self.code { try rescan(desk) } == .historyTooShort)
    #expect(Self.code { _ = try desk.repository.head() } == .needsMigration)
    try await ChangesetRemote.fetchEverything(
      into: desk.database,
      from: RemoteBench.handler(cloud, device: "desk"),
      zoneID: RemoteBench.zone
    )
    try rescan(desk)
    try rescan(whole)
    #expect(try desk.repository.head() == whole.repository.head())
    #expect(try desk.repository.status().isClean)
    #expect(try desk.repository.verify().problems == [])
    try await RemoteBench.remote(desk, cloud).sync()
  }

  @Test func aBranchThatBeginsBelowKeepsWhatItsMergeNeeds() throws {
    let bench = try HistoryBench()
    try Self.fill(bench)
    try bench.repository.createBranch("idea", at: "HEAD~10")
    try bench.repository.switchBranch("idea")
    try bench.commit("UPDATE people SET name = 'Idea' WHERE id = 'p3'")
    try bench.repository.switchBranch("main")
    // Only what is before both ends goes.
    #expect(try bench.repository.gc(depth: 2, includingUnsent: true).commits == 9)
    try bench.repository.merge("idea")
    try bench.repository.pull()
    #expect(try bench.rows("SELECT name FROM people WHERE id = 'p3'") == ["'Idea'"])
    try bench.repository.switchBranch("idea")
    #expect(try bench.rows("SELECT count(*) FROM people") == ["10"])
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func valuesThatAMergeHasLostStay() throws {
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    try phone.sync(from: desk)
    try desk.commit("UPDATE people SET name = 'One'")
    try phone.commit("UPDATE people SET name = 'Two'")
    try HistoryBench.settle([desk, phone])
    for number in 0..<9 { try desk.commit("UPDATE people SET score = \(number)") }
    let lost = try desk.repository.conflicts()
    #expect(lost.count == 1)
    try desk.repository.gc(depth: 3, includingUnsent: true)
    #expect(try desk.repository.conflicts() == lost)
    #expect(try desk.repository.restoreConflict(lost[0]) != nil)
    #expect(try desk.repository.verify().problems == [])
  }

  @Test func onlyWhatTheCloudHasGoesAndItComesBackFromThere() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (one, other) = (
      try RemoteBench.remote(desk, cloud), try RemoteBench.remote(phone, cloud, device: "phone")
    )
    try Self.fill(desk)
    #expect(try desk.repository.gc(depth: 2).commits == 0)
    try await one.sync()
    try await other.sync()
    #expect(try desk.repository.gc(depth: 2).commits == 17)
    // A replica that was silent goes on from a commit that has no changes any more here.
    try phone.repository.createBranch("late", at: "HEAD~12")
    try phone.repository.switchBranch("late")
    try phone.commit("UPDATE people SET name = 'Late' WHERE id = 'p2'")
    try phone.repository.switchBranch("main")
    try phone.repository.merge("late")
    try phone.repository.pull()
    try phone.commit("UPDATE people SET note = 1 WHERE id = 'p5'")
    try await other.push()
    try desk.commit("UPDATE people SET note = 2 WHERE id = 'p6'")
    let summary = try await one.sync()
    #expect(summary.merges == 1)
    try await other.sync()
    try HistoryBench.expectEqual([desk, phone])
    #expect(try desk.rows("SELECT name FROM people WHERE id = 'p2'") == ["'Late'"])
    // Emptying the zone takes nothing that nobody has any more.
    try desk.repository.gc(depth: 2)
    try await one.reset()
    let new = try HistoryBench(replica: "new")
    let third = try RemoteBench.remote(new, cloud, device: "new")
    try await third.fetch()
    try new.repository.pull()
    try HistoryBench.expectEqual([desk, new])
    #expect(try desk.repository.log(LogQuery(table: "people")).count >= 20)
  }

  @Test func whoseMergeNeedsRemovedChangesIsToldAndTheSyncGetsThem() async throws {
    let cloud = LocalCloud()
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let (one, other) = (
      try RemoteBench.remote(desk, cloud), try RemoteBench.remote(phone, cloud, device: "phone")
    )
    try Self.fill(desk)
    try await one.sync()
    try await other.sync()
    // The phone commits offline, and the desk goes on and forgets what that is based on.
    try phone.commit("UPDATE people SET name = 'Late' WHERE id = 'p2'")
    for number in 0..<9 { try desk.commit("UPDATE people SET note = \(number) WHERE id = 'p7'") }
    try await one.sync()
    #expect(try desk.repository.gc(depth: 2).commits > 20)
    try await other.push()
    try await one.fetch()
    #expect(Self.code { _ = try desk.repository.mergeAll() } == .historyTooShort)
    #expect(try await one.sync().merges == 1)
    try await other.sync()
    try HistoryBench.expectEqual([desk, phone])
  }

  @Test func aHistoryThatCannotBeSentAnyMoreSaysSo() async throws {
    let cloud = LocalCloud()
    let desk = try HistoryBench(replica: "desk")
    try Self.fill(desk)
    try desk.repository.gc(depth: 2, includingUnsent: true)
    let one = try RemoteBench.remote(desk, cloud)
    do {
      try await one.push()
      Issue.record("it was sent")
    } catch { #expect(error.code == .historyTooShort) }
    try desk.repository.reset()
    let again = try RemoteBench.remote(desk, cloud)
    #expect(try await again.sync().sent == 1)
  }
}
