import CloudSyncSQLite
import Testing

/// Of triggers of one event SQLite runs the one first that was made last: those of an app's new version come before the
/// engine's.
@Suite("Triggers that an app makes on a table that is synchronized")
struct LateTriggerTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, n INT, t TEXT)"
  private static let rows = "SELECT * FROM notes ORDER BY id"
  private static let triggers = """
    SELECT name FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'notes' COLLATE NOCASE ORDER BY rowid
    """

  @Test(
    "One that lets edits go by hides none",
    arguments: [
      "AFTER UPDATE ON notes WHEN new.n > 5 BEGIN SELECT RAISE(IGNORE); END",
      "AFTER INSERT ON NOTES BEGIN SELECT RAISE(IGNORE); END",
      "AFTER DELETE ON notes BEGIN SELECT RAISE(IGNORE); END",
      "AFTER UPDATE ON notes WHEN new.n > 5 BEGIN SELECT RAISE(FAIL, 'over the limit'); END",
    ]
  )
  func ignoring(trigger: String) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 1, 'A'), ('b', 1, 'B'), ('c', 1, 'C')")
    try bench.sync(mac, phone)

    // What is edited before the next start is found by it.
    mac.engine.stop()
    try mac.execute("CREATE TRIGGER late \(trigger)")
    try? mac.execute("UPDATE notes SET n = 7 WHERE id = 'a'")
    try? mac.execute("INSERT INTO notes VALUES('d', 1, 'D')")
    try? mac.execute("DELETE FROM notes WHERE id = 'b'")
    try bench.restart(mac, ["notes"])
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == mac.lines(Self.rows))
    #expect(try mac.lines("SELECT id, n FROM notes") == ["'a'|7", "'c'|1", "'d'|1"])
    #expect(try mac.lines(Self.triggers).first == "'late'")

    // What is edited later is captured.
    try? mac.execute("UPDATE notes SET n = 8 WHERE id = 'c'")
    try? mac.execute("INSERT INTO notes VALUES('e', 1, 'E')")
    try? mac.execute("DELETE FROM notes WHERE id = 'd'")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.rows) == mac.lines(Self.rows))
    #expect(try mac.lines("SELECT id, n FROM notes") == ["'a'|7", "'c'|8", "'e'|1"])
  }

  @Test("A row that one puts back after its deletion stays")
  func puttingBack() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('admin', 1, 'A'), ('b', 1, 'B')")
    try bench.sync(mac, phone)
    try bench.restart(
      mac,
      ["notes"],
      after: """
        CREATE TRIGGER keep AFTER DELETE ON notes WHEN old.id = 'admin' BEGIN
          INSERT INTO notes VALUES('admin', 0, 'again');
        END
        """
    )
    try mac.execute("DELETE FROM notes WHERE id = 'admin'")
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(Self.rows) == ["'admin'|0|'again'", "'b'|1|'B'"])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("A start without new ones leaves the schema as it is")
  func unchanged() throws {
    let (bench, mac, _) = try SyncHarness.pair(
      Self.schema + "; CREATE TRIGGER early AFTER INSERT ON notes BEGIN SELECT 1; END",
      tables: ["notes"]
    )
    let before = try mac.lines("PRAGMA schema_version")
    try bench.restart(mac, ["notes"])

    #expect(try mac.lines("PRAGMA schema_version") == before)
  }
}
