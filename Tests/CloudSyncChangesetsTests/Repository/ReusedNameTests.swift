import CloudSyncChangesets
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import Testing

/// A name that a migration frees and gives anew is refused, since others' edits under it would be taken for the new one's.
@Suite("Names that a migration frees and gives anew, in histories") struct ReusedNameTests {
  private static func bench() throws -> HistoryBench {
    let bench = try HistoryBench(replica: "desk")
    try bench.commit(
      "INSERT INTO people(id, name, note) VALUES('a', 'Ada', 'x'), ('b', 'Bob', 'y'), ('c', 'Cy', 'z')"
    )
    return bench
  }

  private static func migrate(_ bench: HistoryBench, _ sql: String) throws {
    try ChangesetRepository.migrate(bench.database, options: HistoryBench.options()) {
      try SQLiteConnection(borrowing: $0).execute(sql)
    }
  }

  private static func refusal(_ body: () throws -> Void) -> String? {
    do { try body() } catch { return "\(error)" }
    return nil
  }

  static let reuses = [
    "ALTER TABLE people RENAME COLUMN name TO b; ALTER TABLE people ADD COLUMN name TEXT",
    """
    ALTER TABLE people RENAME COLUMN note TO b; ALTER TABLE people ADD COLUMN note TEXT DEFAULT 'n'
    """,
    """
    ALTER TABLE people RENAME COLUMN name TO b; ALTER TABLE people RENAME COLUMN note TO name;
    ALTER TABLE people RENAME COLUMN b TO note
    """,
    """
    ALTER TABLE people RENAME TO former;
    CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER);
    INSERT INTO people VALUES('a', 'another', 1)
    """,
  ]

  @Test("A migration is refused, and changes nothing", arguments: reuses)
  func migration(sql: String) throws {
    let bench = try Self.bench()
    let before = try bench.rows("SELECT sql FROM sqlite_schema ORDER BY name")
    let reason = Self.refusal { try Self.migrate(bench, sql) }

    #expect(reason?.contains("has the name of another one") == true, "\(reason ?? "none")")
    #expect(try bench.rows("SELECT sql FROM sqlite_schema ORDER BY name") == before)
  }

  @Test("So is what was done without the history, once it is taken up", arguments: reuses)
  func rescan(sql: String) throws {
    let bench = try Self.bench()
    try bench.database.execute(sql)
    let names =
      try bench.rows(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name IN ('people', 'former')"
      )
      .map { $0.replacing("'", with: "") }
    let reason = Self.refusal {
      try ChangesetRepository.rescan(
        bench.database,
        tables: names,
        options: HistoryBench.options()
      )
    }

    #expect(reason?.contains("has the name of another one") == true, "\(reason ?? "none")")
  }

  @Test("So is one of two migrations")
  func later() throws {
    let bench = try Self.bench()
    try Self.migrate(bench, "ALTER TABLE people RENAME COLUMN name TO called")
    let reason = Self.refusal {
      try Self.migrate(bench, "ALTER TABLE people ADD COLUMN name TEXT")
    }
    #expect(reason?.contains("which is \"called\" now") == true, "\(reason ?? "none")")

    // Whoever takes the name back has no second column.
    try Self.migrate(bench, "ALTER TABLE people RENAME COLUMN called TO name")
  }

  @Test(
    "What only sets something aside, moves or comes back is none",
    arguments: [
      "ALTER TABLE people ADD COLUMN former TEXT; UPDATE people SET former = name, name = upper(name)",
      """
      CREATE TABLE new(id TEXT PRIMARY KEY NOT NULL, note TEXT, name TEXT, score INTEGER);
      INSERT INTO new SELECT id, note, name, score FROM people; DROP TABLE people;
      ALTER TABLE new RENAME TO people
      """,
      """
      ALTER TABLE people RENAME TO former;
      CREATE TABLE people(id TEXT PRIMARY KEY NOT NULL, name TEXT, score INTEGER, note TEXT);
      INSERT INTO people SELECT id, name, score, note FROM former
      """,
      "ALTER TABLE people DROP COLUMN note; ALTER TABLE people ADD COLUMN note TEXT",
    ]
  )
  func others(sql: String) throws {
    let bench = try Self.bench()
    try Self.migrate(bench, sql)
  }
}
