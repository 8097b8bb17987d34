import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A column that one history was begun with, and another was given by a migration: the hash of a state depends
/// on its own commits alone.
@Suite struct ColumnLineTests {
  private static let born = """
    CREATE TABLE people(
      id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note,
      height INTEGER NOT NULL DEFAULT 170);
    """
  private static let height = "ALTER TABLE people ADD COLUMN height INTEGER NOT NULL DEFAULT 170"

  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) { handle in
      try SQLiteConnection(borrowing: handle).execute(sql)
    }
  }

  private static func rows(_ bench: HistoryBench) throws -> [String] {
    try bench.rows("SELECT id, score, height FROM people ORDER BY id")
  }

  /// A replica that was migrated, and one whose app had the column from the beginning.
  private static func pair() throws -> (migrated: HistoryBench, born: HistoryBench) {
    let migrated = try HistoryBench(replica: "desk")
    let born = try HistoryBench(Self.born, replica: "phone")
    try migrated.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 2)")
    try Self.migrate(migrated, height)
    try migrated.commit("UPDATE people SET height = 180 WHERE id = 'b'")
    try born.commit("INSERT INTO people(id, score) VALUES('c', 3)")
    try born.commit("INSERT INTO people(id, score, height) VALUES('d', 4, 200)")
    return (migrated, born)
  }

  @Test func aHistoryThatWasMigratedAndOneThatBeganWithTheColumnAreMerged() throws {
    let (migrated, born) = try Self.pair()
    try HistoryBench.settle([migrated, born])
    try HistoryBench.expectEqual(
      [migrated, born],
      "SELECT id, score, height FROM people ORDER BY id"
    )
    #expect(
      try Self.rows(born) == ["'a', 1, 170", "'b', 2, 180", "'c', 3, 170", "'d', 4, 200"]
    )
    // Both go on, also from each other's lines.
    try migrated.commit("INSERT INTO people(id) VALUES('e'); DELETE FROM people WHERE id = 'c'")
    try born.commit("UPDATE people SET height = 170 WHERE id = 'd'")
    try HistoryBench.settle([migrated, born])
    try HistoryBench.expectEqual(
      [migrated, born],
      "SELECT id, score, height FROM people ORDER BY id"
    )
    // A third one that knows nothing takes it all in, whoever it hears first.
    for first in [migrated, born] {
      let third = try HistoryBench(Self.born, replica: "new")
      try third.sync(from: first, first === born ? migrated : born)
      try HistoryBench.expectEqual(
        [third, migrated],
        "SELECT id, score, height FROM people ORDER BY id"
      )
    }
  }

  @Test func rowsGoFromOneLineToTheOtherAndBack() throws {
    let (migrated, born) = try Self.pair()
    let ends = [migrated, born].map { try? $0.repository.head().id }
    try HistoryBench.settle([migrated, born])
    for end in ends {
      let id = try #require(end ?? nil)
      try born.repository.checkout(Revision(id))
      #expect(try Self.rows(born).count == 2)
      #expect(try born.repository.verify().problems == [])
    }
    try born.repository.switchBranch("main")
    try HistoryBench.expectEqual(
      [migrated, born],
      "SELECT id, score, height FROM people ORDER BY id"
    )
  }

  @Test func aColumnWithAConstantIsDroppedAgain() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 2)")
    try Self.migrate(one, Self.height)
    try one.commit(
      "UPDATE people SET height = 180 WHERE id = 'b'; INSERT INTO people(id) VALUES('c')"
    )
    try Self.migrate(one, "ALTER TABLE people DROP COLUMN height")
    #expect(try one.repository.verify().problems == [])
    try one.commit("INSERT INTO people(id) VALUES('d'); DELETE FROM people WHERE id = 'a'")
    #expect(try one.repository.verify().problems == [])
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }

  @Test func afterAResetTheConstantsOfOldCommitsAreForgotten() throws {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, score) VALUES('a', 1)")
    for bench in [one, other] { try Self.migrate(bench, Self.height) }
    try other.sync(from: one)
    try one.repository.reset()
    try one.repository.commit()
    #expect(try one.repository.verify().problems == [])
    try one.commit("INSERT INTO people(id, score) VALUES('b', 2)")
    let new = try HistoryBench(Self.born, replica: "new")
    try new.sync(from: one)
    try HistoryBench.expectEqual([one, new], "SELECT id, score, height FROM people ORDER BY id")
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other], "SELECT id, score, height FROM people ORDER BY id")
  }

  @Test func rowsOfAnOlderAppHaveTheDefaultBeforeAnyMigrationSaysSo() throws {
    let (old, born) = (
      try HistoryBench(replica: "desk"), try HistoryBench(Self.born, replica: "phone")
    )
    try old.commit("INSERT INTO people(id, score) VALUES('a', 1)")
    try born.commit("INSERT INTO people(id, score) VALUES('c', 3), ('d', 4)")
    try born.sync(from: old)
    #expect(try Self.rows(born) == ["'a', 1, 170", "'c', 3, 170", "'d', 4, 170"])
    #expect(try born.repository.conflicts().isEmpty)
    // Whoever hears of the migration first has the same rows.
    try old.commit("INSERT INTO people(id, score) VALUES('b', 2)")
    try Self.migrate(old, Self.height)
    let third = try HistoryBench(Self.born, replica: "pad")
    try third.sync(from: old, born)
    try HistoryBench.settle([old, born, third])
    let query = "SELECT id, score, height FROM people ORDER BY id"
    try HistoryBench.expectEqual([old, born, third], query)
    #expect(
      try Self.rows(old) == ["'a', 1, 170", "'b', 2, 170", "'c', 3, 170", "'d', 4, 170"]
    )
  }

  @Test func aNewerAppGoesOnFromAnOlderOnesCommitAndSaysWhatItsRowsHold() throws {
    let (old, born) = (
      try HistoryBench(replica: "desk"), try HistoryBench(Self.born, replica: "phone")
    )
    try old.commit("INSERT INTO people(id, score) VALUES('a', 1), ('b', 2)")
    try born.sync(from: old)
    try born.commit("UPDATE people SET height = 180 WHERE id = 'a'")
    #expect(try born.repository.verify().problems == [])
    let third = try HistoryBench(Self.born, replica: "pad")
    try third.sync(from: born)
    try HistoryBench.expectEqual([born, third], "SELECT id, score, height FROM people ORDER BY id")
  }

  @Test func aLineThatCountsAColumnIsReachedFromOneThatLacksIt() throws {
    let (old, born) = (
      try HistoryBench(replica: "desk"), try HistoryBench(Self.born, replica: "phone")
    )
    let third = try HistoryBench(Self.born, replica: "pad")
    try old.commit("INSERT INTO people(id, score) VALUES('a', 1)")
    try third.sync(from: old)
    try born.commit("INSERT INTO people(id, score) VALUES('a', 3), ('d', 4)")
    try born.sync(from: old)
    // From the older app's commit to a merge on the line that had the column from its beginning.
    try third.sync(from: born)
    try HistoryBench.expectEqual([born, third], "SELECT id, score, height FROM people ORDER BY id")
    try third.repository.checkout("HEAD~1")
    try third.repository.switchBranch("main")
    #expect(try third.repository.verify().problems == [])
  }
}
