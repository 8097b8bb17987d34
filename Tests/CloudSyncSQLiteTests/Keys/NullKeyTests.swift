import Testing

@testable import CloudSyncSQLite

@Suite("Primary keys that may hold NULL")
struct NullKeyTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY, title TEXT);
    CREATE TABLE pairs(a TEXT, b INTEGER, title TEXT, PRIMARY KEY(a, b));
    """
  private static let tables = ["notes", "pairs"]

  private func lines(_ device: SyncHarness.Device) throws -> [String] {
    try device.lines("SELECT * FROM notes ORDER BY 1, 2")
      + device.lines("SELECT * FROM pairs ORDER BY 1, 2, 3")
  }

  @Test("Rows with NULL in their keys stay as they are, are listed, and hinder nothing")
  func leftOut() throws {
    let bench = SyncHarness()
    let old =
      Self.schema
      + "INSERT INTO notes VALUES(NULL, 'old'); INSERT INTO pairs VALUES('a', NULL, 'old');"
    let mac = try bench.device("mac", old, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO notes VALUES(NULL, 'new'), ('n', 'named');
      INSERT INTO pairs VALUES('a', NULL, 'new'), ('a', 1, 'named');
      UPDATE notes SET title = 'newer' WHERE title = 'new';
      DELETE FROM pairs WHERE title = 'new'
      """
    )
    try bench.sync(mac, phone)

    #expect(try lines(phone) == ["'n'|'named'", "'a'|1|'named'"])
    #expect(try mac.lines("SELECT count(*) FROM notes") == ["3"])
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
    let rows = try mac.engine.unnamedRows()
    #expect(rows.map(\.table) == ["notes", "notes", "pairs"])
    #expect(rows.map(\.rowNumber) == [1, 2, 1])
    #expect(try SyncMetadata.read(from: mac.database)?.unnamedRows == rows)
    #expect(rows[2].reason.contains("table \"pairs\" has NULL in its primary key (\"a\", \"b\")"))
  }

  @Test("A row is sent once it has a key, and deleted elsewhere when it loses it")
  func comesAndGoes() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes VALUES(NULL, 'a'); INSERT INTO pairs VALUES('p', 1, 'b')")
    try bench.sync(mac, phone)
    #expect(try lines(phone) == ["'p'|1|'b'"])

    try mac.execute("UPDATE notes SET id = 'n'; UPDATE pairs SET b = NULL")
    try bench.sync(mac, phone)

    #expect(try lines(phone) == ["'n'|'a'"])
    #expect(try mac.engine.unnamedRows().map(\.table) == ["pairs"])
  }
}
