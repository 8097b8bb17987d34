import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A rescan tells a column that has another name from one that went beside one that came.
@Suite struct TakenUpNamesTests {
  private static let rename = "ALTER TABLE people RENAME COLUMN note TO remark"

  /// The table made anew under another name of a column: its triggers are gone with it.
  private static let anew = """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, remark);
    INSERT INTO fresh SELECT id, name, score, note FROM people; DROP TABLE people;
    ALTER TABLE fresh RENAME TO people
    """

  private static func pair() throws -> (one: HistoryBench, other: HistoryBench) {
    let (one, other) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try one.commit(
      "INSERT INTO people(id, name, note) VALUES('a', 'Ada', 'n'), ('b', 'Bob', NULL), ('c', 'Cy', 'o')"
    )
    try other.sync(from: one)
    return (one, other)
  }

  private static func rescan(
    _ bench: HistoryBench,
    renamed: [String: [String: String]]? = nil
  ) throws {
    try ChangesetRepository.rescan(
      bench.database,
      renamed: renamed,
      options: HistoryBench.options()
    )
  }

  /// As if the rename had been a migration: it is nobody's edit, and the same commit elsewhere.
  @Test(arguments: [rename, anew])
  func whatIsOnlyRenamedIsNoEdit(sql: String) throws {
    let (one, other) = try Self.pair()
    try other.commit("UPDATE people SET note = 'm' WHERE id = 'a'")
    one.pass(seconds: 100)
    try one.database.execute(sql)
    try Self.rescan(one)
    #expect(try one.repository.status().isClean)
    #expect(try one.repository.verify().problems == [])
    try other.database.execute(Self.rename)
    try Self.rescan(other)
    try HistoryBench.settle([one, other])
    try HistoryBench.expectEqual([one, other])
    // What was edited under the former name is there, though it is older.
    #expect(
      try one.rows("SELECT id, remark FROM people ORDER BY id") == [
        "'a', 'm'", "'b', NULL", "'c', 'o'",
      ]
    )
    let (third, fourth) = try Self.pair()
    try third.database.execute(sql)
    try Self.rescan(third)
    try ChangesetRepository.migrate(fourth.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(Self.rename)
    }
    #expect(try third.repository.head() == (try fourth.repository.head()))
  }

  /// SQLite's word counts, whatever was edited since.
  @Test func editsAfterARenameInPlaceAreEdits() throws {
    let (one, _) = try Self.pair()
    try one.database.execute(Self.rename + "; UPDATE people SET remark = 'p'")
    try Self.rescan(one)
    #expect(
      try one.repository.changes().map(\.text) == [
        "update people 'a' [remark: 'n' → 'p']", "update people 'b' [remark: NULL → 'p']",
        "update people 'c' [remark: 'o' → 'p']",
      ]
    )
    try one.repository.commit()
    #expect(try one.repository.verify().problems == [])
  }

  @Test func whereNobodyCanTellItIsAskedFor() throws {
    let edited = Self.anew + "; UPDATE people SET remark = 'p' WHERE id = 'c'"
    for renamed in [["people": ["note": "remark"]], [:]] {
      let (one, _) = try Self.pair()
      try one.database.execute(edited)
      let error = #expect(throws: ChangesetError.self) { try Self.rescan(one) }
      #expect(error?.code == .needsMigration)
      #expect(
        error?.reason.contains("“remark”") == true || error?.reason.contains("\"remark\"") == true
      )
      try Self.rescan(one, renamed: renamed)
      let changes = try one.repository.changes().map(\.text)
      #expect(
        changes
          == (renamed.isEmpty
            ? ["update people 'a' [remark: NULL → 'n']", "update people 'c' [remark: NULL → 'p']"]
            : ["update people 'c' [remark: 'o' → 'p']"])
      )
      try one.repository.commit()
      #expect(try one.repository.verify().problems == [])
    }
  }

  @Test func whatIsSaidMustBeSo() throws {
    let (one, _) = try Self.pair()
    try one.database.execute(Self.rename)
    let error = #expect(throws: ChangesetError.self) {
      try Self.rescan(one, renamed: ["people": ["name": "remark"]])
    }
    #expect(error?.code == .misuse)
  }

  /// A column of which no row has anything, and one that holds other things, are no renames.
  @Test func otherColumnsGoAndCome() throws {
    let (one, _) = try Self.pair()
    try one.database.execute(
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, name TEXT, points INTEGER, other);
      INSERT INTO fresh SELECT id, name, 7, 'x' || id FROM people; DROP TABLE people;
      ALTER TABLE fresh RENAME TO people
      """
    )
    try Self.rescan(one)
    #expect(try one.repository.changes().count == 3)
    try one.repository.commit()
    #expect(try one.repository.verify().problems == [])
  }
}
