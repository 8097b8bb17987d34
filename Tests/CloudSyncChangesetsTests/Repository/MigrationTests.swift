import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Tables that change, while replicas have other versions of the app.
@Suite struct MigrationTests {
  private static let all = "SELECT * FROM people ORDER BY id"

  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) { handle in
      try SQLiteConnection(borrowing: handle).execute(sql)
    }
  }

  private static let height = "ALTER TABLE people ADD COLUMN height INTEGER NOT NULL DEFAULT 170"

  @Test func aNewColumnHasItsConstantInAllOlderCommits() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people(id, name) VALUES('a', 'Ada'), ('b', 'Bob')")
    try bench.commit("DELETE FROM people WHERE id = 'b'")
    try Self.migrate(bench, Self.height)
    #expect(try bench.repository.log().map(\.kind) == [.migration, .edit, .edit])
    try bench.commit("UPDATE people SET height = 180; INSERT INTO people(id) VALUES('c')")
    #expect(try bench.repository.verify().problems == [])
    // Back over the migration: the deleted row comes with the constant.
    try bench.repository.checkout("HEAD~3")
    #expect(
      try bench.rows("SELECT id, height FROM people ORDER BY id") == ["'a', 170", "'b', 170"]
    )
    #expect(try bench.repository.verify().problems == [])
    try bench.repository.switchBranch("main")
    #expect(
      try bench.rows("SELECT id, height FROM people ORDER BY id") == ["'a', 180", "'c', 170"]
    )
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func replicasThatMigrateTheSameCommitMakeTheSameCommit() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 2)")
    try other.sync(from: one)
    let migration = Self.height + "; UPDATE people SET height = 100 + score"
    for bench in [one, other] { try Self.migrate(bench, migration) }
    #expect(try one.repository.head() == other.repository.head())
    try HistoryBench.expectEqual([one, other])
  }

  @Test func anOlderAppWaitsAndCommitsOnAndAllIsMergedAfterItsMigration() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 2)")
    try other.sync(from: one)
    try Self.migrate(one, Self.height)
    try one.commit("INSERT INTO people(id, height) VALUES('tall', 200)")
    try other.take(from: one)
    let error = #expect(throws: ChangesetError.self) { try other.repository.pull() }
    #expect(error?.code == .needsUpgrade)
    try other.commit(
      "INSERT INTO people(id) VALUES('old'); UPDATE people SET score = 3 WHERE id = 'a'"
    )
    #expect(try other.repository.mergeAll() == [])
    #expect(try other.repository.verify().problems == [])
    // The newer app merges what the older one has committed.
    try one.sync(from: other)
    #expect(
      try one.rows("SELECT id, score, height FROM people ORDER BY id")
        == ["'a', 3, 170", "'old', NULL, 170", "'tall', NULL, 200"]
    )
    #expect(try one.repository.verify().problems == [])
    try Self.migrate(other, Self.height)
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
  }

  @Test func anOlderAppMergesNoBranchOfANewerOne() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 2)")
    try other.sync(from: one)
    try Self.migrate(one, Self.height)
    try one.repository.createBranch("idea")
    try one.repository.switchBranch("idea")
    try one.commit("UPDATE people SET height = 200; INSERT INTO people(id, height) VALUES('b', 9)")
    try other.commit("UPDATE people SET score = 3; INSERT INTO people(id) VALUES('b')")
    try other.take(from: one)
    let before = try other.rows("SELECT hex(id) FROM changesets_log ORDER BY seq")
    let error = #expect(throws: ChangesetError.self) { try other.repository.merge("idea") }
    #expect(error?.code == .needsUpgrade)
    #expect(try other.rows("SELECT hex(id) FROM changesets_log ORDER BY seq") == before)
    try Self.migrate(other, Self.height)
    try other.repository.mergeAll()
    try other.repository.merge("idea")
    try other.repository.pull()
    let rows = try other.rows("SELECT id, score, height FROM people ORDER BY id")
    #expect(rows == ["'a', 3, 200", "'b', NULL, 9"])
    #expect(try other.repository.verify().problems == [])
  }

  @Test func whoLooksAtAnOlderCommitIsMigratedWhereTheBranchIsBeyondThisApp() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 2)")
    try one.commit("UPDATE people SET score = 3")
    try other.sync(from: one)
    let old = try #require(try other.repository.log().last)
    try other.repository.checkout(Revision(old.id))
    // As long as the branch can be gone to it is gone to first.
    let error = #expect(throws: ChangesetError.self) { try Self.migrate(other, Self.height) }
    #expect(error?.code == .detached)
    let migration = Self.height + "; UPDATE people SET height = 100 + score"
    try Self.migrate(one, migration)
    try one.commit("UPDATE people SET name = 'Ada'")
    try other.take(from: one)
    let stuck = #expect(throws: ChangesetError.self) { try other.repository.switchBranch("main") }
    #expect(stuck?.code == .needsUpgrade)

    try Self.migrate(other, migration)
    #expect(try other.repository.head().id == old.id)
    #expect(try other.repository.status().isClean)
    #expect(try other.repository.verify().problems == [])
    #expect(try other.rows("SELECT id, score, height FROM people") == ["'a', 2, 170"])
    try other.repository.switchBranch("main")
    #expect(try other.rows("SELECT score, height, name FROM people") == ["3, 103, 'Ada'"])
    try HistoryBench.expectEqual([one, other])
    #expect(try other.repository.log().count == one.repository.log().count)
  }

  /// Nobody could look at it any more, nor go back.
  @Test func whoLooksAtWhatTheMigratedTablesCannotShowIsOnTheBranchThen() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    try one.commit("INSERT INTO people(id, name) VALUES('b', 'Bob')")
    try other.sync(from: one)
    try other.repository.checkout("HEAD~1")
    let rename = "ALTER TABLE people RENAME COLUMN name TO called"
    try Self.migrate(one, rename)
    try one.commit("UPDATE people SET called = 'Rob' WHERE id = 'b'")
    try other.take(from: one)
    try Self.migrate(other, rename)
    #expect(try other.rows("SELECT id, called FROM people") == ["'a', 'Ada'", "'b', 'Rob'"])
    try HistoryBench.expectEqual([one, other])
    #expect(try other.repository.head() == (try one.repository.head()))
  }

  @Test func columnsInAnotherOrderKeepTheirNames() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id) VALUES('a')")
    try other.sync(from: one)
    let columns = ["ALTER TABLE people ADD COLUMN height", "ALTER TABLE people ADD COLUMN weight"]
    try Self.migrate(one, columns.joined(separator: ";"))
    try Self.migrate(other, columns.reversed().joined(separator: ";"))
    try one.commit("UPDATE people SET height = 1")
    try other.commit("UPDATE people SET weight = 2")
    try HistoryBench.settle([one, other])
    for bench in [one, other] {
      #expect(try bench.rows("SELECT height, weight FROM people") == ["1, 2"])
    }
    try HistoryBench.expectEqual([one, other], "SELECT id, height, weight FROM people")
  }

  @Test func columnsAndTablesAreRenamedAndDroppedAndNewOnesAreTracked() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people VALUES('a', 'Ada', 1, 'n')")
    try Self.migrate(
      bench,
      """
      ALTER TABLE people RENAME COLUMN name TO called; ALTER TABLE people DROP COLUMN note;
      CREATE TABLE extra(id TEXT PRIMARY KEY NOT NULL, v); INSERT INTO extra VALUES('x', 1);
      """
    )
    #expect(try bench.repository.verify().problems == [])
    try bench.commit("UPDATE people SET called = 'Eve'; UPDATE extra SET v = 2")
    #expect(try bench.repository.verify().problems == [])
    #expect(
      try bench.repository.diff("HEAD~1", "HEAD").map(\.text) == [
        "update extra 'x' [v: 1 → 2]", "update people 'a' [called: 'Ada' → 'Eve']",
      ]
    )
    // What was before is still told by its names, but cannot be gone to.
    #expect(try bench.repository.diff("HEAD~2", "HEAD~1").isEmpty == false)
    let error = #expect(throws: ChangesetError.self) { try bench.repository.checkout("HEAD~2") }
    #expect(error?.code == .needsUpgrade)
  }

  @Test func tablesThatWereChangedWithoutTheHistoryAreFound() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people(id) VALUES('a')")
    try bench.database.execute("ALTER TABLE people ADD COLUMN height")
    let error = #expect(throws: ChangesetError.self) { try bench.repository.status() }
    #expect(error?.code == .needsMigration)
    #expect(throws: ChangesetError.self) { try ChangesetRepository(bench.database) }
  }

  @Test func aMigrationThatFailsLeavesEverythingAsItWas() throws {
    let bench = try HistoryBench()
    try bench.commit("INSERT INTO people(id) VALUES('a')")
    let before = try bench.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name")
    #expect(throws: SQLiteError.self) { try Self.migrate(bench, Self.height + "; SELECT nonsense") }
    #expect(try bench.rows("SELECT type, name, sql FROM sqlite_schema ORDER BY name") == before)
    try bench.database.execute("UPDATE people SET score = 1")
    let error = #expect(throws: ChangesetError.self) { try Self.migrate(bench, Self.height) }
    #expect(error?.code == .uncommittedChanges)
  }
}
