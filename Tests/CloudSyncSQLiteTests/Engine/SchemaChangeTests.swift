import CloudSyncSQLite
import Testing

@Suite("Databases of several versions of an app")
struct SchemaChangeTests {
  private static let old = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT);"
  private static let new = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER NOT NULL DEFAULT 1);
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id));
    """
  private static let migration = """
    ALTER TABLE notes ADD COLUMN stars INTEGER NOT NULL DEFAULT 1;
    CREATE TABLE tags(id TEXT PRIMARY KEY NOT NULL, note TEXT REFERENCES notes(id));
    """

  /// Starts the app anew, with the tables that it has now.
  private func migrate(_ device: SyncHarness.Device, _ sql: String, in bench: SyncHarness) throws {
    try bench.restart(device, ["notes", "tags"], after: sql)
  }

  @Test(
    "What an old version does not know it neither loses nor clears, and has after its migration"
  )
  func unknownTablesAndColumns() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.new, tables: ["notes", "tags"])
    let phone = try bench.device("phone", Self.old, tables: ["notes"])
    try mac.execute(
      "INSERT INTO notes VALUES('a', 'Tea', 5); INSERT INTO tags VALUES('t', 'a'), ('u', NULL)"
    )
    try bench.sync(mac, phone)
    try phone.execute("UPDATE notes SET title = 'Cup'; INSERT INTO notes VALUES('b', 'New')")
    try bench.sync(phone, mac)

    #expect(try mac.lines("SELECT * FROM notes ORDER BY id") == ["'a'|'Cup'|5", "'b'|'New'|1"])

    try migrate(phone, Self.migration, in: bench)
    try bench.sync(phone, mac)

    for query in ["SELECT * FROM notes ORDER BY id", "SELECT * FROM tags ORDER BY id"] {
      #expect(try phone.lines(query) == mac.lines(query))
    }
    #expect(try phone.lines("SELECT stars FROM notes ORDER BY id") == ["5", "1"])
    #expect(try phone.lines("SELECT count(*) FROM tags") == ["2"])
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A row that an old version makes anew has nothing of the row before it", arguments: [1, 2])
  func madeAnew(times: Int) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.new, tables: ["notes", "tags"])
    let phone = try bench.device("phone", Self.old, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'Tea', 5)")
    try bench.sync(mac, phone)
    phone.engine.stop()
    for _ in 0..<times {
      try phone.execute("DELETE FROM notes; INSERT INTO notes VALUES('a', 'Cup')")
    }
    // That is an edit of a row which is gone, and comes first.
    try mac.execute("UPDATE notes SET stars = 7")
    try bench.sync(mac, phone, mac)

    #expect(try mac.lines("SELECT * FROM notes") == ["'a'|'Cup'|1"])
    try migrate(phone, Self.migration, in: bench)
    try bench.sync(phone, mac)
    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'Cup'|1"])
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("A row that was inserted before a migration does not set the columns that it adds")
  func insertedBeforeMigration() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.new, tables: ["notes", "tags"])
    let phone = try bench.device("phone", Self.old, tables: ["notes"])
    try bench.sync(mac, phone)
    try mac.execute("INSERT INTO notes VALUES('a', 'Tea', 5)", at: 1_000_000_000_000)
    // Later, but of a version that knows no stars; it is sent by one that does.
    phone.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('a', 'Cup')", at: 1_000_000_001_000)
    try bench.sync(mac)
    try migrate(phone, Self.migration, in: bench)
    try bench.sync(phone, mac)

    for device in [mac, phone] {
      #expect(try device.lines("SELECT * FROM notes") == ["'a'|'Cup'|5"])
    }
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }

  @Test("What a migration puts into a new column goes to the others")
  func filledByMigration() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.old, tables: ["notes"])
    let phone = try bench.device("phone", Self.new, tables: ["notes", "tags"])
    try mac.execute("INSERT INTO notes VALUES('a', 'Tea'), ('b', 'Cup')")
    try bench.sync(mac, phone)

    try migrate(mac, Self.migration + "UPDATE notes SET stars = 7 WHERE id = 'a'", in: bench)
    try bench.sync(mac, phone)

    #expect(try phone.lines("SELECT stars FROM notes ORDER BY id") == ["7", "1"])
    #expect(try bench.unclean(phone) == [] && bench.unclean(mac) == [])
  }
}
