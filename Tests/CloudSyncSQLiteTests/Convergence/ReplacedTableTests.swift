import CloudSyncSQLite
import Testing

/// A migration drops a table and makes another one, and no trigger tells whether that is the same under a new name.
@Suite("Tables that are dropped, and others that come")
struct ReplacedTableTests {
  private static let start: Int64 = 1_700_000_000_000

  /// What a device has, and another one, that migrate one after the other; the other one has edited before.
  private func migrate(
    _ schema: String,
    rows: String,
    to table: String,
    by migration: String,
    edit: String
  ) throws -> [String] {
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes"])
    try mac.execute(rows, at: Self.start)
    try bench.sync(mac, phone)
    try bench.restart(phone, [table], after: migration)
    try bench.sync(phone)
    try phone.execute(edit, at: Self.start + 60_000)
    try bench.sync(phone)
    try bench.restart(
      mac,
      [table],
      after: migration + "; UPDATE cloudsync_clock SET fixed = \(Self.start + 120_000)"
    )
    try bench.sync(mac, phone, mac)
    let lines = try mac.lines("SELECT * FROM \(table) ORDER BY id")
    #expect(try phone.lines("SELECT * FROM \(table) ORDER BY id") == lines)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    return lines
  }

  @Test(
    "One that has the same keys and other rows is another table: nothing in it is an edit of a row of the former one"
  )
  func sameKeys() throws {
    let lines = try migrate(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, name TEXT, n TEXT)",
      rows: "INSERT INTO notes VALUES('1', 'one', 'a'), ('2', 'two', 'b'), ('3', 'three', 'c')",
      to: "songs",
      by: """
        DROP TABLE notes;
        CREATE TABLE songs(id TEXT PRIMARY KEY NOT NULL, name TEXT, n TEXT, length REAL);
        INSERT INTO songs VALUES('1', 'Yesterday', '', 2.1), ('2', 'Help', '', 2.3)
        """,
      edit: "UPDATE songs SET name = 'Help!' WHERE id = '2'"
    )
    #expect(lines == ["'1'|'Yesterday'|''|2.1", "'2'|'Help!'|''|2.3"])
  }

  @Test(
    "Of one whose rows are others nothing is known",
    arguments: ["length REAL", "length REAL, n TEXT"]
  )
  func unknownRows(columns: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, name TEXT)",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes VALUES('1', 'one'), ('2', 'two')", at: Self.start)
    try bench.sync(mac, phone)
    let migration = """
      DROP TABLE notes; CREATE TABLE songs(id TEXT PRIMARY KEY NOT NULL, name TEXT, \(columns));
      INSERT INTO songs(id, name) VALUES('1', 'Yesterday'), ('2', 'Help')
      """
    try bench.restart(mac, ["songs"], after: migration)
    #expect(try known(of: "songs", on: mac) == [])
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])
  }

  /// The keys of the rows of a table of which something is known.
  private func known(of table: String, on device: SyncHarness.Device) throws -> [String] {
    try device.lines(
      """
      SELECT r.key FROM (
        SELECT table_id, key FROM cloudsync_pending UNION ALL SELECT table_id, key FROM cloudsync_known) r
      JOIN cloudsync_tables t ON t.id = r.table_id WHERE t.name = '\(table)' ORDER BY r.key
      """
    )
  }

  @Test("One that has the rows as they were is the same under a new name, whatever it has besides")
  func sameRows() throws {
    let lines = try migrate(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER)",
      rows: "INSERT INTO notes VALUES('1', 'one', 1), ('2', 'two', 2), ('3', 'three', 3)",
      to: "pages",
      by: """
        CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, name TEXT, n INTEGER, extra TEXT);
        INSERT INTO pages SELECT *, NULL FROM notes; DROP TABLE notes;
        UPDATE pages SET n = 7 WHERE id = '1'
        """,
      edit: "UPDATE pages SET name = 'zwei' WHERE id = '2'"
    )
    #expect(lines == ["'1'|'one'|7|NULL", "'2'|'zwei'|2|NULL", "'3'|'three'|3|NULL"])
  }

  @Test(
    "Of a table that has no more than its key most rows have to be there",
    arguments: [true, false]
  )
  func keysOnly(isSame: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL)",
      tables: ["notes"]
    )
    try mac.execute("INSERT INTO notes VALUES('1'), ('2'), ('3'), ('4')", at: Self.start)
    try bench.sync(mac, phone)
    let rows = isSame ? "SELECT id, 'x' FROM notes WHERE id < '4'" : "SELECT '1', 'x'"
    let migration = """
      CREATE TABLE pages(id TEXT PRIMARY KEY NOT NULL, name TEXT); INSERT INTO pages \(rows); DROP TABLE notes
      """
    try bench.restart(mac, ["pages"], after: migration)
    // Of a renamed table the row that has gone is deleted, of another one it has never been.
    let known = try known(of: "pages", on: mac)
    #expect(known == (isSame ? ["'1'", "'2'", "'3'", "'4'"] : []))
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])
  }
}
