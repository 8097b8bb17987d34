import CloudSyncCore
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Two databases and a cloud")
struct TwoDevicesTests {
  private static let schema = """
    CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL, title TEXT NOT NULL DEFAULT '');
    CREATE TABLE notes(
      id TEXT PRIMARY KEY NOT NULL,
      list TEXT REFERENCES lists(id) ON DELETE CASCADE,
      title TEXT, body BLOB, stars INTEGER NOT NULL DEFAULT 0, weight REAL
    );
    """
  private static let tables = ["lists", "notes"]
  private static let notes = "SELECT * FROM notes ORDER BY id"
  private static let lists = "SELECT * FROM lists ORDER BY id"

  /// Two databases with the same schema and nothing in them.
  private func pair() throws -> (SyncHarness, mac: SyncHarness.Device, phone: SyncHarness.Device) {
    try SyncHarness.pair(Self.schema, tables: Self.tables)
  }

  @Test("Rows that were there before, edits and deletions come to the other database")
  func bothWays() throws {
    let bench = SyncHarness()
    let old = Self.schema + "INSERT INTO lists VALUES('l', 'Old');"
    let mac = try bench.device("mac", old, tables: Self.tables)
    let phone = try bench.device("phone", Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO notes VALUES('a', 'l', 'Tea', x'00ff', 3, 1.5);
      INSERT INTO notes(id, title) VALUES('b', NULL), ('ü', 'é');
      """
    )
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.lists) == ["'l'|'Old'"])
    #expect(
      try phone.lines(Self.notes) == [
        "'a'|'l'|'Tea'|x'00ff'|3|1.5", "'b'|NULL|NULL|NULL|0|NULL", "'ü'|NULL|'é'|NULL|0|NULL",
      ]
    )

    try phone.execute("UPDATE notes SET title = 'Cup', stars = 4 WHERE id = 'a'")
    try phone.execute("DELETE FROM notes WHERE id = 'b'")
    try bench.sync(phone, mac)

    #expect(try mac.lines(Self.notes) == phone.lines(Self.notes))
    #expect(
      try mac.lines(Self.notes) == ["'a'|'l'|'Cup'|x'00ff'|4|1.5", "'ü'|NULL|'é'|NULL|0|NULL"]
    )
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("Both edit one row: columns are merged, and of one column the newest edit stays")
  func merge() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'Tea')", at: 1_000)
    try bench.sync(mac, phone)

    try phone.execute("UPDATE notes SET title = 'Newer', stars = 1 WHERE id = 'a'", at: 3_000)
    try mac.execute("UPDATE notes SET title = 'Older', weight = 2 WHERE id = 'a'", at: 2_000)
    try bench.sync(phone, mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|NULL|'Newer'|NULL|1|2.0"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A row that is deleted and made again under its key is there, everywhere")
  func deleteAndReinsert() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes(id, title, stars) VALUES('a', 'Tea', 9)")
    try bench.sync(mac, phone)

    try mac.execute("DELETE FROM notes; INSERT INTO notes(id, title) VALUES('a', 'New')")
    try bench.sync(mac, phone)

    #expect(try phone.lines(Self.notes) == ["'a'|NULL|'New'|NULL|0|NULL"])
    #expect(try mac.lines(Self.notes) == phone.lines(Self.notes))
  }

  @Test("A cascade reaches the other database, also to rows that only that one has")
  func cascade() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute(
      "INSERT INTO lists VALUES('l', 'List'); INSERT INTO notes(id, list) VALUES('a', 'l')"
    )
    try bench.sync(mac, phone)

    try phone.execute("INSERT INTO notes(id, list) VALUES('mine', 'l')")
    try mac.execute("DELETE FROM lists")
    try bench.sync(mac, phone)

    for device in [mac, phone] {
      #expect(try device.lines(Self.notes) == [] && device.lines(Self.lists) == [])
      #expect(try bench.unclean(device) == [])
    }
  }

  @Test("An update that changes nothing sends nothing")
  func nothing() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id, title, body) VALUES('a', 'Tea', zeroblob(100))")
    try bench.sync(mac)
    let events = try #require(mac.engine.session?.state.eventCount)

    try mac.execute("UPDATE notes SET title = 'Tea', body = zeroblob(100), id = 'a'")
    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(60))

    #expect(try mac.lines("SELECT * FROM cloudsync_outbox") == [])
    #expect(mac.engine.session?.state.eventCount == events)
  }

  @Test("An engine that starts again goes on where the last one stopped")
  func restart() throws {
    let (bench, mac, phone) = try pair()
    try mac.execute("INSERT INTO notes(id, title) VALUES('a', 'Tea')")
    try bench.sync(mac, phone)
    mac.engine.stop()
    try mac.execute("UPDATE notes SET title = 'While stopped'")
    try phone.execute("UPDATE notes SET stars = 5")
    try bench.sync(phone)

    mac.engine = try bench.engine("mac", mac.database, Self.tables)
    mac.listen()
    try bench.sync(mac, phone)

    #expect(try mac.lines(Self.notes) == ["'a'|NULL|'While stopped'|NULL|5|NULL"])
    #expect(try phone.lines(Self.notes) == mac.lines(Self.notes))
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Tearing down leaves the user's tables exactly as they were")
  func tearDown() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO notes(id) VALUES('a')")
    // Named like the engine's, and the user's all the same.
    try mac.execute(
      "CREATE TABLE cloudsync_mine(id); CREATE VIEW cloudsync_view AS SELECT 1;"
        + "CREATE TRIGGER cloudsync_mine_too AFTER INSERT ON cloudsync_mine BEGIN SELECT 1; END"
    )
    try bench.sync(mac)
    try mac.engine.tearDown()

    let names = try mac.lines(
      "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite_%' ORDER BY name"
    )
    let own = ["'cloudsync_mine'", "'cloudsync_mine_too'", "'cloudsync_view'"]
    #expect(names == own + ["'lists'", "'notes'"])
    #expect(try mac.lines("SELECT count(*) FROM notes") == ["1"])
  }

  @Test(
    "An engine that is let go without being stopped is gone, and its database is closed",
    arguments: [0, 1, 2, 3, 30]
  )
  func release(seconds: Int) throws {
    let bench = SyncHarness()
    var database: DatabaseFile? = try DatabaseFile(path: ":memory:")
    try database?.execute(Self.schema)
    weak let closed = database
    var engine = try database.map { try bench.engine("mac", $0, Self.tables) }
    weak let released = engine
    try engine?.start()
    weak let session = engine?.session
    bench.world.advance(by: .seconds(seconds))
    try database?.execute("INSERT INTO notes(id) VALUES('a')")
    engine?.sendChanges()
    engine?.fetchChanges()
    bench.world.advance(by: .milliseconds(seconds))
    engine = nil
    database = nil
    bench.world.advance(by: .seconds(1))

    #expect(released == nil)
    #expect(session == nil)
    #expect(closed == nil)
  }
}
