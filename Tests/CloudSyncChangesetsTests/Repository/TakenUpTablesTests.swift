import CloudSyncChangesets
import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// Tables that were changed without the history are taken up by a rescan.
@Suite struct TakenUpTablesTests {
  private static let height = "ALTER TABLE people ADD COLUMN height INTEGER NOT NULL DEFAULT 170"

  private static func pair() throws -> (one: HistoryBench, other: HistoryBench) {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit("INSERT INTO people(id, name, note) VALUES('a', 'Ada', 'n'), ('b', 'Bob', NULL)")
    try other.sync(from: one)
    return (one, other)
  }

  private static func rescan(_ bench: HistoryBench, tables: [String]? = nil) throws {
    try ChangesetRepository.rescan(
      bench.database,
      tables: tables,
      options: HistoryBench.options()
    )
  }

  @Test func aColumnThatCameIsAMigrationAndTheRestIsUncommitted() throws {
    let (one, other) = try Self.pair()
    try one.database.execute(Self.height + "; UPDATE people SET height = 180 WHERE id = 'a'")
    #expect(throws: ChangesetError.self) { try one.repository.status() }
    try Self.rescan(one)
    #expect(try one.repository.log().map(\.kind) == [.migration, .edit])
    #expect(
      try one.repository.changes().map(\.text) == ["update people 'a' [height: 170 → 180]"]
    )
    #expect(try one.repository.verify().problems == [])
    // The same elsewhere is the same commit, by whatever way it was done.
    try ChangesetRepository.migrate(other.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(Self.height)
    }
    #expect(try other.repository.head() == (try one.repository.head()))
    try one.repository.commit()
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
    #expect(
      try other.rows("SELECT id, height FROM people ORDER BY id") == ["'a', 180", "'b', 170"]
    )
    // Edits are seen as before.
    try one.commit("UPDATE people SET height = 1 WHERE id = 'b'")
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }

  /// Triggers follow a column's new name by themselves.
  @Test func whatOthersHaveRenamedTooIsTakenUpHereToo() throws {
    let (one, other) = try Self.pair()
    let rename = "ALTER TABLE people RENAME COLUMN note TO remark"
    try one.database.execute(rename)
    try Self.rescan(one)
    try one.repository.commit()
    try other.commit("UPDATE people SET note = 'm' WHERE id = 'b'")
    // What others have renamed waits here.
    try other.sync(from: one)
    try other.database.execute(rename)
    let changed = #expect(throws: ChangesetError.self) { try other.repository.commit() }
    #expect(changed?.code == .needsMigration)
    #expect(throws: ChangesetError.self) { try other.repository.rescan() }
    try Self.rescan(other)
    #expect(try other.repository.log(LogQuery(count: 1)).map(\.kind) == [.migration])
    try other.repository.commit()
    #expect(try other.repository.verify().problems == [])
    try other.sync(from: one)
    try one.sync(from: other)
    try HistoryBench.expectEqual([one, other])
    #expect(
      try one.rows("SELECT id, remark FROM people ORDER BY id") == ["'a', 'n'", "'b', 'm'"]
    )
  }

  @Test func aHistoryOfAnEarlierBuildIsTakenUpToo() throws {
    let (one, _) = try Self.pair()
    try one.database.execute("DELETE FROM changesets_info WHERE name = 'schema'")
    try one.commit("UPDATE people SET note = 'o' WHERE id = 'a'")
    try one.database.execute("ALTER TABLE people RENAME COLUMN note TO remark")
    let changed = #expect(throws: ChangesetError.self) { try one.repository.commit() }
    #expect(changed?.code == .needsMigration)
    try Self.rescan(one)
    try one.repository.commit()
    #expect(try one.repository.verify().problems == [])
    #expect(
      try one.rows("SELECT value IS NOT NULL FROM changesets_info WHERE name = 'schema'") == ["1"]
    )
  }

  @Test func columnsThatWentAreAMigrationToo() throws {
    let (one, _) = try Self.pair()
    // With the triggers in the way a column cannot be dropped.
    try one.database.execute(
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER);
      INSERT INTO fresh SELECT id, name, score FROM people; DROP TABLE people;
      ALTER TABLE fresh RENAME TO people; INSERT INTO people(id) VALUES('c')
      """
    )
    try Self.rescan(one)
    #expect(try one.repository.changes().map(\.text) == ["insert people 'c' []"])
    try one.repository.commit()
    #expect(try one.repository.verify().problems == [])
    #expect(
      try one.repository.diff("HEAD~2", "HEAD~1").map(\.text)
        == ["update people 'a' [note: 'n' → NULL]"]
    )
  }

  @Test func aTableThatIsGoneIsDroppedOnlyIfThatIsSaid() throws {
    let schema = HistoryBench.people + "CREATE TABLE pets(id TEXT PRIMARY KEY NOT NULL);"
    let bench = try HistoryBench(schema)
    try bench.commit("INSERT INTO people(id) VALUES('a'); INSERT INTO pets VALUES('p')")
    try bench.database.execute(
      "CREATE TABLE animals(id TEXT PRIMARY KEY NOT NULL); INSERT INTO animals SELECT * FROM pets; DROP TABLE pets"
    )
    let error = #expect(throws: ChangesetError.self) { try Self.rescan(bench) }
    #expect(error?.code == .needsMigration)
    #expect(error?.reason.contains("pets") == true)
    try Self.rescan(bench, tables: ["people", "animals"])
    #expect(try bench.repository.changes().map(\.text) == ["insert animals 'p' []"])
    try bench.repository.commit()
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func aTableThatIsRenamedInPlaceIsTheSameOne() throws {
    let schema = HistoryBench.people + "CREATE TABLE pets(id TEXT PRIMARY KEY NOT NULL, a, b);"
    let bench = try HistoryBench(schema)
    try bench.commit(
      "INSERT INTO people(id) VALUES('x'); INSERT INTO pets VALUES('p', 1, 2), ('q', NULL, 'b')"
    )
    try bench.database.execute(
      """
      ALTER TABLE pets RENAME TO animals; ALTER TABLE animals RENAME COLUMN a TO legs;
      ALTER TABLE animals ADD COLUMN c DEFAULT 'c'; UPDATE animals SET b = 3 WHERE id = 'p'
      """
    )
    try Self.rescan(bench)
    #expect(try bench.repository.changes().map(\.text) == ["update animals 'p' [b: 2 → 3]"])
    try bench.repository.commit()
    #expect(try bench.repository.verify().problems == [])
  }

  @Test func aColumnDoesNotComeBackWithADefault() throws {
    let bench = try HistoryBench("CREATE TABLE n(id TEXT PRIMARY KEY NOT NULL, t, x);")
    try bench.commit("INSERT INTO n VALUES('a', 1, 'x1'), ('b', 2, NULL)")
    try bench.database.execute(
      """
      CREATE TABLE m(id TEXT PRIMARY KEY NOT NULL, t); INSERT INTO m SELECT id, t FROM n;
      DROP TABLE n; ALTER TABLE m RENAME TO n
      """
    )
    try Self.rescan(bench)
    try bench.database.execute("ALTER TABLE n ADD COLUMN x DEFAULT 'nx'")
    let error = #expect(throws: ChangesetError.self) { try Self.rescan(bench) }
    #expect(error?.reason.contains("\"n\".\"x\"") == true)
    try bench.database.execute(
      """
      CREATE TABLE m(id TEXT PRIMARY KEY NOT NULL, t, x); INSERT INTO m SELECT * FROM n;
      DROP TABLE n; ALTER TABLE m RENAME TO n
      """
    )
    try Self.rescan(bench)
    try bench.repository.commit()
    #expect(try bench.repository.verify().problems == [])
    #expect(try bench.rows("SELECT x FROM n") == ["'nx'", "'nx'"])
  }

  @Test func anotherPrimaryKeyIsAnotherHistory() throws {
    let (one, _) = try Self.pair()
    try one.database.execute(
      """
      DROP TABLE people;
      CREATE TABLE people(number INTEGER PRIMARY KEY, id TEXT, name TEXT, score INTEGER, note)
      """
    )
    let error = #expect(throws: ChangesetError.self) { try Self.rescan(one) }
    #expect(error?.code == .needsMigration)
    #expect(throws: ChangesetError.self) {
      try ChangesetRepository.rescan(HistoryBenchFile.empty())
    }
  }

  @Test func triggersThatAreGoneAreMadeAgain() throws {
    let (one, other) = try Self.pair()
    try one.database.execute("DROP TRIGGER changesets_update_1; UPDATE people SET score = 4")
    #expect(throws: ChangesetError.self) { try one.repository.status() }
    try Self.rescan(one)
    #expect(try one.repository.changes().count == 2)
    try one.commit("UPDATE people SET score = 5 WHERE id = 'a'")
    try other.sync(from: one)
    try HistoryBench.expectEqual([one, other])
  }
}

enum HistoryBenchFile {
  /// A database without a history.
  static func empty() throws -> DatabaseFile {
    try DatabaseFile(path: ":memory:", createsFile: true)
  }
}
