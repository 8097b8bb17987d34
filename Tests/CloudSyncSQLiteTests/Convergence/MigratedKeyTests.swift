import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("A migration that changes how a table's key is declared, with edits that were not sent")
struct MigratedKeyTests {
  private static let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
  private static let query = "SELECT * FROM notes ORDER BY 1"

  static let migrations = [
    "ALTER TABLE notes RENAME COLUMN id TO uid",
    """
    CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, title TEXT);
    INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes
    """,
  ]

  /// One device edits while its engine is stopped; then all migrate.
  private func run(_ edit: String, _ migration: String) throws -> (mac: [String], phone: [String]) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A'), ('b', 'B')")
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute(edit)
    try bench.restart(mac, ["notes"], after: migration)
    try bench.restart(phone, ["notes"], after: migration)
    try bench.sync(mac, phone)
    try bench.sync(mac, phone)
    return (try mac.lines(Self.query), try phone.lines(Self.query))
  }

  @Test("An edit is not lost", arguments: migrations)
  func edited(migration: String) throws {
    let (mac, phone) = try run("UPDATE notes SET title = 'A2' WHERE id = 'a'", migration)
    #expect(mac == ["'a'|'A2'", "'b'|'B'"])
    #expect(phone == mac)
  }

  @Test("A deletion is not lost", arguments: migrations)
  func deleted(migration: String) throws {
    let (mac, phone) = try run("DELETE FROM notes WHERE id = 'a'", migration)
    #expect(mac == ["'b'|'B'"])
    #expect(phone == mac)
  }
}
