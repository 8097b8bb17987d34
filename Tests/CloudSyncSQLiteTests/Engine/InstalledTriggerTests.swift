import CloudSyncSQLite
import Testing

@Suite("Triggers that are there already")
struct InstalledTriggerTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE items(
      id TEXT PRIMARY KEY NOT NULL, title TEXT, code TEXT,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE
    );
    """
  private static let tables = ["lists", "items"]

  private func pair(
    enforcesForeignKeys: Bool = true
  ) throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(
      Self.schema,
      tables: Self.tables,
      enforcesForeignKeys: enforcesForeignKeys
    )
  }

  @Test("They stay, so that nobody has to prepare statements again", arguments: [true, false])
  func unchanged(enforcesForeignKeys: Bool) throws {
    let (bench, mac, phone) = try pair(enforcesForeignKeys: enforcesForeignKeys)
    try mac.execute("INSERT INTO lists VALUES('l', 'List'); INSERT INTO items(id) VALUES('i')")
    try bench.sync(mac, phone)
    let version = try mac.lines("PRAGMA schema_version")

    try bench.restart(mac, Self.tables)
    try bench.sync(mac, phone)

    #expect(try mac.lines("PRAGMA schema_version") == version)
  }

  @Test(
    "What somebody has removed or written anew is mended",
    arguments: [
      "DROP TRIGGER cloudsync_capture_update_1",
      """
      DROP TRIGGER cloudsync_capture_update_2;
      CREATE TRIGGER cloudsync_capture_update_2 AFTER UPDATE ON items BEGIN SELECT 1; END
      """,
      """
      CREATE TRIGGER cloudsync_action_delete_9 AFTER UPDATE ON lists
      BEGIN DELETE FROM items; END
      """,
    ]
  )
  func damaged(damage: String) throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO lists VALUES('l', 'List'); INSERT INTO items(id) VALUES('i')")
    try bench.sync(mac, phone)
    let triggers = "SELECT sql FROM sqlite_schema WHERE type = 'trigger' ORDER BY name"
    let whole = try mac.lines(triggers)
    try mac.execute(damage)

    try bench.restart(mac, Self.tables)
    #expect(try mac.lines(triggers) == whole)

    try mac.execute("UPDATE lists SET name = 'New'; UPDATE items SET title = 'Tea', list = 'l'")
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT name FROM lists") == ["'New'"])
    #expect(try phone.lines("SELECT title, list FROM items") == ["'Tea'|'l'"])
  }

  @Test("A connection that enforces foreign keys no more gets triggers that do, and back")
  func otherEnforcement() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'L'); INSERT INTO items VALUES('i', '', '', 'l')"
    )
    try bench.sync(mac, phone)
    let count = "SELECT count(*) FROM sqlite_schema WHERE name LIKE 'cloudsync_action%'"
    #expect(try mac.lines(count) == ["0"])

    try bench.restart(mac, Self.tables, after: "PRAGMA foreign_keys = OFF")
    #expect(try mac.lines(count) != ["0"])
    try mac.execute("DELETE FROM lists")
    #expect(try mac.lines("SELECT id FROM items") == [])

    try bench.restart(mac, Self.tables, after: "PRAGMA foreign_keys = ON")
    #expect(try mac.lines(count) == ["0"])
    try bench.sync(mac, phone)
    #expect(try phone.lines("SELECT id FROM items") == [])
  }
}
