import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLite
import CloudSyncSimulator
import Testing

@Suite("Rows whose tables say something else than what is known of them")
struct UnseenRowTests {
  private static let schema =
    "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER)"

  @Test("A row that is deleted unseen is not made anew of a column that has lain beside it")
  func deletedBesideColumn() throws {
    let bench = SyncHarness()
    let wide =
      "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER, tag TEXT)"
    let mac = try bench.device("mac", wide, tables: ["notes"])
    let phone = try bench.device("phone", Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1, 'theirs'), ('b', 'B', 2, 'theirs')")
    try bench.sync(mac, phone)
    try bench.restart(
      phone,
      ["notes"],
      after: """
        ALTER TABLE notes ADD COLUMN tag TEXT;
        CREATE TEMP TABLE held AS SELECT * FROM notes;
        DROP TABLE notes;
        \(wide);
        INSERT INTO notes SELECT * FROM held WHERE id = 'b';
        """
    )
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT * FROM notes") == ["'b'|'B'|2|'theirs'"])
    #expect(try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes"))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("What a conflict has brought is no unseen edit for a page that is stored with it")
  func conflictBesidePage() throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2), ('c', 'C', 3)")
    try bench.sync(mac, phone)
    // The response joins the pages that are stored together.
    bench.cloud.options.pageSize = 1
    try phone.execute("UPDATE notes SET stars = 9 WHERE id = 'a'")
    mac.engine.stop()
    try bench.sync(phone)
    try bench.restart(
      mac,
      ["notes"],
      after: """
        UPDATE notes SET title = 'A2' WHERE id = 'a';
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);
        INSERT INTO fresh SELECT * FROM notes;
        DROP TABLE notes;
        ALTER TABLE fresh RENAME TO notes;
        """
    )
    try bench.sync(mac, phone)

    #expect(try mac.lines("SELECT * FROM notes WHERE id = 'a'") == ["'a'|'A2'|9"])
    #expect(try phone.lines("SELECT * FROM notes") == mac.lines("SELECT * FROM notes"))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test("A row that is made where another one waits for its parent outlives its older deletion")
  func insertedOverWaiting() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id), title TEXT);
      """
    let tables = ["lists", "notes"]
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: tables, enforcesForeignKeys: false)
    let phone = try bench.device("phone", schema, tables: tables)
    try mac.execute("INSERT INTO notes VALUES('a', 'nowhere', 'theirs')", at: 1_000)
    mac.engine.sendChanges()
    try mac.engine.start()
    bench.world.advance(by: .seconds(30))
    try phone.engine.start()
    bench.world.advance(by: .seconds(30))
    try #require(
      phone.lines("SELECT waits_for FROM cloudsync_pending") == ["'nowhere:lists'"]
    )
    phone.engine.stop()
    try phone.execute("INSERT INTO notes VALUES('a', NULL, 'mine')", at: 5_000)
    try mac.execute("DELETE FROM notes", at: 3_000)
    try bench.sync(mac)
    try bench.sync(phone, mac)

    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|NULL|'mine'"])
    #expect(try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes"))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "Where nobody enforces foreign keys no row waits for a parent that cannot come",
    arguments: ["", "ON DELETE SET NULL", "ON DELETE SET DEFAULT"]
  )
  func parentThatNeverCame(action: String) throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(
        id TEXT PRIMARY KEY NOT NULL, list TEXT NOT NULL DEFAULT 'l' REFERENCES lists(id) \(action));
      """
    let tables = ["lists", "notes"]
    let bench = SyncHarness()
    let mac = try bench.device("mac", schema, tables: tables, enforcesForeignKeys: false)
    let phone = try bench.device("phone", schema, tables: tables, enforcesForeignKeys: false)
    try bench.sync(mac, phone)
    // Nobody has ever had its values: its record says only that it is gone.
    try phone.execute("INSERT INTO lists VALUES('l'); DELETE FROM lists")
    try mac.execute("INSERT INTO notes VALUES('a', 'l')")
    try bench.sync(mac, phone, mac)

    #expect(try phone.lines("SELECT * FROM notes") == ["'a'|'l'"])
    #expect(try mac.lines("SELECT * FROM notes") == phone.lines("SELECT * FROM notes"))
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }

  @Test(
    "What was changed unseen is kept beside others' edits, and beside an edit that was seen",
    arguments: [true, false]
  )
  func unseenEdit(isEdited: Bool) throws {
    let (bench, mac, phone) = try SyncHarness.pair(Self.schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A', 1), ('b', 'B', 2)")
    try bench.sync(mac, phone)
    mac.engine.stop()
    try phone.execute("UPDATE notes SET stars = 9 WHERE id = 'a'")
    try bench.sync(phone)
    let edit = isEdited ? "UPDATE notes SET stars = 7 WHERE id = 'a';" : ""
    try bench.restart(
      mac,
      ["notes"],
      after: """
        \(edit)
        CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT, stars INTEGER);
        INSERT INTO fresh SELECT id, title || ' unseen', stars FROM notes;
        DROP TABLE notes;
        ALTER TABLE fresh RENAME TO notes;
        """
    )
    try bench.sync(mac, phone)
    let rows = try mac.lines("SELECT * FROM notes ORDER BY id")
    #expect(rows == ["'a'|'A unseen'|\(isEdited ? 7 : 9)", "'b'|'B unseen'|2"])
    #expect(try phone.lines("SELECT * FROM notes ORDER BY id") == rows)
    #expect(try bench.unclean(mac) == [] && bench.unclean(phone) == [])
  }
}
