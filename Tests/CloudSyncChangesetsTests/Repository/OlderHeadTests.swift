import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Commits of older versions of an app meet those of newer ones.
@Suite struct OlderHeadTests {
  private static let renaming = """
    ALTER TABLE people RENAME COLUMN name TO called; ALTER TABLE people ADD COLUMN size DEFAULT 1;
    UPDATE people SET size = length(called)
    """

  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(sql)
    }
  }

  private static func pair() throws -> (one: HistoryBench, other: HistoryBench) {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, name) VALUES('a', 'Ada'), ('b', 'Bob')")
    try other.sync(from: one)
    return (one, other)
  }

  // MARK: 48

  @Test func anUnmigratedBranchWaitsUntilTheAppsMigrationBringsItUp() throws {
    let (one, other) = try Self.pair()
    try Self.migrate(one, Self.renaming)
    try one.commit("UPDATE people SET called = 'Rob' WHERE id = 'b'")
    try other.commit("INSERT INTO people(id, name) VALUES('old', 'Olga')")
    try one.take(from: other)
    // Without the app's migration it waits.
    #expect(try one.repository.mergeAll() == [])
    #expect(try one.repository.status().heads.count == 2)
    var options = HistoryBench.options(replica: "desk")
    options.migrate = { try SQLiteConnection(borrowing: $0).execute(Self.renaming) }
    let able = try ChangesetRepository(one.database, options: options)
    #expect(try able.mergeAll().count == 1)
    try able.pull()
    #expect(
      try one.rows("SELECT id, called, size FROM people ORDER BY id")
        == ["'a', 'Ada', 3", "'b', 'Rob', 3", "'old', 'Olga', 4"]
    )
    #expect(try able.verify().problems == [])
    // The commit that was made for it is the one that its own replica makes, and is to be sent.
    let made = try able.log(LogQuery(isOfAllBranches: true)).filter { $0.kind == .migration }
    #expect(made.count == 2)
    let unpushed = try able.status().unpushedCount
    #expect(unpushed == 4)
    try Self.migrate(other, Self.renaming)
    let own = try #require(try other.repository.head().id)
    #expect(made.map(\.id).contains(own))
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }

  @Test func aBranchThatIsMergedIsBroughtUpFirst() throws {
    let one = try HistoryBench(replica: "desk")
    try one.commit("INSERT INTO people(id, name) VALUES('a', 'Ada'), ('b', 'Bob')")
    try one.repository.createBranch("idea")
    try one.repository.switchBranch("idea")
    try one.commit("UPDATE people SET name = 'Eve' WHERE id = 'a'")
    try one.repository.switchBranch("main")
    try Self.migrate(one, Self.renaming)
    // What the branch says of a column that is not there any more would be lost.
    let error = #expect(throws: ChangesetError.self) { try one.repository.merge("idea") }
    #expect(error?.code == .needsUpgrade)
    var options = HistoryBench.options(replica: "desk")
    options.migrate = { try SQLiteConnection(borrowing: $0).execute(Self.renaming) }
    let able = try ChangesetRepository(one.database, options: options)
    try able.merge("idea")
    try able.pull()
    let rows = try one.rows("SELECT id, called, size FROM people ORDER BY id")
    #expect(rows == ["'a', 'Eve', 3", "'b', 'Bob', 3"])
    #expect(try able.verify().problems == [])
  }

  @Test func aMigrationThatFailsIsToldAndChangesNothing() throws {
    let (one, other) = try Self.pair()
    try Self.migrate(one, Self.renaming)
    try other.commit("INSERT INTO people(id) VALUES('old')")
    try one.take(from: other)
    var options = HistoryBench.options(replica: "desk")
    options.migrate = { try SQLiteConnection(borrowing: $0).execute("SELECT nonsense") }
    let able = try ChangesetRepository(one.database, options: options)
    let before = try one.rows("SELECT hex(id) FROM changesets_log")
    let error = #expect(throws: ChangesetError.self) { try able.mergeAll() }
    #expect(error?.code == .schema)
    #expect(try one.rows("SELECT hex(id) FROM changesets_log") == before)
    // One that leads elsewhere is of no use, and the head waits.
    options.migrate = {
      try SQLiteConnection(borrowing: $0).execute("CREATE TABLE x(a PRIMARY KEY NOT NULL)")
    }
    #expect(try ChangesetRepository(one.database, options: options).mergeAll() == [])
  }

  // MARK: 47

  @Test func aLaterValueOfAUsersWinsOverABackfill() throws {
    let (one, other) = try Self.pair()
    let backfill = "ALTER TABLE people ADD COLUMN size DEFAULT 1; UPDATE people SET size = 100"
    try Self.migrate(one, backfill)
    // The other has gone on, and migrates later, at another commit.
    other.pass(seconds: 60)
    try other.commit("UPDATE people SET note = 'late' WHERE id = 'b'")
    try Self.migrate(other, backfill)
    one.pass(seconds: 600)
    try one.commit("UPDATE people SET size = 7 WHERE id = 'a'")
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
    let rows = try other.rows("SELECT id, size, note FROM people ORDER BY id")
    #expect(rows == ["'a', 7, NULL", "'b', 100, 'late'"])
  }

  // MARK: 50

  @Test func duplicatesUnderANewUniqueKeyAreSettledInTheMerge() throws {
    let (one, other) = try Self.pair()
    try Self.migrate(one, "CREATE UNIQUE INDEX names ON people(name)")
    try one.commit("INSERT INTO people(id, name) VALUES('c', 'Cy')")
    other.pass(seconds: 60)
    try other.commit("INSERT INTO people(id, name) VALUES('x', 'Cy'), ('y', 'Ada')")
    try one.sync(from: other)
    let rows = try one.rows("SELECT id, name FROM people ORDER BY id")
    #expect(rows == ["'a', NULL", "'b', 'Bob'", "'c', NULL", "'x', 'Cy'", "'y', 'Ada'"])
    let kinds = try one.repository.conflicts().map(\.kind)
    #expect(kinds == [.unique, .unique])
    #expect(try one.repository.verify().problems == [])
    // Rows come before the key does.
    try other.sync(from: one)
    try Self.migrate(other, "CREATE UNIQUE INDEX names ON people(name)")
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
  }

  @Test func soIsADuplicateThatNothingOfTheOtherSideTies() throws {
    let (one, other) = try Self.pair()
    try Self.migrate(one, "CREATE UNIQUE INDEX names ON people(name)")
    try one.commit("UPDATE people SET score = 1")
    other.pass(seconds: 60)
    try other.commit("INSERT INTO people(id, name) VALUES('y', 'Ada')")
    try one.sync(from: other)
    let rows = try one.rows("SELECT id, name FROM people ORDER BY id")
    #expect(rows == ["'a', NULL", "'b', 'Bob'", "'y', 'Ada'"])
    #expect(try one.repository.status().parked == [])
  }

  // MARK: 51

  @Test func twoAppsWithUnlikeTablesNameWhatIsNotTheSame() throws {
    let people = try HistoryBench(replica: "desk")
    let others = try HistoryBench(
      "CREATE TABLE people(number INTEGER PRIMARY KEY, id TEXT); CREATE TABLE cars(id TEXT PRIMARY KEY NOT NULL);",
      replica: "phone"
    )
    try people.commit("INSERT INTO people(id) VALUES('a')")
    try others.commit("INSERT INTO people VALUES(1, 'a'); INSERT INTO cars VALUES('c')")
    try people.take(from: others)
    #expect(try people.repository.mergeAll() == [])
    let head = try #require(try others.repository.head().id)
    let error = #expect(throws: ChangesetError.self) {
      try people.repository.checkout(Revision(head))
    }
    #expect([.schemaMismatch, .needsUpgrade].contains(error?.code))
    #expect(error?.reason.contains("people") == true || error?.reason.contains("cars") == true)
    #expect(try people.rows("SELECT id FROM people") == ["'a'"])
    #expect(try people.repository.verify().problems == [])
  }
}
