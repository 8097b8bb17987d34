import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Tables that are taken up again")
struct TakenUpTableTests {
  private static let family = """
    PRAGMA foreign_keys = ON;
    CREATE TABLE parents(id TEXT PRIMARY KEY NOT NULL, name TEXT);
    CREATE TABLE children(
      id TEXT PRIMARY KEY NOT NULL, note TEXT,
      parent TEXT REFERENCES parents(id) ON UPDATE CASCADE ON DELETE CASCADE
    );
    """

  @Test("Rows that went when their parent got another key elsewhere are there, and refer to that")
  func parentRenamed() async throws {
    let tables = ["parents", "children"]
    let (bench, mac, phone) = try SyncHarness.pair(Self.family, tables: tables)
    try mac.execute(
      """
      INSERT INTO parents VALUES('p', 'P'), ('q', 'Q');
      INSERT INTO children VALUES('c', 'C', 'p'), ('d', 'D', 'q')
      """
    )
    try bench.sync(mac, phone)
    try bench.restart(phone, ["parents"])
    try mac.execute("UPDATE parents SET id = 'p9' WHERE id = 'p'")
    try bench.sync(mac, phone)
    try bench.restart(phone, tables)
    for _ in 0..<2 { try bench.sync(phone, mac) }

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT id, note, parent FROM children ORDER BY id")
          == ["'c'|'C'|'p9'", "'d'|'D'|'q'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
      #expect(try await device.engine.verify().differences == [])
    }
  }

  @Test(
    "An edit after a rebuild stays when somebody has edited the row while its table was left out",
    arguments: [false, true]
  )
  func rebuilt(isFetchedBefore: Bool) async throws {
    let schema = """
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT);
      CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL);
      """
    let (bench, mac, phone) = try SyncHarness.pair(schema, tables: ["notes", "tags"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 'old'), ('b', 'B', 'old')")
    try bench.sync(mac, phone)
    try bench.restart(mac, ["tags"])
    mac.engine.stop()
    try mac.execute(
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, body TEXT);
      INSERT INTO fresh SELECT * FROM notes; DROP TABLE notes; ALTER TABLE fresh RENAME TO notes;
      UPDATE notes SET title = 'mac' WHERE id = 'a'
      """
    )
    try phone.execute("UPDATE notes SET body = 'phone' WHERE id = 'a'")
    try bench.sync(phone)
    if isFetchedBefore { try bench.sync(mac) }
    try bench.restart(mac, ["notes", "tags"])
    for _ in 0..<2 { try bench.sync(mac, phone) }

    for device in [mac, phone] {
      #expect(
        try device.lines("SELECT * FROM notes ORDER BY id")
          == ["'a'|'mac'|'phone'", "'b'|'B'|'old'"],
        "\(device.name)"
      )
      #expect(try bench.unclean(device) == [])
      #expect(try await device.engine.verify().differences == [])
    }
  }
}
