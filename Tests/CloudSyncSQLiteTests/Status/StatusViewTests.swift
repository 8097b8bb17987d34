import CloudSyncCore
import CloudSyncLocalCloud
import CloudSyncSQLiteSupport
import CloudSyncSimulator
import CloudSyncTestSupport
import Testing

@testable import CloudSyncSQLite

@Suite("The view cloudsync_status")
struct StatusViewTests {
  private static let schema = """
    CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL COLLATE NOCASE, title TEXT);
    CREATE TABLE "work days"(day INTEGER NOT NULL, who TEXT NOT NULL, b BLOB NOT NULL, hours,
      PRIMARY KEY(day, who, b)) WITHOUT ROWID;
    CREATE TABLE marks(id BLOB PRIMARY KEY NOT NULL, n);
    """
  private static let tables = ["notes", "work days", "marks"]

  private func view(_ device: SyncHarness.Device, _ columns: String) throws -> [String] {
    try device.lines(
      "SELECT \(columns) FROM cloudsync_status ORDER BY table_name, key, record_name"
    )
  }

  @Test("It has every row from its edit on, with its key and its record's name")
  func edits() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try bench.sync(mac)
    try mac.execute(
      """
      INSERT INTO notes VALUES('a', 'A'), ('é', 'E'), ('_x', 'X');
      INSERT INTO "work days" VALUES(1, 'Ann;''', x'00ff', 7), (-2, '', x'', 1.5);
      INSERT INTO marks VALUES(x'01', 1), (5, 2);
      """
    )
    let columns = "table_name, key, record_name, status, waits_for"
    let rows = { (status: String, compound: [String]) in
      [
        "'marks'|5|'~i5:marks'|\(status)|NULL", "'marks'|x'01'|'~b01:marks'|\(status)|NULL",
        "'notes'|'_x'|NULL|\(status)|NULL", "'notes'|'a'|'a:notes'|\(status)|NULL",
        "'notes'|'é'|NULL|\(status)|NULL",
      ]
        + zip(["'-2,'''',x'''''", "'1,''Ann;'''''',x''00ff'''"], compound)
        .map { "'work days'|\($0)|\($1)|\(status)|NULL" }
    }
    #expect(try view(mac, columns) == rows("'dirty'", ["NULL", "NULL"]))

    mac.engine.sendChanges()
    bench.world.advance(by: .seconds(30))
    #expect(try view(mac, columns) == rows("'clean'", ["NULL", "NULL"]))
  }

  @Test("An edit and a deletion that nobody has read make a row dirty, however its key is spelled")
  func unread() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute(
      """
      INSERT INTO notes VALUES('a', 'A'), ('b', 'B'), ('c', 'C');
      INSERT INTO "work days" VALUES(1, 'x', x'', 1)
      """
    )
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])

    try mac.execute(
      """
      UPDATE notes SET id = 'A', title = 'AA' WHERE id = 'a'; DELETE FROM notes WHERE id = 'b';
      UPDATE "work days" SET hours = 2
      """
    )
    #expect(
      try view(mac, "table_name, key, status") == [
        "'notes'|'a'|'dirty'", "'notes'|'b'|'dirty'", "'notes'|'c'|'clean'",
        "'work days'|'1,''x'',x'''''|'dirty'",
      ]
    )
    let counts = try #require(try SyncMetadata.read(from: mac.database)).counts
    #expect(counts.clean == 1 && counts.dirty == 3)

    // A tombstone is dirty until the cloud has it.
    mac.engine.stop()
    _ = try mac.engine.status(of: .string("b"), in: "notes")
    #expect(try mac.lines("SELECT count(*) FROM cloudsync_outbox") == ["0"])
    #expect(
      try view(mac, "key, status, record_name").filter { $0.contains("dirty") } == [
        "'a'|'dirty'|'a:notes'", "'b'|'dirty'|'b:notes'",
        "'1,''x'',x'''''|'dirty'|'~i1,tx,b:cloudsync_table_work_20days'",
      ]
    )
    try bench.sync(mac)
    #expect(try bench.unclean(mac) == [])
  }

  @Test("Rows that were there before are dirty together, until they have been looked at")
  func rowsThatWereThere() throws {
    let bench = SyncHarness()
    let old = Self.schema + "INSERT INTO notes VALUES('a', 'A'), ('b', 'B');"
    let mac = try bench.device("mac", old, tables: Self.tables)
    #expect(try view(mac, "table_name, key, status").contains("'notes'|NULL|'dirty'"))
    try mac.execute("UPDATE notes SET title = 'AA' WHERE id = 'a'")
    let before = try #require(try SyncMetadata.read(from: mac.database))
    #expect(before.counts.dirty == 2 && before.counts.clean == 0)

    try bench.sync(mac)
    #expect(
      try view(mac, "table_name, key, status") == ["'notes'|'a'|'clean'", "'notes'|'b'|'clean'"]
    )
    #expect(try SyncMetadata.read(from: mac.database)?.counts.clean == 2)
  }

  @Test("A table that was changed since the last start says so, until an engine has looked into it")
  func changed() throws {
    let bench = SyncHarness()
    let schema = "CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, title TEXT)"
    let mac = try bench.device("mac", schema, tables: ["notes"])
    try mac.execute("INSERT INTO notes VALUES('a', 'A')")
    try bench.sync(mac)
    let change = { try SyncMetadata.read(from: mac.database)?.tables.first?.change }
    #expect(try change() == nil)

    mac.engine.stop()
    try mac.execute("ALTER TABLE notes ADD COLUMN x; ALTER TABLE notes ADD COLUMN y")
    #expect(try change() == .hasNewColumns(["x", "y"]))
    try mac.execute(
      """
      CREATE TABLE fresh(id TEXT PRIMARY KEY NOT NULL, title TEXT);
      INSERT INTO fresh SELECT id, 'AA' FROM notes; DROP TABLE notes;
      """
    )
    #expect(try change() == .missing)
    try mac.execute("ALTER TABLE fresh RENAME TO notes")
    #expect(try change() == .rebuilt)

    try bench.restart(mac, ["notes"], after: "")
    try bench.sync(mac)
    #expect(try change() == nil)
    #expect(try bench.unclean(mac) == [])
  }

  @Test("What cannot be read is parked without a table, and what waits says for what")
  func held() throws {
    let schema = """
      CREATE TABLE lists(id TEXT PRIMARY KEY NOT NULL);
      CREATE TABLE notes(id TEXT PRIMARY KEY NOT NULL, list TEXT REFERENCES lists(id));
      """
    let bench = SyncHarness()
    let mac = try bench.device(
      "mac",
      schema,
      tables: ["lists", "notes"],
      enforcesForeignKeys: false
    )
    let phone = try bench.device("phone", schema, tables: ["lists", "notes"])
    try mac.execute("INSERT INTO notes VALUES('n', 'l')")
    try bench.sync(mac, phone)
    let strange = Record(
      recordType: "notes",
      recordID: RecordID(name: "~x:notes", zoneID: bench.zoneID)
    )
    try phone.database.write { handle in
      try ForeignRecords(connection: SQLiteConnection(borrowing: handle))
        .keep(strange, because: .invalid, error: "it is strange")
    }
    #expect(
      try view(phone, "table_name, record_name, status, error_code, error, waits_for") == [
        "NULL|'~x:notes'|'parked'|12|'it is strange'|NULL",
        "'notes'|'n:notes'|'waiting'|NULL|NULL|'l:lists'",
      ]
    )
    let metadata = try #require(try SyncMetadata.read(from: phone.database))
    #expect(metadata.waiting.map(\.key) == ["'n'"] && metadata.unknownRecords == 0)
    #expect(metadata.unreadableRecords.map(\.reason) == ["it is strange"])
  }

  @Test(
    "Migrations are not hindered by it, and it can be read after them",
    arguments: SuiteSize.some(
      2,
      of: [
        "ALTER TABLE marks ADD COLUMN extra DEFAULT 1", "ALTER TABLE marks RENAME COLUMN id TO key",
        "ALTER TABLE marks RENAME TO signs", "DROP TABLE marks",
        "DROP TABLE marks; ALTER TABLE notes RENAME COLUMN title TO name",
        """
        CREATE TABLE new(id BLOB PRIMARY KEY NOT NULL, m); INSERT INTO new SELECT id, n FROM marks;
        DROP TABLE marks; ALTER TABLE new RENAME TO marks
        """,
        """
        ALTER TABLE marks RENAME TO old; CREATE TABLE marks(id BLOB PRIMARY KEY NOT NULL, n);
        INSERT INTO marks SELECT * FROM old; DROP TABLE old
        """,
        """
        DROP TRIGGER IF EXISTS cloudsync_capture_update_3; ALTER TABLE marks RENAME COLUMN n TO m
        """,
      ]
    )
  )
  func migrations(sql: String) throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    try mac.execute("INSERT INTO marks VALUES(1, 1); INSERT INTO notes VALUES('n', 'N')")
    try bench.sync(mac)
    try mac.execute("UPDATE notes SET title = 'NN'")
    mac.engine.stop()
    for statement in sql.split(separator: ";") { try mac.execute(String(statement)) }
    #expect(
      try mac.lines("SELECT status FROM cloudsync_status WHERE table_name = 'notes'")
        == ["'dirty'"]
    )
    #expect(try SyncMetadata.read(from: mac.database)?.tables.count == 3)
  }

  @Test("It is made anew only when it is another one")
  func isKept() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let version = try mac.lines("PRAGMA schema_version")
    try bench.restart(mac, Self.tables)
    #expect(try mac.lines("PRAGMA schema_version") == version)
    // An engine for fewer tables: their rows are not the view's.
    try mac.execute("INSERT INTO marks VALUES(1, 1)")
    try bench.restart(mac, ["notes"])
    #expect(try mac.lines("PRAGMA schema_version") == version)
    #expect(try !view(mac, "table_name").contains("'marks'"))
  }

  @Test("Every table of the engine's but the one that is asked for is searched, not scanned")
  func plan() throws {
    let bench = SyncHarness()
    let mac = try bench.device("mac", Self.schema, tables: Self.tables)
    let plan = { (sql: String) in
      try mac.database.lines("EXPLAIN QUERY PLAN \(sql)")
        .map { String($0.split(separator: "|")[3]) }
    }
    let all = try plan("SELECT * FROM cloudsync_status")
    // The rows with one kind of keys are scanned, those with the other searched by table.
    for name in ["k", "p"] {
      #expect(all.count { $0 == "'SCAN \(name)'" } == 1, "\(all)")
      #expect(all.count { $0 == "'SEARCH \(name) USING PRIMARY KEY (table_id=?)'" } == 1, "\(all)")
    }
    #expect(!all.contains { $0.hasPrefix("'CORRELATED LIST") }, "\(all)")
    let one = try plan(
      "SELECT status FROM cloudsync_status WHERE table_name = 'notes' AND key = 'a'"
    )
    #expect(one.contains { $0.contains("SEARCH k USING PRIMARY KEY (table_id=? AND key=?)") })
    #expect(one.contains { $0.contains("SEARCH p USING PRIMARY KEY (table_id=? AND key=?)") })
  }
}
