import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// What a copy was migrated with by SQL it does to the commits of copies that are not migrated yet, and perhaps never will be.
@Suite("Migrations by SQL, which are kept for others' commits") struct KeptMigrationTests {
  private static let steps = [
    "ALTER TABLE people RENAME COLUMN name TO called",
    "ALTER TABLE people DROP COLUMN note; ALTER TABLE people ADD COLUMN stars INTEGER DEFAULT 7",
  ]

  private static func migrate(_ bench: HistoryBench) throws {
    for sql in steps {
      try ChangesetRepository.migrate(bench.database, sql: sql, options: HistoryBench.options())
    }
  }

  /// A migrated desk, and a phone with the same rows that is not.
  private static func benches() throws -> (desk: HistoryBench, phone: HistoryBench) {
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    try desk.commit("INSERT INTO people(id, name, note) VALUES('a', 'Ada', 'x'), ('b', 'Bob', 'y')")
    try phone.sync(from: desk)
    try migrate(desk)
    return (desk, phone)
  }

  @Test("What a copy commits that is never migrated is merged")
  func neverMigrated() throws {
    let (desk, phone) = try Self.benches()
    try phone.commit("UPDATE people SET name = 'Bo' WHERE id = 'b'")
    try phone.commit("INSERT INTO people(id, name) VALUES('c', 'Cy')")
    try desk.commit("UPDATE people SET called = 'Al' WHERE id = 'a'")
    try desk.sync(from: phone)

    #expect(
      try desk.rows("SELECT * FROM people ORDER BY id") == [
        "'a', 'Al', NULL, 7", "'b', 'Bo', NULL, 7", "'c', 'Cy', NULL, 7",
      ]
    )
  }

  @Test("If it is migrated after all, both have the same")
  func migratedLater() throws {
    let (desk, phone) = try Self.benches()
    try phone.commit("UPDATE people SET name = 'Bo' WHERE id = 'b'")
    try desk.sync(from: phone)
    try phone.commit("UPDATE people SET name = 'Alma' WHERE id = 'a'")
    try Self.migrate(phone)
    try HistoryBench.settle([desk, phone])

    try HistoryBench.expectEqual([desk, phone], "SELECT * FROM people ORDER BY id")
    #expect(try desk.rows("SELECT called FROM people ORDER BY id") == ["'Alma'", "'Bo'"])
  }

  @Test("A branch of before the migration can be switched to")
  func branch() throws {
    let bench = try HistoryBench(replica: "desk")
    try bench.commit("INSERT INTO people(id, name) VALUES('a', 'Ada')")
    try bench.repository.createBranch("side")
    try bench.repository.switchBranch("side")
    try bench.commit("UPDATE people SET name = 'Alma'")
    try bench.repository.switchBranch("main")
    try Self.migrate(bench)
    try bench.repository.switchBranch("side")

    #expect(try bench.rows("SELECT called, stars FROM people") == ["'Alma', 7"])
  }

  @Test("Where the statements fail on another's rows its commit waits, and the others are merged")
  func failing() throws {
    let (desk, phone) = (try HistoryBench(replica: "desk"), try HistoryBench(replica: "phone"))
    let tablet = try HistoryBench(replica: "tablet")
    try desk.commit("INSERT INTO people(id, name) VALUES('a', 'Ada'), ('b', 'Bob')")
    for bench in [phone, tablet] { try bench.sync(from: desk) }
    let sql = """
      CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, called TEXT NOT NULL, score INTEGER);
      INSERT INTO new SELECT id, name, score FROM people; DROP TABLE people;
      ALTER TABLE new RENAME TO people
      """
    for bench in [desk, tablet] {
      try ChangesetRepository.migrate(bench.database, sql: sql, options: HistoryBench.options())
    }
    try phone.commit("UPDATE people SET name = NULL WHERE id = 'b'")
    try tablet.commit("UPDATE people SET called = 'Al' WHERE id = 'a'")
    try desk.sync(from: phone, tablet)
    #expect(try desk.rows("SELECT called FROM people ORDER BY id") == ["'Al'", "'Bob'"])

    // The copy that has made it mends its row, and is migrated itself.
    try phone.commit("UPDATE people SET name = 'Bo' WHERE id = 'b'")
    try desk.sync(from: phone)
    #expect(try desk.rows("SELECT called FROM people ORDER BY id") == ["'Al'", "'Bo'"])
  }
}
