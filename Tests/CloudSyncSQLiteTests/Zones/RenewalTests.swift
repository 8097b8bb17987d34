import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import Testing

@Suite("Beginning anew")
struct RenewalTests {
  private static let schema = """
    CREATE TABLE lists(
      id TEXT PRIMARY KEY NOT NULL, up TEXT REFERENCES lists(id) ON DELETE RESTRICT
    );
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT NOT NULL REFERENCES lists(id) ON DELETE RESTRICT, title TEXT
    );
    CREATE TABLE drafts(id INTEGER PRIMARY KEY, note TEXT REFERENCES notes(id));
    """
  private static let tables = ["lists", "notes"]
  private static let notes = "SELECT id, title FROM notes ORDER BY id"

  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO lists VALUES('l', NULL), ('m', 'l');
      INSERT INTO notes VALUES('a', 'l', 'A'), ('b', 'm', 'B'), ('c', 'm', 'C');
      """
    )
    try bench.sync(mac, phone)
    return (bench, mac, phone)
  }

  /// Writes as somebody does who has switched the triggers off.
  private func sneak(_ sql: String, into device: SyncHarness.Device) throws {
    try device.execute(
      """
      CREATE TEMP TABLE before AS SELECT * FROM cloudsync_outbox;
      \(sql);
      DELETE FROM cloudsync_outbox WHERE id NOT IN (SELECT id FROM before);
      DROP TABLE before;
      """
    )
  }

  @Test("Local data is deleted here only, and fetched again; no trigger tells of it")
  func deleteLocalData() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.execute("UPDATE notes SET title = 'never sent' WHERE id = 'a'")
    try mac.engine.deleteLocalData()
    #expect(try mac.lines("SELECT id FROM lists UNION ALL SELECT id FROM notes") == [])
    #expect(try mac.lines("SELECT id FROM cloudsync_outbox") == [])
    #expect(!mac.engine.isRunning)

    try bench.sync(mac, phone)
    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'b'|'B'", "'c'|'C'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))

    // While it runs it goes on by itself.
    try mac.engine.deleteLocalData()
    #expect(mac.engine.isRunning)
    bench.world.advance(by: .seconds(30))
    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'b'|'B'", "'c'|'C'"])
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac, phone)
    #expect(try phone.lines(Self.notes).first == "'a'|'A2'")
  }

  @Test("Where rows that are not synchronized refer to local data, nothing is deleted")
  func refused() throws {
    let (bench, mac, _) = try pair()
    try mac.execute("INSERT INTO drafts VALUES(1, 'a')")
    #expect(throws: SyncEngineError.self) { try mac.engine.deleteLocalData() }

    #expect(try mac.lines(Self.notes).count == 3)
    #expect(mac.engine.isRunning)
    try mac.execute("UPDATE notes SET title = 'A2' WHERE id = 'a'")
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])
  }

  @Test("A rebuild: clean rows become what the cloud has, edits stay and are sent")
  func rebuild() throws {
    let (bench, mac, phone) = try pair()
    try sneak("UPDATE notes SET title = 'damaged' WHERE id = 'a'", into: mac)
    try sneak("DELETE FROM notes WHERE id = 'b'", into: mac)
    try mac.execute("UPDATE notes SET title = 'C2' WHERE id = 'c'")
    try mac.execute("INSERT INTO notes VALUES('d', 'l', 'D')")
    try mac.engine.rebuild()
    try bench.sync(mac, phone)

    let expected = ["'a'|'A'", "'b'|'B'", "'c'|'C2'", "'d'|'D'"]
    #expect(try mac.lines(Self.notes) == expected)
    #expect(try phone.lines(Self.notes) == expected)
  }

  @Test("A rebuild that is cut short deletes nothing, and is taken up again by the next start")
  func rebuildIsCutShort() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try phone.execute("DELETE FROM notes WHERE id = 'b'")
    try bench.sync(phone)
    try sneak("UPDATE notes SET title = 'damaged' WHERE id = 'a'", into: mac)
    bench.cloud.options.pageSize = 1
    try mac.engine.rebuild()
    try mac.engine.start()
    mac.engine.stop()
    #expect(try mac.lines(Self.notes).count == 3)
    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    try bench.sync(mac)

    #expect(try mac.lines(Self.notes) == ["'a'|'A'", "'c'|'C'"])
    #expect(try mac.lines("SELECT 1 FROM cloudsync_facts WHERE key = 'full_fetch'") == [])
  }

  @Test("Everything is uploaded that the cloud does not have, and nothing else")
  func uploadEverything() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try sneak("INSERT INTO notes VALUES('s', 'l', 'sneaked in')", into: mac)
    try mac.engine.uploadEverything()
    let before = Locked<[Int]>([])
    mac.engine.activity.sink { [before] activity in
      before.withLock { $0.append(activity.counts.sent) }
    }
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.notes).contains("'s'|'sneaked in'"))
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    let sent = before.withLock { ($0.last ?? 0) - ($0.first ?? 0) }
    #expect(sent == 1)
    #expect(try bench.unclean(mac) == [])
  }

  @Test("What the session has learnt may be lost: that costs no page and no edit")
  func lostEssence() throws {
    let (bench, mac, phone) = try pair()
    mac.engine.stop()
    try mac.execute(
      "DELETE FROM cloudsync_facts WHERE key = 'essence'; UPDATE notes SET title = 'A2' WHERE id = 'a'"
    )
    try phone.execute("UPDATE notes SET title = 'B2' WHERE id = 'b'")
    try bench.sync(phone)
    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|'A2'", "'b'|'B2'", "'c'|'C'"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
  }
}
